//! The machine: what happened goes in, what is to be done comes out.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::NodeIndex;
use crate::record::{LiveTally, Phase};
use crate::units::Nanos;

use super::actions::{Action, CallId, Ending};
use super::gate::{Gate, Manner, gate, later};
use super::instance::{Instance, Marks, Stopped};
use super::lanes::Lanes;
use super::phases::Stage;
use super::rules::{Pacing, Rules, Tempo};
use super::topology::Topology;

/// How many calls are sent at once, at the most: between such bursts what has arrived is read.
const BURST: usize = 64;
/// Behind how many bytes of bodies no further call is sent at once: copying them takes a part of a millisecond.
const BURST_BYTES: u64 = 1 << 20;

/// When which call is sent.
///
/// Its own clock is real time plus the idle time that was cut: every instant that it keeps is on that clock, so that one sum moves
/// all timers at once.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(super) rules: Rules,
    pub(super) topologies: Vec<Topology>,
    pub(super) stage: Stage,
    /// Instances that are not over, by number.
    pub(super) instances: BTreeMap<u64, Instance>,
    pub(super) lanes: Lanes,
    /// Calls whose gate is open from an instant on: instant, instance, node.
    pub(super) timers: BTreeSet<(Nanos, u64, NodeIndex)>,
    /// Calls in flight.
    pub(super) calls: BTreeSet<CallId>,
    /// Calls that were sent and count against the limit.
    pub(super) sent: u64,
    /// Idle time that was cut.
    pub(super) cut: Nanos,
    /// Idle time that was cut before anything was measured.
    pub(super) unmeasured_cut: Nanos,
    /// Since when nothing has been in flight, on the machine's clock.
    pub(super) idle_since: Nanos,
    pub(super) out: Vec<Action>,
    pub(super) tally: LiveTally,
}

impl Core {
    /// Returns the machine of a run that begins at `now`.
    pub(crate) fn new(rules: Rules, topologies: Vec<Topology>, now: Nanos) -> Self {
        let lanes = Lanes::new(&rules);
        let mut core = Self {
            rules,
            topologies,
            stage: Stage::Over,
            instances: BTreeMap::new(),
            lanes,
            timers: BTreeSet::new(),
            calls: BTreeSet::new(),
            sent: 0,
            cut: Nanos::ZERO,
            unmeasured_cut: Nanos::ZERO,
            idle_since: now,
            out: Vec::new(),
            tally: LiveTally::default(),
        };
        core.begin(now);
        core
    }

    /// Returns what is to be done at `now`, which never goes back. Nothing is ever asked for early.
    pub(crate) fn due(&mut self, now: Nanos) -> Vec<Action> {
        let clocked = self.on_clock(now);
        self.keep_time(now);
        let (mut calls, mut bytes) = (0, 0);
        loop {
            self.skip_idle();
            self.fill(self.on_clock(now));
            let next = self.timers.first().copied().filter(|(at, ..)| *at <= self.on_clock(now));
            let has_room = calls < BURST && bytes < BURST_BYTES;
            let Some(timer) = next.filter(|_| has_room) else { break };
            self.timers.remove(&timer);
            calls += 1;
            bytes += self.bytes_of(timer);
            self.fire(timer, now);
        }
        debug_assert!(clocked <= self.on_clock(now), "the clock goes forward");
        self.settle_stage(now);
        std::mem::take(&mut self.out)
    }

    /// Returns when to ask again if nothing happens until then; `None` where only something that happens leads on.
    pub(crate) fn wake(&self) -> Option<Nanos> {
        let work = self.next_work().map(|at| self.real(at));
        [work, self.stage.deadline(), self.stage.gives_up()].into_iter().flatten().min()
    }

    /// Takes in that the first token of a call came.
    pub(crate) fn first_token(&mut self, call: CallId, at: Nanos) {
        let at = self.on_clock(at);
        if call.phase == Phase::Primer || !self.calls.contains(&call) {
            return;
        }
        let Some(instance) = self.instances.get_mut(&call.instance) else { return };
        let mark = instance.mark_mut(call.node);
        if mark.first_token.is_none() {
            mark.first_token = Some(at);
            self.arm_dependents(call.instance, call.node);
        }
    }

