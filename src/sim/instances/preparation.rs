//! What puts into the caches what history would have left there.
//!
//! Each lane sends, one after the other, its primers and then ten more with the same prompts, all for one token. Once all have
//! completed and the engines have nothing left, the instances begin. Source: spec/SIMULATION.md §9.8.

use crate::record::{Outcome, PreparationRecord, PreparingRecord, RequestRecord};
use crate::sim::error::SimError;
use crate::sim::traffic::Turn;
use crate::units::{SimTime, Tokens};

use super::{Cuts, Instance};

/// How many requests a lane sends behind its primers.
pub(super) const WARMUPS: usize = 10;

/// A lane while it prepares.
#[derive(Debug)]
struct Lane {
    slot: u64,
    /// Its requests: those not sent yet are from the first on.
    requests: std::ops::Range<usize>,
    is_waiting: bool,
    /// When its last request ended.
    ready: SimTime,
}

/// The preparation of the first instances.
#[derive(Debug)]
pub(super) struct Preparation {
    lanes: Vec<Lane>,
    requests: Vec<PreparingRecord>,
    lane_of: Vec<usize>,
    in_flight: usize,
    /// Why it cannot succeed any more.
    failure: Option<String>,
    ended: Option<SimTime>,
}

impl Preparation {
    /// Returns the preparation of instances, in the order of their lanes.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for an instance of which nothing is left.
    pub(super) fn new<'i>(
        cuts: &Cuts<'_>,
        instances: impl Iterator<Item = &'i Instance>,
    ) -> Result<Self, SimError> {
        let mut preparation = Self {
            lanes: Vec::new(),
            requests: Vec::new(),
            lane_of: Vec::new(),
            in_flight: 0,
            failure: None,
            ended: None,
        };
        for (lane, instance) in instances.enumerate() {
            let first = preparation.requests.len();
            let prompts = prompts(cuts, instance)?;
            let primers = instance.primers.iter().map(|node| (*node, true));
            let repeats = prompts.iter().cycle().take(WARMUPS).map(|node| (*node, false));
            for ((node, is_primer), ordinal) in primers.chain(repeats).zip(0..) {
                preparation.lane_of.push(lane);
                preparation.requests.push(PreparingRecord {
                    instance: lane,
                    ordinal,
                    is_primer,
                    node,
                    input: Tokens::ZERO,
                    sent: SimTime::ZERO,
                    admitted: None,
                    reused: Tokens::ZERO,
                    ended: SimTime::ZERO,
                });
            }
            preparation.lanes.push(Lane {
                slot: instance.identity.slot,
                requests: first..preparation.requests.len(),
                is_waiting: false,
                ready: SimTime::ZERO,
            });
        }
        Ok(preparation)
    }

    /// Returns when the preparation was over.
    pub(super) const fn ended(&self) -> Option<SimTime> {
        self.ended
    }

    /// Returns when the next request is ready, or `None` where one must end first.
    pub(super) fn next_ready(&self) -> Option<SimTime> {
        if self.failure.is_some() {
            return None;
        }
        let can = |lane: &&Lane| !lane.is_waiting && !lane.requests.is_empty();
        self.lanes.iter().filter(can).map(|lane| lane.ready).min()
    }

    /// Releases the next request that is ready at `now`: that of the lowest lane.
    pub(super) fn release(&mut self, cuts: &Cuts<'_>, now: SimTime) -> Option<(Turn, SimTime)> {
        if self.failure.is_some() {
            return None;
        }
        let can =
            |lane: &&mut Lane| !lane.is_waiting && !lane.requests.is_empty() && lane.ready <= now;
        let lane = self.lanes.iter_mut().find(can)?;
        let at = lane.requests.next()?;
        lane.is_waiting = true;
        self.in_flight += 1;
        let request = &mut self.requests[at];
        request.sent = now;
        let number = u32::try_from(at + 1).expect("ten requests a lane and its primers");
        Some((Turn { session: cuts.number(lane.slot, request.node), number }, lane.ready))
    }

    /// Notes that a request ended.
    pub(super) fn end(&mut self, at: usize, outcome: Outcome, (output, now): (u32, SimTime)) {
        self.requests[at].ended = now;
        self.in_flight -= 1;
        let lane = &mut self.lanes[self.lane_of[at]];
        lane.is_waiting = false;
        lane.ready = now;
        if self.failure.is_none() && (outcome != Outcome::Completed || output != 1) {
            let (word, lane) = (outcome.name(), self.lane_of[at]);
            self.failure = Some(format!("a request that warms lane {lane} up was {word}"));
        }
    }

    /// Takes what a request saw of its admission.
    pub(super) fn admitted(&mut self, at: usize, record: &RequestRecord) {
        let request = &mut self.requests[at];
        request.input = record.input;
        request.admitted = record.admissions.first().map(|admission| admission.at);
        request.reused = record.reused_first();
    }

    /// Ends the preparation where all has been sent and has ended; returns whether it did. The engines have nothing.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where a request did not complete.
    pub(super) fn finish(&mut self, now: SimTime) -> Result<bool, SimError> {
        if self.in_flight > 0 {
            return Ok(false);
        }
        if let Some(failure) = &self.failure {
            return Err(SimError::bad_workload(failure));
        }
        if self.lanes.iter().any(|lane| !lane.requests.is_empty()) {
            return Ok(false);
        }
        self.ended = Some(now);
        Ok(true)
    }

    /// Returns what it did.
    pub(super) fn record(self) -> PreparationRecord {
        PreparationRecord { ended: self.ended.unwrap_or(SimTime::ZERO), requests: self.requests }
    }
}

/// Returns the prompts that a lane repeats: its primers', else that of the first request that is left.
fn prompts(cuts: &Cuts<'_>, instance: &Instance) -> Result<Vec<usize>, SimError> {
    if !instance.primers.is_empty() {
        return Ok(instance.primers.clone());
    }
    let start = |node: usize| cuts.plays().nodes()[node].recorded_ms.0;
    let left = instance.requests.iter().filter(|request| !request.is_history);
    let first = left.map(|request| request.node).min_by(|a, b| start(*a).total_cmp(&start(*b)));
    first.map(|node| vec![node]).ok_or_else(|| SimError::bad_workload("a snapshot leaves nothing"))
}
