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
    Roofline(Efficiency),
}

/// What share of the hardware's rates a roofline assumes, and what it adds to every part of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Efficiency {
    /// Share of the tensor cores' rate, above 0 and at most 1.
    pub compute: f64,
    /// Share of the memory's bandwidth, above 0 and at most 1.
    pub memory: f64,
    /// Share of the link's bandwidth, above 0 and at most 1.
    pub link: f64,
    /// Milliseconds that a prefill part and a decode part take beside.
    pub overhead_ms: f64,
}

impl Default for Efficiency {
    /// Returns the roofline itself: what no pass can beat.
    fn default() -> Self {
        Self { compute: 1.0, memory: 1.0, link: 1.0, overhead_ms: 0.0 }
    }
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
    /// Returns the divisor of prefill parts.
    pub const fn of_prefill(self) -> f64 {
        self.all
    }

    /// Returns the divisor of decode parts: the product, which is 0 where either is. Source: spec/SIMULATION.md §2.1.
    pub fn of_decode(self) -> f64 {
        self.all * self.decode
    }

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
            Self::Roofline(_) => "roofline",
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
            Self::Roofline(efficiency) => object([
                ("compute", Value::real(efficiency.compute)),
                kind,
                ("link", Value::real(efficiency.link)),
                ("memory", Value::real(efficiency.memory)),
                ("overhead_ms", Value::real(efficiency.overhead_ms)),
            ]),
            Self::Default | Self::Polynomial | Self::Table { .. } => object([kind]),
        }
    }
}
