//! Who chooses a worker, and who changes how many there are.

use std::collections::BTreeMap;

use crate::digest::canonical::{Value, object};

/// Who chooses the worker of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Router {
    /// Each in turn.
    RoundRobin,
    /// By cached prefix and load.
    Kv {
        /// Weight of a cached block against an uncached one.
        overlap_score_credit: f64,
        /// Weight of prefill work against decode work.
        prefill_load_scale: f64,
        /// 0 takes the least cost; above, a softmax over costs.
        temperature: f64,
        /// How prefill work is predicted: `none` or `ais`.
        prefill_load_model: String,
    },
}

/// Who changes the number of workers.
#[derive(Debug, Clone, PartialEq)]
pub enum Planner {
    /// Nobody.
    Disabled,
    /// DynoSim's planner, with the knobs that were stated.
    Enabled(BTreeMap<String, PlannerKnob>),
}

/// The value of a planner knob.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannerKnob {
    /// A switch.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl Router {
    /// Returns the word of the scenario language.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Kv { .. } => "kv-router",
        }
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        match self {
            Self::RoundRobin => object([("kind", Value::text(self.kind()))]),
            Self::Kv {
                overlap_score_credit,
                prefill_load_scale,
                temperature,
                prefill_load_model,
            } => object([
                ("kind", Value::text(self.kind())),
                ("overlap_score_credit", Value::real(*overlap_score_credit)),
                ("prefill_load_model", Value::text(prefill_load_model)),
                ("prefill_load_scale", Value::real(*prefill_load_scale)),
                ("temperature", Value::real(*temperature)),
            ]),
        }
    }
}

impl Planner {
    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        match self {
            Self::Disabled => Value::text("disabled"),
            Self::Enabled(knobs) => Value::Object(
                knobs
                    .iter()
                    .map(|(name, knob)| {
                        let value = match knob {
                            PlannerKnob::Flag(flag) => Value::Bool(*flag),
                            PlannerKnob::Number(number) => Value::real(*number),
                            PlannerKnob::Word(word) => Value::text(word),
                        };
                        (name.clone(), value)
                    })
                    .collect(),
            ),
        }
    }
}
