//! What becomes of a job under two pins.

/// What becomes of a job under two pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Both pins answer the same, to the nanosecond.
    Identical,
    /// They differ, and each difference was declared.
    Declared,
    /// They differ in something that nobody declared.
    Undeclared,
    /// A difference that was declared did not happen.
    Absent,
    /// One of them cannot be asked.
    Incomparable,
    /// A job failed, or a pin disagrees with itself.
    Failed,
    /// Someone asked to stop before there was an answer.
    Interrupted,
}

impl Class {
    /// Every class, in the order of verdicts.
    pub const ALL: [Self; 7] = [
        Self::Identical,
        Self::Declared,
        Self::Undeclared,
        Self::Absent,
        Self::Incomparable,
        Self::Failed,
        Self::Interrupted,
    ];

    /// Returns the word of verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Declared => "declared drift",
            Self::Undeclared => "UNDECLARED DRIFT",
            Self::Absent => "DECLARED BUT ABSENT",
            Self::Incomparable => "NOT COMPARABLE",
            Self::Failed => "FAILED",
            Self::Interrupted => "INTERRUPTED",
        }
    }

    /// Returns the word of JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Declared => "declared",
            Self::Undeclared => "undeclared",
            Self::Absent => "absent",
            Self::Incomparable => "incomparable",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns whether nothing speaks against the upgrade.
    pub const fn is_green(self) -> bool {
        matches!(self, Self::Identical | Self::Declared)
    }

    /// Returns whether both answers were compared.
    pub const fn is_compared(self) -> bool {
        match self {
            Self::Identical | Self::Declared | Self::Undeclared | Self::Absent => true,
            Self::Incomparable | Self::Failed | Self::Interrupted => false,
        }
    }
}
