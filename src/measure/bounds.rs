//! What a good request is, in integers.

use crate::units::Nanos;

/// The bounds of an SLA, all inclusive; a bound that is absent holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Time to the first token.
    pub ttft: Option<Nanos>,
    /// Mean gap of a request.
    pub tpot: Option<Nanos>,
    /// Arrival to last token.
    pub e2e: Option<Nanos>,
}
