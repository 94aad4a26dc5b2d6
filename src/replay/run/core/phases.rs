//! Phases: priming, pressure and its drain, the run that is measured, and its end.

use crate::graph::NodeIndex;
use crate::record::{LiveTally, Phase};
use crate::replay::wire::WireWindow;
use crate::units::Nanos;

use super::actions::{Action, CallId, Ending};
use super::gate::{Gate, gate, later};
use super::instance::{Instance, Stopped};
use super::machine::Core;
use super::snapshot::primers;
use super::topology::Step;

/// The longest that calls of a warm-up may take after its end. Source: REPLAY.md §8.3.
const DRAIN_CAP: Nanos = Nanos::new(300_000_000_000);

/// Where a run stands. Instants are real ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Calls before the windows of the lanes are sent once.
    Priming,
    /// The lanes run without waits, until an instant.
    Pressing {
        /// Until when.
        until: Nanos,
        /// How long calls may take after it.
        grace: Nanos,
    },
    /// No call of a warm-up starts any more; those in flight are given up at an instant, unless they have been.
    Draining {
        /// When.
        gives_up: Option<Nanos>,
    },
    /// The lanes run and are measured, until an instant if there is one.
    Running {
        /// Until when.
        until: Option<Nanos>,
    },
    /// No call starts any more; those in flight are given up at an instant, if there is one.
    Closing {
        /// When.
        gives_up: Option<Nanos>,
    },
    /// All is over.
    Over,
}

impl Stage {
    /// Returns what calls are sent for.
    pub(super) const fn phase(self) -> Phase {
        match self {
            Self::Priming => Phase::Primer,
            Self::Pressing { .. } | Self::Draining { .. } => Phase::Warmup,
            Self::Running { .. } | Self::Closing { .. } | Self::Over => Phase::Profile,
        }
    }

    /// Returns whether calls of instances start.
    pub(super) const fn sends(self) -> bool {
        matches!(self, Self::Pressing { .. } | Self::Running { .. })
    }

    /// Returns when calls stop to start.
    pub(super) const fn deadline(self) -> Option<Nanos> {
        match self {
            Self::Pressing { until, .. } => Some(until),
            Self::Running { until } => until,
            Self::Priming | Self::Draining { .. } | Self::Closing { .. } | Self::Over => None,
        }
    }

    /// Returns when calls in flight are given up.
    pub(super) const fn gives_up(self) -> Option<Nanos> {
        match self {
            Self::Draining { gives_up } | Self::Closing { gives_up } => gives_up,
            Self::Priming | Self::Pressing { .. } | Self::Running { .. } | Self::Over => None,
        }
    }
}

impl Core {
    /// Begins the run: with the calls that prime caches, where there are any.
    pub(super) fn begin(&mut self, now: Nanos) {
        let primed = self.primed();
        if primed.is_empty() {
            self.after_priming(now);
            return;
        }
        self.stage = Stage::Priming;
        self.out.push(Action::Begin(Phase::Primer, now));
        for (call, tree, lane) in primed {
            self.calls.insert(call);
            self.out.push(Action::Send { call, tree, lane, intended: now });
        }
    }

    /// Returns the calls that prime the caches of the lanes, with their trace and lane.
    fn primed(&self) -> Vec<(CallId, usize, usize)> {
        if !self.rules.primes {
            return Vec::new();
        }
        let windows = self.rules.supply.windows.iter().take(self.lanes.count()).enumerate();
        let of_lane = |(lane, window): (usize, &WireWindow)| {
            let instance = u64::try_from(lane).expect("64 bits");
            let tree = self.rules.supply.draws.trace(instance);
            let nodes = primers(*window, &self.topologies[tree]);
            let call = move |node| (CallId { instance, node, phase: Phase::Primer }, tree, lane);
            nodes.into_iter().map(call).collect::<Vec<_>>()
        };
        windows.flat_map(of_lane).collect()
    }

    /// Goes on from priming: to the pressure where it is asked for, else to what is measured.
    fn after_priming(&mut self, now: Nanos) {
        let Some(span) = self.rules.pressure else {
            self.run(now, true);
            return;
        };
        let grace = span.min(DRAIN_CAP);
        self.stage = Stage::Pressing { until: later(now, span), grace };
        self.out.push(Action::Begin(Phase::Warmup, now));
        self.lanes.open(&self.rules, self.on_clock(now), true);
    }

    /// Starts what is measured. Lanes that a warm-up has opened stay open.
    fn run(&mut self, now: Nanos, is_ramped: bool) {
        let until = self.rules.limits.duration.map(|duration| later(now, duration));
        self.stage = Stage::Running { until };
        (self.tally, self.unmeasured_cut) = (LiveTally::default(), self.cut);
        self.out.push(Action::Begin(Phase::Profile, now));
        let clocked = self.on_clock(now);
        self.idle_since = clocked;
        self.lanes.open(&self.rules, clocked, is_ramped);
        self.lanes.expect(&self.rules, clocked);
    }

