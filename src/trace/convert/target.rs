//! Which format can hold what another one says.

use crate::trace::options::TraceFormat;

/// A format that traces are converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertTarget {
    /// Requests with their arrivals and blocks.
    Mooncake,
    /// The same, of sessions of one request.
    MooncakeDelta,
    /// Requests that wait for one another by name.
    AgenticMooncake,
    /// Sessions with their sub-agents.
    Weka,
    /// Sessions of tool calls by their lengths.
    AppliedComputeAgentic,
    /// Events of a capture.
    Dynamo,
}

impl ConvertTarget {
    /// Every target, in the order of formats.
    pub const ALL: [Self; 6] = [
        Self::Mooncake,
        Self::MooncakeDelta,
        Self::AgenticMooncake,
        Self::Weka,
        Self::Dynamo,
        Self::AppliedComputeAgentic,
    ];

    /// Returns the format.
    pub const fn format(self) -> TraceFormat {
        match self {
            Self::Mooncake => TraceFormat::Mooncake,
            Self::MooncakeDelta => TraceFormat::MooncakeDelta,
            Self::AgenticMooncake => TraceFormat::AgenticMooncake,
            Self::Weka => TraceFormat::Weka,
            Self::AppliedComputeAgentic => TraceFormat::AppliedComputeAgentic,
            Self::Dynamo => TraceFormat::Dynamo,
        }
    }

    /// Returns why no trace of a format can be said in this one; nothing where some can.
    pub const fn refusal(self, from: TraceFormat) -> Option<&'static str> {
        let is_alone = matches!(
            from,
            TraceFormat::Azure | TraceFormat::BurstGpt | TraceFormat::RagPulse | TraceFormat::Csv
        );
        match (self, from) {
            (Self::Mooncake, TraceFormat::Mooncake)
            | (Self::MooncakeDelta, TraceFormat::MooncakeDelta)
            | (Self::Weka, TraceFormat::Weka)
            | (Self::Dynamo, TraceFormat::Dynamo)
            | (Self::AppliedComputeAgentic, TraceFormat::AppliedComputeAgentic) => {
                Some("it is that already, and `bench trace head` copies it")
            }
            (Self::MooncakeDelta, TraceFormat::AppliedComputeAgentic) => {
                Some("its turns begin with prompts before them, of which a delta would make blocks")
            }
            (
                Self::AgenticMooncake,
                TraceFormat::Weka | TraceFormat::Dynamo | TraceFormat::AgenticMooncake,
            )
            | (Self::Mooncake | Self::MooncakeDelta, _)
            | (Self::Weka, TraceFormat::Dynamo)
            | (Self::Dynamo, TraceFormat::Weka)
            | (Self::AppliedComputeAgentic, TraceFormat::Mooncake | TraceFormat::MooncakeDelta) => {
                None
            }
            (Self::AppliedComputeAgentic, _) if is_alone => None,
            (Self::AgenticMooncake, _) => Some("its requests wait for nothing by name"),
            (Self::Weka | Self::Dynamo, TraceFormat::AgenticMooncake) => {
                Some("what its requests wait for is stated, and would be told by times")
            }
            (Self::Weka | Self::Dynamo, _) => {
                Some("it does not say when requests ended, or which model they asked")
            }
            (Self::AppliedComputeAgentic, _) => {
                Some("what its requests wait for is more than a line of turns")
            }
        }
    }
}
