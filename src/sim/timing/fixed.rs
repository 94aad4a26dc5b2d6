//! Constant parts.

use super::{DecodeWork, PassTiming, PrefillWork};

/// A constant for any prompt work and a constant for any decode work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FixedTiming {
    /// Milliseconds of a pass with prompt work.
    pub(crate) prefill_ms: f64,
    /// Milliseconds of a pass with decode work.
    pub(crate) decode_ms: f64,
}

impl PassTiming for FixedTiming {
    fn prefill_ms(&self, _work: PrefillWork) -> f64 {
        self.prefill_ms
    }

    fn decode_ms(&self, _work: DecodeWork) -> f64 {
        self.decode_ms
    }
}
