//! When requests arrive.

use crate::digest::canonical::{Value, object};

/// When requests (or sessions) arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// A closed loop: this many requests (sessions, for a session source) are in flight at any time.
    Concurrency {
        /// How many; at least 1.
        concurrency: u32,
    },
    /// An open loop with equal gaps; the first arrival is at 0.
    ConstantRate {
        /// Arrivals a second.
        rate: Rate,
    },
    /// An open loop with exponential gaps; the first arrival is at 0.
    Poisson {
        /// Mean arrivals a second.
        rate: Rate,
        /// The stated seed; else the seed derives from scenario and stream.
        seed: Option<u64>,
    },
    /// The times a trace recorded, divided by the speedup.
    TraceTimestamps {
        /// How much faster than recorded; above 0.
        speedup: f64,
    },
    /// Recorded agentic sessions with their dependencies.
    Recorded(RecordedLoad),
}

/// Arrivals a second; finite and above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

/// How recorded sessions are paced.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedLoad {
    /// The longest idle gap kept, in milliseconds.
    pub idle_gap_cap_ms: Option<f64>,
    /// Whether the cap holds for each trace or for the whole system: `trace` or `system`.
    pub idle_gap_scope: String,
    /// Whether traces start at their recorded times whatever the endpoint does.
    pub open_loop: bool,
    /// Whether each request of an open loop starts at its recorded time, whatever it waited for, but for answers that its prompt holds.
    pub strict: bool,
    /// How much faster than recorded; above 0.
    pub speedup: f64,
    /// How many lanes a simulation runs.
    pub agentic_lanes: Option<u32>,
    /// The seed of the snapshot window.
    pub snapshot_seed: Option<u64>,
    /// Whether lanes are warmed before measuring.
    pub warmup: bool,
    /// The measured window of a profile.
    pub profile: Option<Profile>,
}

/// The measured window of a profile; all in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// How long requests are sent; above 0.
    pub duration_ms: f64,
    /// How long those in flight then may still take.
    pub grace_ms: f64,
    /// How long giving up the rest may take.
    pub cancel_drain_ms: f64,
    /// How long an instance may have nothing in flight before its waits are cut short; above 0.
    pub tree_idle_cap_ms: f64,
    /// The same for all instances together; above 0.
    pub global_idle_cap_ms: f64,
}

impl Default for Profile {
    /// An hour, as the reference has it.
    fn default() -> Self {
        Self {
            duration_ms: 3_600_000.0,
            grace_ms: 30_000.0,
            cancel_drain_ms: 10_000.0,
            tree_idle_cap_ms: 300_000.0,
            global_idle_cap_ms: 10_000.0,
        }
    }
}

impl Profile {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("cancel_drain_ms", Value::real(self.cancel_drain_ms)),
            ("duration_ms", Value::real(self.duration_ms)),
            ("global_idle_cap_ms", Value::real(self.global_idle_cap_ms)),
            ("grace_ms", Value::real(self.grace_ms)),
            ("tree_idle_cap_ms", Value::real(self.tree_idle_cap_ms)),
        ])
    }
}

impl Rate {
    /// Returns a rate, or `None` unless it is finite and above 0.
    pub fn new(per_second: f64) -> Option<Self> {
        (per_second.is_finite() && per_second > 0.0).then_some(Self(per_second))
    }

    /// Returns arrivals a second.
    pub const fn per_second(self) -> f64 {
        self.0
    }

    /// Returns the mean gap in milliseconds.
    pub fn mean_gap_ms(self) -> f64 {
        1000.0 / self.0
    }
}

impl RecordedLoad {
    /// Returns recorded times this much faster, all plays at their own.
    pub fn at(speedup: f64) -> Self {
        Self {
            idle_gap_cap_ms: None,
            idle_gap_scope: "trace".to_owned(),
            open_loop: false,
            strict: false,
            speedup,
            agentic_lanes: None,
            snapshot_seed: None,
            warmup: false,
            profile: None,
        }
    }
}

impl Load {
    /// Returns the word of the scenario language.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Concurrency { .. } => "concurrency",
            Self::ConstantRate { .. } => "constant-rate",
            Self::Poisson { .. } => "poisson",
            Self::TraceTimestamps { .. } => "trace-timestamps",
            Self::Recorded(_) => "recorded",
        }
    }

    /// Returns the number that `…-per-load-unit` multiplies, or `None` where there is none.
    pub fn units(&self) -> Option<f64> {
        match self {
            Self::Concurrency { concurrency } => Some(f64::from(*concurrency)),
            Self::ConstantRate { rate } | Self::Poisson { rate, .. } => Some(rate.per_second()),
            Self::TraceTimestamps { .. } | Self::Recorded(_) => None,
        }
    }

    /// Returns the canonical description.
    pub(crate) fn canonical(&self) -> Value {
        let kind = ("kind", Value::text(self.kind()));
        let optional = |value: Option<u64>| value.map_or(Value::Null, Value::wide);
        match self {
            Self::Concurrency { concurrency } => {
                object([("concurrency", Value::count(u64::from(*concurrency))), kind])
            }
            Self::ConstantRate { rate } => object([kind, ("per_second", Value::real(rate.0))]),
            Self::Poisson { rate, seed } => {
                object([kind, ("per_second", Value::real(rate.0)), ("seed", optional(*seed))])
            }
            Self::TraceTimestamps { speedup } => object([kind, ("speedup", Value::real(*speedup))]),
            Self::Recorded(load) => object([
                ("agentic_lanes", optional(load.agentic_lanes.map(u64::from))),
                ("idle_gap_cap_ms", load.idle_gap_cap_ms.map_or(Value::Null, Value::real)),
                ("idle_gap_scope", Value::text(&load.idle_gap_scope)),
                kind,
                ("open_loop", Value::Bool(load.open_loop)),
                // The name is that of the days when a window had a length and nothing else.
                ("profile_ms", load.profile.map_or(Value::Null, |profile| profile.canonical())),
                ("snapshot_seed", optional(load.snapshot_seed)),
                ("speedup", Value::real(load.speedup)),
                ("strict", Value::Bool(load.strict)),
                ("warmup", Value::Bool(load.warmup)),
            ]),
        }
    }
}