    /// Hands the lanes over to what is measured: each goes on with the calls that it has not sent.
    fn hand_over(&mut self, now: Nanos) {
        self.run(now, false);
        self.lanes.resume();
        let clocked = self.on_clock(now);
        let numbers: Vec<u64> = self.instances.keys().copied().collect();
        for number in numbers {
            if let Some(instance) = self.instances.get_mut(&number) {
                instance.take_back();
                instance.handed_over = Some(clocked);
            }
            self.arm_all(number);
            self.settle(number, clocked);
        }
    }

    /// Does what the clock alone brings about: the ends of phases.
    pub(super) fn keep_time(&mut self, now: Nanos) {
        if self.stage.deadline().is_some_and(|until| until <= now) {
            match self.stage {
                Stage::Pressing { until, grace } => {
                    self.timers.clear();
                    self.stage = Stage::Draining { gives_up: Some(later(until, grace)) };
                }
                Stage::Running { .. } => self.close(now),
                Stage::Priming | Stage::Draining { .. } | Stage::Closing { .. } | Stage::Over => {}
            }
        }
        if self.stage.gives_up().is_some_and(|at| at <= now) {
            self.give_up();
        }
    }

    /// Goes on to the next stage where this one is done.
    pub(super) fn settle_stage(&mut self, now: Nanos) {
        if !self.calls.is_empty() {
            return;
        }
        match self.stage {
            Stage::Priming => self.after_priming(now),
            Stage::Draining { .. } => self.hand_over(now),
            Stage::Running { .. } if self.next_work().is_none() => self.finish(),
            Stage::Closing { .. } => self.finish(),
            Stage::Running { .. } | Stage::Pressing { .. } | Stage::Over => {}
        }
    }

    /// Starts no more calls from `now` on, or from the deadline that has passed by then: that is the end, from which those in flight
    /// have their grace. What was due before it and is not sent is counted.
    pub(super) fn close(&mut self, now: Nanos) {
        if matches!(self.stage, Stage::Closing { .. } | Stage::Over) {
            return;
        }
        let end = self.stage.deadline().map_or(now, |until| until.min(now));
        let clocked = self.on_clock(end);
        if matches!(self.stage, Stage::Running { .. }) {
            self.miss(clocked);
        }
        self.timers.clear();
        self.stage = Stage::Closing { gives_up: Some(later(end, self.rules.limits.grace)) };
        let numbers: Vec<u64> = self.instances.keys().copied().collect();
        for number in numbers {
            self.stop_instance(number, Stopped::Cut);
            self.settle(number, clocked);
        }
    }

    /// Counts the calls that were due before the end and are not sent: also those of sessions that were to start, whether a lane was
    /// free for them and nobody had come to look, or none was.
    fn miss(&mut self, end: Nanos) {
        if let Some(last) = end.get().checked_sub(1) {
            self.fill(Nanos::new(last));
        }
        let armed = self.timers.iter().filter(|(at, ..)| *at < end).count();
        let waiting: usize = self.lanes.waiting(end).map(|it| self.due_of(it, end)).sum();
        self.tally.missed += u64::try_from(armed + waiting).unwrap_or(u64::MAX);
    }

    /// Returns how many calls of a session that has not started were due before an instant.
    fn due_of(&self, (start, number): (Nanos, u64), end: Nanos) -> usize {
        let tree = self.rules.supply.draws.trace(number);
        let topology = &self.topologies[tree];
        let manner = self.manner();
        // No call has happened, so that it does not matter in which lane.
        let instance = Instance::new(tree, 0, start, topology.len());
        let is_due = |(node, _): &(NodeIndex, &Step)| match gate(&instance, topology, *node, manner)
        {
            Gate::At(at) => at < end,
            Gate::Shut | Gate::Never => false,
        };
        topology.steps().filter(is_due).count()
    }

    /// Gives up the calls in flight, once.
    pub(super) fn give_up(&mut self) {
        self.out.extend(self.calls.iter().map(|call| Action::Cancel(*call)));
        match &mut self.stage {
            Stage::Draining { gives_up } | Stage::Closing { gives_up } => *gives_up = None,
            Stage::Priming | Stage::Pressing { .. } | Stage::Running { .. } | Stage::Over => {}
        }
    }

    /// Returns whether an ending means that the warm-up did not warm.
    pub(super) fn spoils_warmup(&self, ending: Ending) -> bool {
        let is_failure = match ending {
            Ending::Failed | Ending::Unsendable => true,
            Ending::ContextOverflow | Ending::Canceled => self.stage == Stage::Priming,
            Ending::Answered => false,
        };
        let is_warmup = match self.stage {
            Stage::Priming | Stage::Pressing { .. } | Stage::Draining { .. } => true,
            Stage::Running { .. } | Stage::Closing { .. } | Stage::Over => false,
        };
        is_failure && is_warmup
    }

    /// Ends the run since a call of a warm-up went wrong.
    pub(super) fn abort(&mut self, call: CallId) {
        self.out.push(Action::Abort(call));
        self.close(Nanos::ZERO);
        self.give_up();
    }

    /// Ends the run.
    fn finish(&mut self) {
        self.stage = Stage::Over;
        self.out.push(Action::Finish);
    }
}
