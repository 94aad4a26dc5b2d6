//! The measured window: when requests are sent, when lanes take their next instance, and when waits are cut short.

use std::cmp::Reverse;

use crate::record::{IdleShift, Outcome, ProfileRecord};
use crate::sim::error::SimError;
use crate::units::{SimDuration, SimTime};
use crate::workload::Profile;

use super::Beginning;
use super::schedule::{Instances, State};

/// The measured window.
#[derive(Debug)]
pub(super) struct Window {
    asked: Profile,
    began: Option<SimTime>,
    /// When lanes were directed last.
    last: SimTime,
    /// Whether requests are sent no more.
    has_closed: bool,
    /// The next play of the recording to draw, counted on and on.
    cursor: u64,
    /// The instance of each lane, and how many the lane has had.
    lanes: Vec<(usize, u64)>,
    /// How many instances have begun at one instant.
    begun: (SimTime, u64),
    /// Since when each instance has nothing in flight, and all together.
    resting: Vec<Option<SimTime>>,
    all_resting: Option<SimTime>,
    record: Counts,
}

/// What happened in it.
#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    completed: u64,
    canceled: u64,
    never_sent: u64,
    first_sent: Option<SimTime>,
    last_completed: Option<SimTime>,
    shifts: Vec<IdleShift>,
}

impl Window {
    /// Returns a window that has not begun; instance n is that of lane n.
    pub(super) fn new(asked: Profile, lanes: u32) -> Self {
        let count = usize::try_from(lanes).unwrap_or(usize::MAX);
        Self {
            asked,
            began: None,
            last: SimTime::ZERO,
            has_closed: false,
            cursor: u64::from(lanes),
            lanes: (0..count).map(|lane| (lane, 1)).collect(),
            begun: (SimTime::ZERO, 0),
            resting: vec![None; count],
            all_resting: None,
            record: Counts::default(),
        }
    }

    /// Lets it begin.
    pub(super) fn open(&mut self, now: SimTime) {
        self.began = Some(now);
        self.last = now;
        self.resting.fill(Some(now));
        self.all_resting = Some(now);
    }

    /// Returns the instant so many milliseconds after the beginning.
    fn after(&self, ms: f64) -> Option<SimTime> {
        Some(later(self.began?, ms))
    }

    fn cutoff(&self) -> Option<SimTime> {
        self.after(self.asked.duration_ms)
    }

    fn grace_end(&self) -> Option<SimTime> {
        self.after(self.asked.duration_ms + self.asked.grace_ms)
    }

    /// Returns whether requests are sent no more.
    pub(super) fn is_closed(&self, now: SimTime) -> bool {
        self.cutoff().is_some_and(|cutoff| now >= cutoff)
    }

    /// Returns whether its end has been noted.
    pub(super) const fn has_closed(&self) -> bool {
        self.has_closed
    }

    /// Returns whether what is in flight is given up.
    pub(super) fn gives_up(&self, now: SimTime) -> bool {
        self.grace_end().is_some_and(|end| now >= end)
    }

    /// Returns how many plays were drawn.
    pub(super) const fn drawn(&self) -> u64 {
        self.cursor
    }

    /// Notes that a request of an instance was sent.
    pub(super) fn sent(&mut self, run: usize, now: SimTime) {
        self.record.sent += 1;
        self.record.first_sent.get_or_insert(now);
        self.resting[run] = None;
        self.all_resting = None;
    }

    /// Notes that a request ended.
    pub(super) fn ended(&mut self, outcome: Outcome, at: SimTime) {
        match outcome {
            Outcome::Completed => {
                self.record.completed += 1;
                self.record.last_completed = Some(at);
            }
            Outcome::Canceled => self.record.canceled += 1,
            Outcome::Rejected | Outcome::Failed => {}
        }
    }

    /// Notes that an instance, or all together, has nothing in flight.
    pub(super) fn rests(&mut self, run: Option<usize>, at: SimTime) {
        match run {
            Some(run) => self.resting[run] = Some(at),
            None => self.all_resting = Some(at),
        }
    }

    /// Returns what happened in it.
    pub(super) fn record(self, drawn: u64, finished: SimTime) -> ProfileRecord {
        let counts = self.record;
        ProfileRecord {
            asked: self.asked,
            began: self.began.unwrap_or(SimTime::ZERO),
            finished,
            sent: counts.sent,
            completed: counts.completed,
            canceled: counts.canceled,
            never_sent: counts.never_sent,
            first_sent: counts.first_sent,
            last_completed: counts.last_completed,
            drawn,
            shifts: counts.shifts,
        }
    }
}

