//! Workers: ranks that run their passes in step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::units::SimTime;

use super::engine::{Cadence, Rank, RankConfig, Retry, Round};
use super::error::SimError;
use super::timing::PassTiming;

/// How often a pass without effect is tried again at once for a restore; more is a loop. Source: spec/SIMULATION.md §1.6.
const MOST_RESTORES: u32 = 1024;

/// The workers of a pool and their ranks, counted over all workers.
#[derive(Debug)]
pub(crate) struct Workers {
    ranks: Vec<Rank>,
    ranks_per_worker: usize,
    /// A worker's passes compute prompts at every so many passes; 1 is always.
    prefill_interval: u64,
    state: Vec<State>,
}

/// The state of one worker.
#[derive(Debug, Clone, Default)]
struct State {
    /// Passes since the worker last was empty.
    wave: u64,
    /// The ranks that take part in the pass in flight; empty while idle.
    taking_part: Vec<usize>,
}

/// What the ranks of a worker formed together.
#[derive(Debug, Clone, Copy)]
struct Formation {
    end: SimTime,
    has_effect: bool,
    retry: Retry,
}

/// What starting a pass came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// No rank has work, or a pass is in flight.
    Nothing,
    /// Ranks have work and could do nothing until something else happens.
    NoEffect,
    /// Ranks have work and can never do anything by themselves.
    Stuck,
    /// A pass that ends at this time.
    Until(SimTime),
}

impl Workers {
    /// Returns idle workers.
    pub(crate) fn new(config: &RankConfig, workers: usize, shape: Shape) -> Self {
        let count = workers * shape.ranks_per_worker;
        Self {
            ranks: (0..count).map(|number| Rank::new(config.clone(), number)).collect(),
            ranks_per_worker: shape.ranks_per_worker,
            prefill_interval: shape.prefill_interval,
            state: vec![State::default(); workers],
        }
    }

    /// Returns how many workers there are.
    pub(crate) fn count(&self) -> usize {
        self.state.len()
    }

    /// Returns the worker of a rank.
    pub(crate) fn of_rank(&self, rank: usize) -> usize {
        rank / self.ranks_per_worker
    }

    /// Returns all ranks.
    pub(crate) fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Returns a rank.
    pub(crate) fn rank(&mut self, rank: usize) -> &mut Rank {
        &mut self.ranks[rank]
    }

    /// Returns at every how many passes a worker computes prompts.
    #[cfg(test)]
    pub(crate) fn prefill_interval(&self) -> u64 {
        self.prefill_interval
    }

    /// Returns whether a pass of the worker is in flight.
    pub(crate) fn is_busy(&self, worker: usize) -> bool {
        !self.state[worker].taking_part.is_empty()
    }

    /// Returns whether a worker could start a pass.
    pub(crate) fn is_ready(&self, worker: usize) -> bool {
        self.state[worker].taking_part.is_empty()
            && self.ranks[self.range(worker)].iter().any(Rank::has_work)
    }

