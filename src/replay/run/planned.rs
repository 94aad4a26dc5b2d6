//! A run as it is planned: its rules, what its calls wait for, and what was recorded of them.

use crate::graph::Graph;
use crate::record::{LiveCall, LiveTrace};
use crate::replay::wire::{LoopKind, WirePlan};
use crate::units::{Nanos, Tokens};
use crate::workload::live::Warmup;

use super::core::{Limits, Pacing, Ramp, Rules, StepBody, Supply, Topology};

impl Rules {
    /// Returns the rules of a plan.
    pub(super) fn of(plan: &WirePlan) -> Self {
        let (settings, pacing) = (plan.settings(), plan.pacing());
        let stop = settings.stop;
        Self {
            lanes: plan.lanes(),
            ramp: Ramp { over: settings.lanes.map_or(Nanos::ZERO, |lanes| lanes.ramp) },
            supply: Supply {
                draws: plan.draws().clone(),
                arrivals: plan.arrivals().map(<[Nanos]>::to_vec),
                windows: plan.windows().to_vec(),
            },
            pacing: Pacing {
                speedup: pacing.speedup,
                is_strict: pacing.loop_kind == LoopKind::OpenStrict,
            },
            idle_gap_cap: pacing.system_idle_cap,
            limits: Limits {
                duration: stop.duration,
                requests: stop.requests,
                sessions: stop.sessions,
                grace: stop.grace,
            },
            pressure: match settings.warmup {
                Warmup::Pressure { duration } => Some(duration),
                Warmup::None | Warmup::Prime => None,
            },
            primes: settings.warmup != Warmup::None,
        }
    }
}

/// Returns what the calls of each trace of a plan wait for.
pub(super) fn topologies(plan: &WirePlan) -> Vec<Topology> {
    let of = |(trace, graph): (usize, &Graph)| {
        Topology::of(graph, |node| {
            let body = plan.body(trace, node);
            StepBody { slots: body.answers(), bytes: body.bytes }
        })
    };
    plan.graphs().iter().enumerate().map(of).collect()
}

/// Returns the traces of a plan, with what was recorded of their calls.
pub(super) fn traces(plan: &WirePlan) -> Vec<LiveTrace> {
    plan.graphs().iter().map(recorded).collect()
}

/// Returns a trace, with what was recorded of its calls.
fn recorded(graph: &Graph) -> LiveTrace {
    let calls = graph.nodes.iter().map(|node| {
        let expected = &node.expected;
        let blocks = u64::try_from(expected.reusable_blocks).expect("64 bits");
        let reusable = graph.block_size.map(|size| blocks.saturating_mul(u64::from(size.get())));
        LiveCall {
            id: node.id.clone(),
            input: expected.input,
            output: expected.output,
            ttft: expected.ttft,
            reusable: reusable.map(Tokens::new),
            requested_output: node.max_tokens,
        }
    });
    LiveTrace { id: graph.id.clone(), calls: calls.collect() }
}
