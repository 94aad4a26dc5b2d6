//! When calls start, as far as it is planned.

use crate::digest::canonical::{Value, object};
use crate::graph::{Endpoint, Graph, IdleGapCap, NodeIndex, Wait};
use crate::units::Nanos;
use crate::workload::RecordedLoad;

/// How calls are paced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WirePacing {
    /// What starts a trace and its calls.
    pub loop_kind: LoopKind,
    /// How much faster than recorded; finite and above 0. Everything is divided by it, the cap of idle gaps too.
    pub speedup: f64,
    /// The longest time in which nothing of the whole system is in flight, in recorded time; absent where idle time is not cut in the run.
    pub system_idle_cap: Option<Nanos>,
}

/// What starts a trace and its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// A free lane starts a trace; calls wait for what they waited for.
    Closed,
    /// A trace starts at its recorded time; calls wait for what they waited for.
    Open,
    /// A trace starts at its recorded time, and so does each of its calls, whatever it waited for.
    OpenStrict,
}

impl WirePacing {
    /// A closed loop at recorded delays.
    pub const AS_RECORDED: Self =
        Self { loop_kind: LoopKind::Closed, speedup: 1.0, system_idle_cap: None };

    /// Returns the pacing of a load, and the cap of idle gaps by which each trace is lowered.
    pub fn of(load: &RecordedLoad) -> (Self, IdleGapCap) {
        let cap = load.idle_gap_cap_ms.and_then(|ms| Nanos::from_ms(ms).ok());
        let is_system = load.idle_gap_scope == "system";
        let loop_kind = match (load.open_loop, load.strict) {
            (false, _) => LoopKind::Closed,
            (true, false) => LoopKind::Open,
            (true, true) => LoopKind::OpenStrict,
        };
        let system_idle_cap = cap.filter(|_| is_system);
        let of_traces = cap.filter(|_| !is_system).map_or(IdleGapCap::None, IdleGapCap::At);
        (Self { loop_kind, speedup: load.speedup, system_idle_cap }, of_traces)
    }

    /// Returns what becomes of a recorded span.
    pub fn after(&self, span: Nanos) -> Nanos {
        span.sped_up(self.speedup)
    }

    /// Returns what a call waits for, canonical: instants are from the start of its instance, delays after what is named.
    pub(super) fn start(&self, graph: &Graph, node: NodeIndex) -> Value {
        if self.loop_kind == LoopKind::OpenStrict {
            return object([("at_ns", self.after(graph.node(node).arrival).into())]);
        }
        let mut after = Vec::new();
        for edge in graph.edges_to(node) {
            after.push(match edge.source {
                Endpoint::Node(source) => self
                    .wait(edge.wait)
                    .with("node", Some(Value::count(u64::try_from(source.0).expect("64 bits")))),
                Endpoint::Start | Endpoint::End => self.wait(edge.wait),
            });
        }
        let least = graph.node(node).min_start.map(|at| self.after(at).into());
        object([("after", Value::List(after))]).with("min_start_ns", least)
    }

    /// Returns the delays of an edge.
    fn wait(&self, wait: Wait) -> Value {
        let delay = |delay: Option<Nanos>| delay.map(|delay| self.after(delay).into());
        object([])
            .with("completion_ns", delay(wait.completion))
            .with("dispatch_ns", delay(wait.dispatch))
            .with("first_token_ns", delay(wait.first_token))
            .with("ready_ns", delay(wait.ready))
    }

    /// Returns the canonical description.
    pub(super) fn canonical(&self) -> Value {
        object([
            ("loop", Value::text(self.loop_kind.name())),
            ("speedup", Value::real(self.speedup)),
        ])
        .with("system_idle_cap_ns", self.system_idle_cap.map(|cap| self.after(cap).into()))
    }
}

impl LoopKind {
    /// Returns its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::OpenStrict => "open-strict",
        }
    }
}
