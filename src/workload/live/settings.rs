//! Everything that a `replay` node says beside its workloads.

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::units::Nanos;
use crate::workload::Sla;

use super::{EndpointSettings, SessionRouting};

/// Everything that a `replay` node says beside its workloads.
///
/// Pacing, selection, idle-gap cap and cache busting are the workload's: [`crate::workload::RecordedLoad`], [`crate::workload::Select`].
#[derive(Debug, Clone, PartialEq)]
pub struct ReplaySettings {
    /// Where requests go.
    pub endpoint: EndpointSettings,
    /// The lanes. Absent: one in a closed loop, and none hold an open loop back.
    pub lanes: Option<Lanes>,
    /// Where in its trace a lane begins; at its start where absent.
    pub snapshot: Option<Snapshot>,
    /// When the run ends.
    pub stop: LiveStop,
    /// How a request says which session it belongs to.
    pub routing: SessionRouting,
    /// What is sent before anything is measured.
    pub warmup: Warmup,
    /// Who counts tokens.
    pub tokens: TokenCounter,
    /// What a good request is.
    pub sla: Option<Sla>,
}

/// Sessions that run side by side, each lane one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lanes {
    /// How many, at least 1.
    pub count: u32,
    /// How long it takes until all run, from one on.
    pub ramp: Nanos,
}

/// Where in its trace a lane begins: at a share of the trace's duration that is drawn for each instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// The least share, from 0 to 1.
    pub from: f64,
    /// The greatest share, from `from` to 1.
    pub to: f64,
    /// How the first requests of the lanes start.
    pub burst: Burst,
}

/// How the first requests of lanes that begin in their middle start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burst {
    /// When the recording says: each its own time after the snapshot.
    Spread,
    /// All at once.
    Together,
}

/// When a run ends: after whichever comes first. Where nothing is stated, each trace is sent once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveStop {
    /// How long requests start, from the first one on.
    pub duration: Option<Nanos>,
    /// After how many requests none starts, at least 1.
    pub requests: Option<u64>,
    /// After how many sessions (instances of traces) none starts, at least 1.
    pub sessions: Option<u64>,
    /// How long requests in flight may take after the end.
    pub grace: Nanos,
}

/// What is sent before anything is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// Nothing.
    None,
    /// The last call before the snapshot of each conversation that lives at it, for one token.
    Prime,
    /// As `Prime`; then what follows the snapshot without waits and for one token each, over and over.
    Pressure {
        /// For how long.
        duration: Nanos,
    },
}

/// Who counts tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenCounter {
    /// The vocabulary in `bench` (`o200k_base`).
    Builtin,
    /// The server, in the `usage` of its answers.
    Server,
    /// A tokenizer file.
    File {
        /// The path, relative to the project root.
        path: String,
        /// The digest of its bytes.
        digest: Sha256,
    },
}

impl ReplaySettings {
    /// Returns the lanes of a closed loop.
    pub fn closed_lanes(&self) -> Lanes {
        self.lanes.unwrap_or(Lanes { count: 1, ramp: Nanos::new(0) })
    }

    /// Returns the canonical description.
    pub fn canonical(&self) -> Value {
        object([
            ("endpoint", self.endpoint.canonical()),
            ("lanes", self.lanes.map_or(Value::Null, Lanes::canonical)),
            ("session_routing", self.routing.canonical()),
            ("sla", self.sla.as_ref().map_or(Value::Null, Sla::canonical)),
            ("snapshot", self.snapshot.map_or(Value::Null, Snapshot::canonical)),
            ("stop", self.stop.canonical()),
            ("tokenizer", self.tokens.canonical()),
            ("warmup", self.warmup.canonical()),
        ])
    }
}

impl LiveStop {
    /// Returns whether traces may be sent more than once: something else than their number ends the run.
    pub const fn recycles(&self) -> bool {
        self.duration.is_some() || self.requests.is_some() || self.sessions.is_some()
    }

    /// Returns the canonical description.
    fn canonical(self) -> Value {
        let count = |count: Option<u64>| count.map_or(Value::Null, Value::count);
        object([
            ("duration_ns", self.duration.map_or(Value::Null, Value::from)),
            ("grace_ns", self.grace.into()),
            ("requests", count(self.requests)),
            ("sessions", count(self.sessions)),
        ])
    }
}

impl Lanes {
    /// Returns the canonical description.
    fn canonical(self) -> Value {
        object([("count", Value::count(u64::from(self.count))), ("ramp_ns", self.ramp.into())])
    }
}

impl Snapshot {
    /// Returns the canonical description.
    fn canonical(self) -> Value {
        object([
            ("burst", Value::Bool(self.burst == Burst::Together)),
            ("from", Value::real(self.from)),
            ("to", Value::real(self.to)),
        ])
    }
}

impl Warmup {
    /// Returns the canonical description.
    fn canonical(self) -> Value {
        match self {
            Self::None => object([("kind", Value::text("none"))]),
            Self::Prime => object([("kind", Value::text("prime"))]),
            Self::Pressure { duration } => {
                object([("duration_ns", duration.into()), ("kind", Value::text("pressure"))])
            }
        }
    }
}

impl TokenCounter {
    /// Returns the canonical description. Where a file lies changes no count.
    fn canonical(&self) -> Value {
        match self {
            Self::Builtin => object([("kind", Value::text("builtin"))]),
            Self::Server => object([("kind", Value::text("server"))]),
            Self::File { digest, .. } => {
                object([("digest", (*digest).into()), ("kind", Value::text("file"))])
            }
        }
    }
}