impl Instances<'_> {
    /// Returns when lanes have to be directed next though no request ends.
    pub(super) fn next_control(&self) -> Option<SimTime> {
        let window = self.window.as_ref()?;
        if window.has_closed {
            return window.grace_end();
        }
        let over = window.lanes.iter().map(|(run, _)| &self.runs[*run]).filter(|run| run.is_over);
        if let Some(at) = over.map(|run| run.ended.unwrap_or(window.last)).min() {
            return Some(at.max(window.last));
        }
        let has_waits = |run: &usize| {
            let requests = self.runs[*run].requests.clone();
            requests.into_iter().any(|request| self.requests[request].state == State::Ready)
        };
        let waiting: Vec<usize> =
            window.lanes.iter().map(|(run, _)| *run).filter(has_waits).collect();
        let trees = waiting.iter().filter_map(|run| window.resting[*run]);
        let trees = trees.map(|since| later(since, window.asked.tree_idle_cap_ms));
        let all = window.all_resting.filter(|_| !waiting.is_empty());
        let all = all.map(|since| later(since, window.asked.global_idle_cap_ms));
        let caps = trees.chain(all).map(|at| at.max(window.last));
        caps.chain(window.cutoff()).min()
    }

    /// Directs the lanes of an open window; returns whether that may release a request.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where lanes run through the recording in no time.
    pub(super) fn advance(&mut self, now: SimTime) -> Result<bool, SimError> {
        let Some(window) = &mut self.window else { return Ok(false) };
        window.last = now;
        if window.is_closed(now) {
            return Ok(self.close(now));
        }
        let lanes = window.lanes.clone();
        let mut changed = false;
        for (lane, (run, ordinal)) in lanes.into_iter().enumerate() {
            if self.runs[run].is_over {
                self.begin_next(lane, ordinal, now)?;
                changed = true;
            }
        }
        Ok(self.cut_waits(now) || changed)
    }

    /// Sends nothing more: what has not been sent never is.
    fn close(&mut self, now: SimTime) -> bool {
        let Some(window) = &mut self.window else { return false };
        if std::mem::replace(&mut window.has_closed, true) {
            return false;
        }
        let left: Vec<usize> = (0..self.requests.len())
            .filter(|at| matches!(self.requests[*at].state, State::Blocked | State::Ready))
            .collect();
        window.record.never_sent = left.len() as u64;
        for request in left {
            self.finish(request);
            let run = self.requests[request].run;
            self.runs[run].is_cut_off = true;
        }
        self.ready.clear();
        for run in 0..self.runs.len() {
            if self.runs[run].in_flight == 0 {
                self.conclude(run, now);
            }
        }
        true
    }

    /// Lets a lane begin its next instance: of the next play of the recording, from its first request.
    fn begin_next(&mut self, lane: usize, ordinal: u64, now: SimTime) -> Result<(), SimError> {
        let count = self.cuts.plays().plays().len() as u64;
        let at_most = count.saturating_mul(u64::from(self.cuts.lanes()));
        let Some(window) = &mut self.window else { return Ok(()) };
        window.begun = if window.begun.0 == now { (now, window.begun.1 + 1) } else { (now, 1) };
        if window.begun.1 > at_most {
            return Err(SimError::bad_workload(
                "lanes run through the whole recording again and again in no time",
            ));
        }
        let play = usize::try_from(window.cursor % count).unwrap_or(usize::MAX);
        window.cursor += 1;
        window.lanes[lane] = (self.runs.len(), ordinal + 1);
        window.resting.push(Some(now));
        let lane = u32::try_from(lane).expect("lanes are counted by 32 bits");
        let instance = self.cuts.instance((lane, ordinal), Some(play), Beginning::First)?;
        self.begin(instance, now)
    }

    /// Cuts waits short where nothing has been in flight for too long: of each instance, then of all together.
    fn cut_waits(&mut self, now: SimTime) -> bool {
        let Some(window) = &self.window else { return false };
        let cap_ms = window.asked.tree_idle_cap_ms;
        let has_rested = |since: Option<SimTime>, cap_ms: f64| {
            since.is_some_and(|since| now >= later(since, cap_ms))
        };
        let resting: Vec<usize> = window
            .lanes
            .iter()
            .map(|(run, _)| *run)
            .filter(|run| has_rested(window.resting[*run], cap_ms))
            .collect();
        let all = has_rested(window.all_resting, window.asked.global_idle_cap_ms);
        let mut changed = false;
        for run in resting {
            changed |= self.shift(Some(run), now);
        }
        if all {
            changed |= self.shift(None, now);
        }
        changed
    }

    /// Moves the waits of an instance, or of all, forward together, so that the first is over now.
    fn shift(&mut self, only: Option<usize>, now: SimTime) -> bool {
        let Some(window) = &self.window else { return false };
        let runs = window.lanes.iter().map(|(run, _)| *run);
        let runs = runs.filter(|run| only.is_none_or(|only| *run == only));
        let follows = self.cuts_blocked_waits();
        let is_wait = |request: &usize| match self.requests[*request].state {
            State::Ready => true,
            // What a blocked request still waits for by the clock is a wait, too.
            State::Blocked => follows && self.requests[*request].ready > now,
            State::Released | State::Over => false,
        };
        let waits: Vec<usize> =
            runs.flat_map(|run| self.runs[run].requests.clone()).filter(is_wait).collect();
        let Some(first) = waits.iter().map(|request| self.requests[*request].ready).min() else {
            return false;
        };
        let by_ms = first.ms_since(now);
        if by_ms <= 0.0 {
            return false;
        }
        for request in &waits {
            let request = &mut self.requests[*request];
            request.ready = later(now, request.ready.ms_since(first));
        }
        let ready = std::mem::take(&mut self.ready);
        let moved = ready.into_iter().map(|Reverse((_, request))| request);
        self.ready =
            moved.map(|request| Reverse((self.requests[request].ready, request))).collect();
        if let Some(window) = &mut self.window {
            window.record.shifts.push(IdleShift {
                at: now,
                instance: only,
                by_ms,
                waits: waits.len(),
            });
        }
        true
    }
}

/// Returns the instant so many milliseconds behind another.
fn later(at: SimTime, ms: f64) -> SimTime {
    at + SimDuration::from_ms(ms.max(0.0)).unwrap_or(SimDuration::ZERO)
}
