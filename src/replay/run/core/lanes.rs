//! Lanes: each holds one instance until nothing of it comes any more, then takes the next.

use crate::units::Nanos;

use super::gate::later;
use super::instance::Instance;
use super::machine::Core;
use super::phases::Stage;
use super::rules::{Rules, Tempo};

/// The lanes of a run, and which instance comes next.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    all: Vec<Lane>,
    /// Whether further lanes are made when none is free.
    grows: bool,
    /// The number of the next instance that is drawn.
    next: u64,
    /// Instances that have started in the phase that is measured.
    started: u64,
    /// The instances of an open loop that have not started, the first last: when, and their number.
    arriving: Vec<(Nanos, u64)>,
}

/// One lane.
#[derive(Debug, Clone, Copy)]
struct Lane {
    /// When it opens, once the lanes run.
    opens: Nanos,
    /// Since when it has been free.
    free_since: Nanos,
    /// The instance that it holds.
    holds: Option<u64>,
    /// The instance that it starts with, until it has.
    first: Option<u64>,
}

impl Lanes {
    /// Returns the lanes of a run, none of which is open.
    pub(super) fn new(rules: &Rules) -> Self {
        let is_open_loop = rules.supply.arrivals.is_some();
        let most = rules.instances().unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let count = rules.lanes.map_or(0, |lanes| lanes.min(most));
        let lane = |at: usize| Lane {
            opens: Nanos::ZERO,
            free_since: Nanos::ZERO,
            holds: None,
            first: u64::try_from(at).ok().filter(|_| !is_open_loop),
        };
        Self {
            all: (0..count).map(lane).collect(),
            grows: rules.lanes.is_none(),
            next: if is_open_loop { 0 } else { u64::try_from(count).unwrap_or(u64::MAX) },
            started: 0,
            arriving: Vec::new(),
        }
    }

    /// Returns how many lanes there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Opens the lanes one after the other from an instant on.
    pub(super) fn open(&mut self, rules: &Rules, at: Nanos, is_ramped: bool) {
        let count = self.all.len();
        for (index, lane) in self.all.iter_mut().enumerate() {
            let after = if is_ramped { rules.ramp.opens(index, count) } else { Nanos::ZERO };
            lane.opens = later(at, after);
        }
    }

    /// Lets the instances of an open loop arrive, counted from an instant.
    pub(super) fn expect(&mut self, rules: &Rules, at: Nanos) {
        let Some(arrivals) = &rules.supply.arrivals else { return };
        let tempo = Tempo::Divided(rules.pacing.speedup);
        let most = usize::try_from(rules.instances().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let instant = |(number, after): (usize, &Nanos)| {
            (later(at, tempo.of(*after)), u64::try_from(number).unwrap_or(u64::MAX))
        };
        self.arriving = arrivals.iter().enumerate().take(most).map(instant).collect();
        self.arriving.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Counts instances that a warm-up left behind as started.
    pub(super) fn resume(&mut self) {
        let held = self.all.iter().filter(|lane| lane.holds.is_some()).count();
        self.started += u64::try_from(held).unwrap_or(u64::MAX);
    }

    /// Frees a lane.
    pub(super) fn free(&mut self, lane: usize, at: Nanos) {
        (self.all[lane].holds, self.all[lane].free_since) = (None, at);
    }

    /// Returns the instances of an open loop that were to start before an instant and have not: when, and their number.
    pub(super) fn waiting(&self, before: Nanos) -> impl Iterator<Item = (Nanos, u64)> {
        self.arriving.iter().copied().filter(move |(at, _)| *at < before)
    }

    /// Returns the lane that starts an instance next, when, and the number of the instance, as far as `most` instances allow.
    fn next(&self, most: Option<u64>) -> Option<(Nanos, usize, u64)> {
        if let Some((at, number)) = self.arriving.last() {
            let free = self.all.iter().position(|lane| lane.holds.is_none());
            return free.or(self.grows.then_some(self.all.len())).map(|lane| (*at, lane, *number));
        }
        let reserved = self.all.iter().filter(|lane| lane.first.is_some()).count();
        let taken = self.started.saturating_add(u64::try_from(reserved).unwrap_or(u64::MAX));
        let recycles = most.is_none_or(|most| taken < most);
        let free = self.all.iter().enumerate().filter(|(_, lane)| lane.holds.is_none());
        let starts = free.filter_map(|(index, lane)| {
            let number = lane.first.or(recycles.then_some(self.next))?;
            Some((lane.opens.max(lane.free_since), index, number))
        });
        starts.min()
    }

    /// Takes an instance into a lane.
    fn take(&mut self, lane: usize, number: u64, counts: bool) {
        if self.arriving.pop_if(|(_, of)| *of == number).is_some() {
            if lane == self.all.len() {
                let (opens, free_since) = (Nanos::ZERO, Nanos::ZERO);
                self.all.push(Lane { opens, free_since, holds: None, first: None });
            }
        } else if self.all[lane].first.take().is_none() {
            self.next += 1;
        }
        self.all[lane].holds = Some(number);
        self.started += u64::from(counts);
    }
}

impl Rules {
    /// Returns how many instances there are at the most; `None` where something else ends the run.
    ///
    /// Without any limit each trace is sent once; an open loop never sends one twice.
    pub(super) fn instances(&self) -> Option<u64> {
        let once = u64::try_from(self.supply.draws.pass_length()).unwrap_or(u64::MAX);
        let is_open_loop = self.supply.arrivals.is_some();
        let ends = self.limits.duration.is_some() || self.limits.requests.is_some();
        match self.limits.sessions {
            Some(sessions) if is_open_loop => Some(sessions.min(once)),
            Some(sessions) => Some(sessions),
            None if is_open_loop || !ends => Some(once),
            None => None,
        }
    }
}

impl Core {
    /// Returns the next instant at which a lane starts an instance, on the machine's clock.
    pub(super) fn next_start(&self) -> Option<Nanos> {
        self.upcoming().map(|(at, ..)| at)
    }

    /// Starts instances in lanes whose time has come. Nobody waits for a lane longer than it is free, and the schedule of an open
    /// loop does not move when lanes hold it back.
    pub(super) fn fill(&mut self, clocked: Nanos) {
        while let Some((at, lane, number)) = self.upcoming().filter(|(at, ..)| *at <= clocked) {
            let counts = matches!(self.stage, Stage::Running { .. });
            let is_first = self.lanes.all.get(lane).is_some_and(|lane| lane.first.is_some());
            self.lanes.take(lane, number, counts);
            let tree = self.rules.supply.draws.trace(number);
            let topology = &self.topologies[tree];
            let mut instance = Instance::new(tree, lane, at, topology.len());
            let window = self.rules.supply.windows.get(lane).copied();
            if let Some(window) = window.filter(|_| is_first) {
                instance.begin_at(window, topology);
            }
            self.instances.insert(number, instance);
            self.arm_all(number);
            self.settle(number, at);
        }
    }

    /// Returns the lane that starts an instance next, when, and the number of the instance.
    fn upcoming(&self) -> Option<(Nanos, usize, u64)> {
        let most = match self.stage {
            Stage::Running { .. } => self.rules.instances(),
            Stage::Pressing { .. } => None,
            Stage::Priming | Stage::Draining { .. } | Stage::Closing { .. } | Stage::Over => {
                return None;
            }
        };
        self.lanes.next(most)
    }
}
