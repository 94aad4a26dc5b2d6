//! What a good request is.

use crate::digest::canonical::{Value, object};

/// What a good request is: bounds in milliseconds, all inclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sla {
    /// Time to the first token.
    pub ttft_ms: Option<f64>,
    /// Mean gap of a request.
    pub tpot_ms: Option<f64>,
    /// Arrival to last token; excludes the two others.
    pub e2e_ms: Option<f64>,
}

impl Sla {
    /// Returns the canonical description.
    pub fn canonical(&self) -> Value {
        let bound = |bound: Option<f64>| bound.map_or(Value::Null, Value::real);
        object([
            ("e2e_ms", bound(self.e2e_ms)),
            ("tpot_ms", bound(self.tpot_ms)),
            ("ttft_ms", bound(self.ttft_ms)),
        ])
    }
}
