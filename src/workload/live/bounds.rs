//! Bounds on what a replay measures.

use crate::diag::Span;
use crate::units::Nanos;

/// Bounds on what a replay measures, all inclusive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveBounds {
    /// How many requests may fail.
    pub errors: Option<ErrorsBound>,
    /// Bounds of times, in the order of [`LiveQuantity::ALL`].
    pub times: Vec<TimeBound>,
}

/// The bound of failed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorsBound {
    /// How many there may be.
    pub most: u64,
    /// Where the scenario states it.
    pub place: Span,
}

/// The bound of one statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeBound {
    /// Of what.
    pub quantity: LiveQuantity,
    /// Which.
    pub statistic: BoundStatistic,
    /// The most that it may be.
    pub most: Nanos,
    /// Where the scenario states it.
    pub place: Span,
}

/// A time that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiveQuantity {
    /// How much later than intended requests start.
    ScheduleLateness,
    /// Time to the first token.
    Ttft,
    /// Time per output token of a request.
    Tpot,
    /// Time to the last token.
    E2e,
}

/// A statistic that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundStatistic {
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The greatest.
    Max,
}

impl LiveQuantity {
    /// Every quantity.
    pub const ALL: [Self; 4] = [Self::ScheduleLateness, Self::Ttft, Self::Tpot, Self::E2e];

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScheduleLateness => "schedule-lateness-ms",
            Self::Ttft => "ttft-ms",
            Self::Tpot => "tpot-ms",
            Self::E2e => "e2e-ms",
        }
    }
}

impl BoundStatistic {
    /// Every statistic.
    pub const ALL: [Self; 5] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::Max];

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Max => "max",
        }
    }
}