    /// Takes in that a call ended.
    ///
    /// # Panics
    /// Where the call is not in flight: it ends once.
    pub(crate) fn ended(&mut self, call: CallId, at: Nanos, ending: Ending) {
        assert!(self.calls.remove(&call), "bug: {call:?} ended and was not in flight");
        if self.calls.is_empty() {
            self.idle_since = self.idle_since.max(self.on_clock(at));
        }
        if self.spoils_warmup(ending) {
            self.abort(call);
        }
        if call.phase != Phase::Primer {
            self.end_call(call, self.on_clock(at), ending);
        }
    }

    /// Takes in that the run is to end now: calls in flight are given up, and what was measured stays.
    pub(crate) fn stop(&mut self, now: Nanos) {
        self.close(now);
        self.give_up();
    }

    /// Returns what became of instances and of calls that were not sent, warm-ups left out.
    pub(crate) fn tally(&self) -> LiveTally {
        self.tally
    }

    /// Returns an instant on the machine's clock.
    pub(super) fn on_clock(&self, real: Nanos) -> Nanos {
        later(real, self.cut)
    }

    /// Returns the real instant of one on the machine's clock.
    pub(super) fn real(&self, clocked: Nanos) -> Nanos {
        Nanos::new(clocked.get().saturating_sub(self.cut.get()))
    }

    /// Returns how calls are paced in this stage.
    pub(super) fn manner(&self) -> Manner {
        match self.stage {
            Stage::Pressing { .. } => Manner { tempo: Tempo::Collapsed, is_strict: false },
            Stage::Priming
            | Stage::Draining { .. }
            | Stage::Running { .. }
            | Stage::Closing { .. }
            | Stage::Over => {
                let Pacing { speedup, is_strict } = self.rules.pacing;
                Manner { tempo: Tempo::Divided(speedup), is_strict }
            }
        }
    }

    /// Returns the bytes of the body of a call.
    fn bytes_of(&self, (_, number, node): (Nanos, u64, NodeIndex)) -> u64 {
        let tree = self.instances.get(&number).map(|instance| instance.tree);
        tree.map_or(0, |tree| self.topologies[tree].step(node).bytes)
    }

    /// Sends a call whose time has come, unless the limit is reached.
    fn fire(&mut self, (at, number, node): (Nanos, u64, NodeIndex), now: Nanos) {
        let phase = self.stage.phase();
        if phase == Phase::Profile
            && self.rules.limits.requests.is_some_and(|most| self.sent >= most)
        {
            self.tally.missed += 1;
            self.close(now);
            return;
        }
        self.sent += u64::from(phase == Phase::Profile);
        let clocked = self.on_clock(now);
        let Some(instance) = self.instances.get_mut(&number) else { return };
        instance.mark_mut(node).sent = Some(clocked);
        instance.in_flight += 1;
        let (tree, lane) = (instance.tree, instance.lane);
        let call = CallId { instance: number, node, phase };
        self.calls.insert(call);
        let intended = self.real(at);
        self.out.push(Action::Send { call, tree, lane, intended });
        self.arm_dependents(number, node);
    }

    /// Takes in that a call of an instance ended.
    fn end_call(&mut self, call: CallId, at: Nanos, ending: Ending) {
        let Some(instance) = self.instances.get_mut(&call.instance) else { return };
        instance.in_flight -= 1;
        // What was given up has not ended: a warm-up hands it over to be sent again, and its instance is cut at the end of a run.
        if ending != Ending::Canceled {
            instance.mark_mut(call.node).ended = Some(at);
            instance.open -= 1;
            let why = match ending {
                Ending::Answered | Ending::Failed | Ending::Canceled => None,
                Ending::ContextOverflow => Some(Stopped::Overflow),
                Ending::Unsendable => Some(Stopped::Unsendable),
            };
            match why {
                Some(why) => self.stop_instance(call.instance, why),
                None => self.arm_dependents(call.instance, call.node),
            }
        }
        self.settle(call.instance, at);
    }

