//! Steps for tests of what is around the machine.

use crate::graph::{NodeIndex, Wait};
use crate::replay::wire::Draws;
use crate::units::Nanos;
use crate::workload::Sampling;

use super::topology::{Join, Step};

/// Returns a call that is sent so long after the start of its trace.
pub(in crate::replay::run) fn start(arrival: u64) -> Step {
    Step {
        edges: vec![(None, Wait::start(Nanos::new(arrival)))],
        inputs: Vec::new(),
        slots: Vec::new(),
        min_start: None,
        arrival: Nanos::new(arrival),
        session: 0,
        bytes: 0,
    }
}

/// Returns a call that is sent so long after the end of another, whose value it waits for.
pub(in crate::replay::run) fn after(source: usize, delay: u64) -> Step {
    let source = NodeIndex(source);
    Step {
        edges: vec![(Some(source), Wait::completion(Nanos::new(delay)))],
        inputs: vec![Join { writers: vec![source], count: 1 }],
        ..start(0)
    }
}

/// Returns a call that is sent so long after the first token of another.
pub(in crate::replay::run) fn beside(source: usize, delay: Nanos) -> Step {
    let wait = Wait::dispatch(Nanos::ZERO, Some(delay));
    Step { edges: vec![(Some(NodeIndex(source)), wait)], ..start(0) }
}

/// Returns a call whose prompt holds answers.
pub(in crate::replay::run) fn held(step: Step, slots: &[usize]) -> Step {
    Step { slots: slots.iter().copied().map(NodeIndex).collect(), ..step }
}

/// Returns draws of so many traces, in their order.
pub(in crate::replay::run) fn in_order(traces: usize) -> Draws {
    Draws::new(traces, Sampling::Sequential, 0, "w")
}
