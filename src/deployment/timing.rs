//! How long a pass takes, as stated.

use crate::digest::canonical::{Value, object};

/// How long a pass takes, as stated.
#[derive(Debug, Clone, PartialEq)]
pub enum Timing {
    /// The pinned table of model, hardware, backend and parallelism.
    Default,
    /// Constant parts.
    Fixed {
        /// A pass with at least one prompt, in milliseconds.
        prefill_ms: f64,
        /// A pass with at least one decode, in milliseconds.
        decode_ms: f64,
    },
    /// The reference's built-in polynomial.
    Polynomial,
    /// A pinned table.
    Table {
        /// The pin's name.
        pin: String,
    },
    /// From model and hardware pins: FLOPs and bytes.
    Roofline,
}

/// What modelled times are divided by; 0 leaves them as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speedup {
    /// Divides both parts of a pass.
    pub all: f64,
    /// Divides the decode part once more.
    pub decode: f64,
}

impl Default for Speedup {
    fn default() -> Self {
        Self { all: 1.0, decode: 1.0 }
    }
}

impl Speedup {
    /// Returns the canonical description, or `None` where nothing is divided.
    pub(super) fn canonical(self) -> Option<Value> {
        (self != Self::default())
            .then(|| object([("all", Value::real(self.all)), ("decode", Value::real(self.decode))]))
    }
}

impl Timing {
    /// Returns the word of the scenario language.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Fixed { .. } => "fixed",
            Self::Polynomial => "polynomial",
            Self::Table { .. } => "table",
            Self::Roofline => "roofline",
        }
    }

    /// Returns the canonical description. A table enters a job key by its digest, so its name stays out.
    pub(super) fn canonical(&self) -> Value {
        let kind = ("kind", Value::text(self.kind()));
        match self {
            Self::Fixed { prefill_ms, decode_ms } => object([
                ("decode_ms", Value::real(*decode_ms)),
                kind,
                ("prefill_ms", Value::real(*prefill_ms)),
            ]),
            Self::Default | Self::Polynomial | Self::Table { .. } | Self::Roofline => {
                object([kind])
            }
        }
    }
}