    /// Arms every call of an instance that has what it waits for.
    pub(super) fn arm_all(&mut self, number: u64) {
        let Some(instance) = self.instances.get(&number) else { return };
        let count = self.topologies[instance.tree].len();
        for node in 0..count {
            self.arm(number, NodeIndex(node));
        }
    }

    /// Arms the calls that wait for something of a call and have all that they wait for.
    fn arm_dependents(&mut self, number: u64, node: NodeIndex) {
        let Some(instance) = self.instances.get(&number) else { return };
        let dependents = self.topologies[instance.tree].dependents(node).to_vec();
        for node in dependents {
            self.arm(number, node);
        }
    }

    /// Arms a call that has all that it waits for.
    fn arm(&mut self, number: u64, node: NodeIndex) {
        if !self.stage.sends() {
            return;
        }
        let manner = self.manner();
        let Some(instance) = self.instances.get_mut(&number) else { return };
        if instance.stopped.is_some() || !instance.mark(node).is_waiting() {
            return;
        }
        match gate(instance, &self.topologies[instance.tree], node, manner) {
            Gate::Shut => {}
            Gate::Never => self.stop_instance(number, Stopped::Unsendable),
            Gate::At(at) => {
                instance.mark_mut(node).armed = Some(at);
                self.timers.insert((at, number, node));
            }
        }
    }

    /// Sends no more calls of an instance.
    pub(super) fn stop_instance(&mut self, number: u64, why: Stopped) {
        let Some(instance) = self.instances.get_mut(&number) else { return };
        instance.stopped.get_or_insert(why);
        self.timers.retain(|(_, of, _)| *of != number);
    }

    /// Ends an instance of which nothing comes any more, and frees its lane.
    pub(super) fn settle(&mut self, number: u64, at: Nanos) {
        let Some(instance) = self.instances.get(&number) else { return };
        if instance.in_flight == 0
            && instance.open > 0
            && instance.stopped.is_none()
            && self.stage.sends()
        {
            let is_armed = |mark: &Marks| mark.armed.is_some() && mark.sent.is_none();
            if !instance.marks.iter().any(is_armed) {
                self.stop_instance(number, Stopped::Unsendable);
            }
        }
        let Some(instance) = self.instances.get(&number).filter(|instance| instance.is_over())
        else {
            return;
        };
        match instance.stopped {
            _ if instance.open == 0 => self.tally.completed += 1,
            Some(Stopped::Overflow) => self.tally.overflowed += 1,
            Some(Stopped::Unsendable) => self.tally.unsendable += 1,
            Some(Stopped::Cut) | None => self.tally.cut += 1,
        }
        self.lanes.free(instance.lane, at);
        self.instances.remove(&number);
        self.out.push(Action::Forget(number));
    }

    /// Cuts idle time of the whole system that is longer than the cap: all timers move at once.
    ///
    /// Only while nothing is in flight; the cap divides with the speedup. Source: REPLAY.md §4.2, wire/ISSUES.md 5.
    fn skip_idle(&mut self) {
        let Some(cap) = self.rules.idle_gap_cap.filter(|_| self.calls.is_empty()) else { return };
        let Some(next) = self.next_work() else { return };
        let latest = later(self.idle_since, self.manner().tempo.of(cap));
        let Some(excess) = next.since(latest) else { return };
        self.cut = later(self.cut, excess);
        self.idle_since = later(self.idle_since, excess);
        self.tally.skipped = self.cut.since(self.unmeasured_cut).unwrap_or_default();
    }

    /// Returns the next instant on the machine's clock at which there is something to send or to start.
    pub(super) fn next_work(&self) -> Option<Nanos> {
        let timer = self.timers.first().map(|(at, ..)| *at);
        let start = self.next_start();
        timer.into_iter().chain(start).min()
    }
}
