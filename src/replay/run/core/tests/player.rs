//! A run in virtual time: a server that is a function, and a clock that jumps.

use std::collections::BTreeSet;

use crate::graph::{NodeIndex, Wait};
use crate::record::{LiveTally, Phase};
use crate::replay::run::core::step::in_order;
use crate::replay::run::core::topology::{Join, Step};
use crate::replay::run::core::{
    Action, CallId, Core, Ending, Limits, Pacing, Ramp, Rules, Supply, Topology,
};
use crate::units::Nanos;

/// What the server does with a call: first token, end, and how it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) first_token: Option<u64>,
    pub(super) end: u64,
    pub(super) ending: Ending,
}

/// A call as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) call: CallId,
    pub(super) tree: usize,
    pub(super) lane: usize,
    pub(super) intended: u64,
    pub(super) at: u64,
}

/// What was seen of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) sent: Vec<Sent>,
    pub(super) phases: Vec<(Phase, u64)>,
    pub(super) canceled: Vec<(CallId, u64)>,
    pub(super) forgotten: Vec<u64>,
    pub(super) aborted: Option<CallId>,
    pub(super) tally: LiveTally,
    pub(super) peak: usize,
    pub(super) ended: u64,
}

/// An answer after so long.
pub(super) fn after(end: u64) -> Answer {
    Answer { first_token: None, end, ending: Ending::Answered }
}

/// A call that waits for nothing and is sent at the start of its trace.
pub(super) fn step() -> Step {
    Step {
        edges: Vec::new(),
        inputs: Vec::new(),
        slots: Vec::new(),
        min_start: None,
        arrival: Nanos::ZERO,
        session: 0,
        bytes: 0,
    }
}

/// A call that was sent so long after the start of its trace.
pub(super) fn at(arrival: u64) -> Step {
    let edges = vec![(None, Wait::start(Nanos::new(arrival)))];
    Step { arrival: Nanos::new(arrival), edges, ..step() }
}

/// A call that is sent so long after the end of another, whose value it waits for.
pub(super) fn behind(source: usize, delay: u64) -> Step {
    let source = NodeIndex(source);
    Step {
        edges: vec![(Some(source), Wait::completion(Nanos::new(delay)))],
        inputs: vec![Join { writers: vec![source], count: 1 }],
        ..step()
    }
}

/// Turns of one conversation, each so long after the one before.
pub(super) fn chain(delays: &[u64]) -> Topology {
    let turn = |(index, delay): (usize, &u64)| match index {
        0 => at(*delay),
        _ => behind(index - 1, *delay),
    };
    Topology::new(delays.iter().enumerate().map(turn).collect())
}

/// The rules of a closed loop over so many traces, each sent once.
pub(super) fn rules(lanes: usize, traces: usize) -> Rules {
    Rules {
        lanes: Some(lanes),
        ramp: Ramp::default(),
        supply: Supply { draws: in_order(traces), arrivals: None, windows: Vec::new() },
        pacing: Pacing { speedup: 1.0, is_strict: false },
        idle_gap_cap: None,
        limits: Limits { duration: None, requests: None, sessions: None, grace: Nanos::new(1000) },
        pressure: None,
        primes: false,
    }
}

/// What happens next on the server's side: a first token before an end of the same instant.
type Coming = (u64, u8, CallId);

/// Plays a run to its end and returns what was seen. `tick` is how late the driver wakes, at the most.
pub(super) fn play(
    rules: Rules,
    topologies: Vec<Topology>,
    server: impl Fn(CallId) -> Answer,
) -> Seen {
    play_until(rules, topologies, server, None)
}

/// Plays a run that a signal ends at an instant.
pub(super) fn play_until(
    rules: Rules,
    topologies: Vec<Topology>,
    server: impl Fn(CallId) -> Answer,
    signal: Option<u64>,
) -> Seen {
    let mut now = 0;
    let mut core = Core::new(rules, topologies, Nanos::new(now));
    let mut seen = Seen::default();
    let mut coming: BTreeSet<Coming> = BTreeSet::new();
    let mut signal = signal;
    for _ in 0..1_000_000 {
        for action in core.due(Nanos::new(now)) {
            if take(action, now, &server, &mut coming, &mut seen) {
                seen.tally = core.tally();
                seen.ended = now;
                return seen;
            }
        }
        seen.peak = seen.peak.max(core.calls.len());
        let wake = core.wake().map(Nanos::get).into_iter();
        let next = wake.chain(coming.first().map(|(at, ..)| *at)).chain(signal).min();
        now = now.max(next.expect("a run that is not over goes on"));
        if signal.is_some_and(|at| at <= now) {
            signal = None;
            core.stop(Nanos::new(now));
        }
        while let Some((at, kind, call)) = coming.first().copied().filter(|(at, ..)| *at <= now) {
            coming.remove(&(at, kind, call));
            match kind {
                0 => core.first_token(call, Nanos::new(at)),
                1 => core.ended(call, Nanos::new(at), server(call).ending),
                _ => core.ended(call, Nanos::new(at), Ending::Canceled),
            }
        }
    }
    panic!("a run does not end")
}

/// Does what the machine asks for; returns whether all is over.
fn take(
    action: Action,
    now: u64,
    server: &impl Fn(CallId) -> Answer,
    coming: &mut BTreeSet<Coming>,
    seen: &mut Seen,
) -> bool {
    match action {
        Action::Send { call, tree, lane, intended } => {
            let answer = server(call);
            coming.extend(answer.first_token.map(|after| (now + after, 0, call)));
            coming.insert((now + answer.end, 1, call));
            seen.sent.push(Sent { call, tree, lane, intended: intended.get(), at: now });
        }
        Action::Cancel(call) => {
            coming.retain(|(_, _, of)| *of != call);
            coming.insert((now, 2, call));
            seen.canceled.push((call, now));
        }
        Action::Begin(phase, at) => seen.phases.push((phase, at.get())),
        Action::Forget(number) => seen.forgotten.push(number),
        Action::Abort(call) => seen.aborted = Some(call),
        Action::Finish => return true,
    }
    false
}

impl Seen {
    /// Returns instance, node and the instant of sending of every call, in order of sending.
    pub(super) fn order(&self) -> Vec<(u64, usize, u64)> {
        self.sent.iter().map(|sent| (sent.call.instance, sent.call.node.0, sent.at)).collect()
    }

    /// Returns the calls of a phase as instance, node and instant.
    pub(super) fn of(&self, phase: Phase) -> Vec<(u64, usize, u64)> {
        let of_phase = self.sent.iter().filter(|sent| sent.call.phase == phase);
        of_phase.map(|sent| (sent.call.instance, sent.call.node.0, sent.at)).collect()
    }
}
