//! How a request ended.

/// How a request ended. A request cut by the virtual-time limit has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// All output was produced.
    Completed,
    /// The engine refused it.
    Rejected,
    /// The client gave up.
    Canceled,
    /// Something broke.
    Failed,
}

impl Outcome {
    /// Returns the word of reports and of DynoSim.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::Canceled => "canceled",
            Self::Failed => "failed",
        }
    }
}