    /// Starts a pass on every rank of a worker that has work. All of them end with the slowest.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(crate) fn start(
        &mut self,
        worker: usize,
        now: SimTime,
        timing: &dyn PassTiming,
    ) -> Result<Start, SimError> {
        if !self.is_ready(worker) {
            return Ok(Start::Nothing);
        }
        let mut tries = 0;
        let end = loop {
            let formation = self.form(worker, now, timing)?;
            self.state[worker].wave += 1;
            if formation.has_effect {
                break formation.end;
            }
            self.state[worker].taking_part.clear();
            for rank in self.range(worker) {
                self.ranks[rank].pass_over(now);
            }
            tries += 1;
            match formation.retry {
                Retry::Restore if tries == MOST_RESTORES => return Err(endless(now)),
                Retry::Again | Retry::Restore if self.is_ready(worker) => {}
                Retry::Again | Retry::Restore => return Ok(Start::Nothing),
                Retry::Stuck => return Ok(Start::Stuck),
                Retry::Park => return Ok(Start::NoEffect),
            }
        };
        for index in 0..self.state[worker].taking_part.len() {
            let rank = self.state[worker].taking_part[index];
            self.ranks[rank].wait_until(end);
        }
        Ok(Start::Until(end))
    }

    /// Lets every rank of a worker that has work form a pass.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    fn form(
        &mut self,
        worker: usize,
        now: SimTime,
        timing: &dyn PassTiming,
    ) -> Result<Formation, SimError> {
        let cadence = if self.state[worker].wave.is_multiple_of(self.prefill_interval) {
            Cadence::Open
        } else {
            Cadence::Decode
        };
        let mut formation = Formation { end: now, has_effect: false, retry: Retry::Park };
        let mut round = Round::default();
        for rank in self.range(worker) {
            if !self.ranks[rank].has_work() {
                continue;
            }
            self.ranks[rank].form(now, cadence, timing)?;
            let formed = self.ranks[rank].formed();
            formation.end = formation.end.max(formed.end);
            formation.has_effect |= formed.has_effect(now);
            formation.retry = match (formation.retry, formed.retry) {
                (Retry::Again, _) | (_, Retry::Again) => Retry::Again,
                (Retry::Restore, _) | (_, Retry::Restore) => Retry::Restore,
                (retry, Retry::Park) | (_, retry @ Retry::Stuck) => retry,
            };
            round.extends |= formed.round.extends;
            round.forwards |= formed.round.forwards;
            self.state[worker].taking_part.push(rank);
        }
        for rank in self.range(worker) {
            self.ranks[rank].end_round(round);
        }
        Ok(formation)
    }

    /// Returns the ranks whose pass is in flight on a worker.
    pub(crate) fn taking_part(&self, worker: usize) -> &[usize] {
        &self.state[worker].taking_part
    }

    /// Takes the ranks of the pass that ends on a worker, which is idle from here on.
    pub(crate) fn take_part(&mut self, worker: usize) -> Vec<usize> {
        std::mem::take(&mut self.state[worker].taking_part)
    }

    /// Ends the pass of a worker; the caller has completed its ranks and gives their list back for the next pass.
    pub(crate) fn end(&mut self, worker: usize, mut taking_part: Vec<usize>) {
        taking_part.clear();
        self.state[worker].taking_part = taking_part;
        self.reset_wave(worker);
    }

    /// Starts the count of passes anew where the worker has nothing left.
    pub(crate) fn reset_wave(&mut self, worker: usize) {
        if self.ranks[self.range(worker)].iter().all(Rank::is_drained) {
            self.state[worker].wave = 0;
        }
    }

    /// Returns the ranks of a worker.
    pub(crate) fn range(&self, worker: usize) -> Range<usize> {
        worker * self.ranks_per_worker..(worker + 1) * self.ranks_per_worker
    }
}

/// Returns that restores come to no end at one instant.
fn endless(now: SimTime) -> SimError {
    let reason = "a restore from the storage tier does not come to an end".to_owned();
    SimError::DeadEnd { at_ms: now.as_ms(), unfinished: 0, reason, advice: None }
}

/// Workers that may have work, each once, lowest first.
#[derive(Debug)]
pub(crate) struct IdleWorkers {
    order: BinaryHeap<Reverse<usize>>,
    is_in: Vec<bool>,
}

impl IdleWorkers {
    /// Returns none of `workers` workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self { order: BinaryHeap::new(), is_in: vec![false; workers] }
    }

    /// Adds a worker, if it is not in.
    pub(crate) fn insert(&mut self, worker: usize) {
        if !std::mem::replace(&mut self.is_in[worker], true) {
            self.order.push(Reverse(worker));
        }
    }

    /// Takes the lowest.
    pub(crate) fn pop_first(&mut self) -> Option<usize> {
        let Reverse(worker) = self.order.pop()?;
        self.is_in[worker] = false;
        Some(worker)
    }
}

/// How a worker is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Attention data parallelism: ranks of a worker; at least 1.
    pub(crate) ranks_per_worker: usize,
    /// A worker's passes compute prompts at every so many passes; at least 1.
    pub(crate) prefill_interval: u64,
}
