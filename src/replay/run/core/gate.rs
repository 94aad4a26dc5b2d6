//! When a call may be sent: the gate of one node.

use crate::graph::{NodeIndex, Wait};
use crate::units::Nanos;

use super::instance::Instance;
use super::rules::Tempo;
use super::topology::{Join, Step, Topology};

/// The longest that what was left of a wait at the end of a warm-up may take. Source: REPLAY.md §8.3.
const RESIDUAL_CAP: Nanos = Nanos::new(60_000_000_000);

/// When a call may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// Something that it waits for has not happened.
    Shut,
    /// From this instant on.
    At(Nanos),
    /// Never: it holds the answer of a call that is left out.
    Never,
}

/// What a gate depends on beside what happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// What becomes of recorded spans.
    pub(super) tempo: Tempo,
    /// Whether calls start at their recorded times.
    pub(super) is_strict: bool,
}

/// Returns when a call of an instance may be sent.
///
/// The gate is the latest of: the ends, dispatches and first tokens of its edges, each with its delay; the inputs; the node's own
/// least time from the start; the ends of the calls whose answers it holds. Source: REPLAY.md §8.1.
pub(super) fn gate(
    instance: &Instance,
    topology: &Topology,
    node: NodeIndex,
    manner: Manner,
) -> Gate {
    let step = topology.step(node);
    if step.slots.iter().any(|slot| instance.mark(*slot).is_left_out) {
        return Gate::Never;
    }
    let view = View { instance, tempo: manner.tempo };
    let instant = if manner.is_strict {
        Some(view.after_start(step.arrival))
    } else {
        view.inputs(step).and_then(|ready| view.edges(step, ready))
    };
    let slots = step.slots.iter().try_fold(Nanos::ZERO, |latest, slot| {
        instance.mark(*slot).ended.map(|ended| latest.max(ended))
    });
    match (instant, slots) {
        // A strict call that holds an answer stays due at its recorded time: waiting for the answer makes it late, and that shows.
        (Some(at), Some(_)) if manner.is_strict => Gate::At(at),
        (Some(at), Some(slots)) => Gate::At(at.max(slots)),
        (None, _) | (_, None) => Gate::Shut,
    }
}

/// An instance, and what becomes of recorded spans in it.
#[derive(Clone, Copy)]
struct View<'a> {
    instance: &'a Instance,
    tempo: Tempo,
}

impl View<'_> {
    /// Returns the instant a recorded span after the start of the trace; the window moves the start.
    fn after_start(self, span: Nanos) -> Nanos {
        let origin = self.instance.window.map_or(Nanos::ZERO, |window| window.origin);
        let span = Nanos::new(span.get().saturating_sub(origin.get()));
        self.residual(self.instance.start, span)
    }

    /// Returns the instant a recorded span after an anchor.
    ///
    /// What was left of it when a warm-up handed over counts from then, and is capped.
    fn residual(self, anchor: Nanos, span: Nanos) -> Nanos {
        let at = later(anchor, self.tempo.of(span));
        match self.instance.handed_over {
            Some(handed) if anchor <= handed => at.clamp(handed, later(handed, RESIDUAL_CAP)),
            Some(_) | None => at,
        }
    }

    /// Returns when all inputs are there, or `None` while one is not.
    fn inputs(self, step: &Step) -> Option<Nanos> {
        let start = self.instance.handed_over.unwrap_or(self.instance.start);
        step.inputs.iter().try_fold(start.max(self.instance.start), |ready, join| {
            Some(ready.max(self.join(join)?))
        })
    }

    /// Returns when enough values of a channel are there; calls that are left out have written theirs before the start.
    fn join(self, join: &Join) -> Option<Nanos> {
        let written = |node: &NodeIndex| {
            let mark = self.instance.mark(*node);
            if mark.is_left_out { Some(self.instance.start) } else { mark.ended }
        };
        let mut times: Vec<Nanos> = join.writers.iter().filter_map(written).collect();
        times.sort_unstable();
        join.count.checked_sub(1).map_or(Some(Nanos::ZERO), |last| times.get(last).copied())
    }

    /// Returns when all edges let the call through, or `None` while one does not.
    fn edges(self, step: &Step, ready: Nanos) -> Option<Nanos> {
        let mut at = ready;
        let mut lost = 0;
        for (source, wait) in &step.edges {
            match source {
                Some(source) if self.instance.mark(*source).is_left_out => lost += 1,
                Some(source) => at = at.max(self.edge(*source, *wait, ready)?),
                None => {
                    at = at
                        .max(self.after_start(wait.ready.or(wait.completion).unwrap_or_default()));
                }
            }
        }
        if lost > 0 && lost == step.edges.len() {
            at = at.max(self.after_start(step.arrival));
        }
        Some(step.min_start.map_or(at, |least| at.max(self.after_start(least))))
    }

    /// Returns when an edge between calls lets one through, or `None` while it does not.
    ///
    /// An edge that names no instant of its source waits for the end: it is a dependency.
    fn edge(self, source: NodeIndex, wait: Wait, ready: Nanos) -> Option<Nanos> {
        let mark = self.instance.mark(source);
        let mut at = Nanos::ZERO;
        if let Some(delay) = wait.dispatch {
            at = self.dispatched(source, delay, wait.first_token)?;
        }
        if wait.dispatch.is_none() || wait.completion.is_some() {
            let delay = wait.completion.unwrap_or_default();
            at = at.max(self.residual(mark.ended?, delay));
        }
        if let Some(delay) = wait.ready {
            at = at.max(self.residual(ready, delay));
        }
        Some(at)
    }

    /// Returns when a wait for a dispatch is over: after the first token where one is waited for and comes, else after the dispatch.
    ///
    /// Nothing is left of it where the dispatch was before a hand-over.
    fn dispatched(self, source: NodeIndex, delay: Nanos, token: Option<Nanos>) -> Option<Nanos> {
        let mark = self.instance.mark(source);
        let sent = mark.sent?;
        let handed = self.instance.handed_over.filter(|handed| sent < *handed);
        if handed.is_some() && mark.ended.is_some() {
            return handed;
        }
        let by_dispatch = later(sent, self.tempo.of(delay));
        let Some(token_delay) = token else { return Some(by_dispatch) };
        match (mark.first_token, mark.ended) {
            (Some(first), _) => Some(later(first, self.tempo.of(token_delay))),
            // Until the end it could have come, and nobody knew.
            (None, Some(ended)) => Some(by_dispatch.max(ended)),
            (None, None) => None,
        }
    }
}

/// Returns an instant that much later, at most the last that there is.
pub(super) fn later(at: Nanos, span: Nanos) -> Nanos {
    Nanos::new(at.get().saturating_add(span.get()))
}
