//! Where requests come from.

use std::sync::Arc;

use crate::digest::canonical::{Value, object};
use crate::units::Tokens;

use super::RequestList;

/// Where requests come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Rows of a pinned trace, known here by the pin's name.
    Trace {
        /// The pin's name.
        pin: String,
    },
    /// Requests of one shape; every block of every prompt is unique beyond the cached prefix.
    Synthetic(SyntheticShape),
    /// Sessions of one shape whose prompt grows by turn.
    SyntheticSession(SessionShape),
    /// A workflow graph in a file, known here by the pin's name.
    Graph {
        /// The pin's name.
        pin: String,
        /// `native` or `dag-jsonl`.
        format: String,
    },
    /// Requests that are stated one by one. Each arrives at its own time whatever the speedup, or in a closed loop in the order of
    /// those times.
    Requests(Arc<RequestList>),
}

/// The shape of synthetic requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticShape {
    /// Prompt tokens.
    pub input: Tokens,
    /// Requested output tokens.
    pub output: Tokens,
    /// Leading prompt tokens that all requests share.
    pub cached_prefix: Tokens,
}

/// The shape of synthetic sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionShape {
    /// Tokens that each turn adds to the prompt.
    pub new_input_per_turn: Tokens,
    /// Requested output tokens of each turn.
    pub output_per_turn: Tokens,
    /// Turns in a session.
    pub turns: u32,
    /// Share of the blocks that a turn adds which comes from the session's prefix group, 0 to 1.
    pub shared_prefix_ratio: f64,
    /// How many prefix groups there are.
    pub prefix_groups: u32,
    /// The seed by which sessions draw their groups; else it derives from scenario and stream.
    pub prefix_seed: Option<u64>,
    /// Think time between a turn's end and the next turn, in milliseconds.
    pub inter_turn_delay_ms: f64,
}

impl Source {
    /// Returns the canonical description. A trace enters a job key by its digest, so its name stays out.
    pub(crate) fn canonical(&self) -> Value {
        match self {
            Self::Trace { .. } => object([("kind", Value::text("trace"))]),
            Self::Synthetic(shape) => object([
                ("cached_prefix_tokens", shape.cached_prefix.into()),
                ("input_tokens", shape.input.into()),
                ("kind", Value::text("synthetic")),
                ("output_tokens", shape.output.into()),
            ]),
            Self::SyntheticSession(shape) => object([
                ("inter_turn_delay_ms", Value::real(shape.inter_turn_delay_ms)),
                ("kind", Value::text("synthetic-session")),
                ("new_input_tokens_per_turn", shape.new_input_per_turn.into()),
                ("output_tokens_per_turn", shape.output_per_turn.into()),
                ("prefix_groups", Value::count(u64::from(shape.prefix_groups))),
                ("shared_prefix_ratio", Value::real(shape.shared_prefix_ratio)),
                ("turns", Value::count(u64::from(shape.turns))),
            ])
            .with("prefix_seed", shape.prefix_seed.map(Value::wide)),
            Self::Requests(list) => list.canonical(),
            Self::Graph { format, .. } => {
                object([("format", Value::text(format)), ("kind", Value::text("graph"))])
            }
        }
    }
}
