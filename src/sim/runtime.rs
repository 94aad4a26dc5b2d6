//! The event loop: virtual time, and what happens in which order at one instant.
//!
//! At each instant, until nothing changes: passes that end take effect in the order of their workers, ready requests are
//! released and placed, idle workers start passes. So an arrival at the very end of a pass joins the next one.
//! Source: spec/SIMULATION.md §1.2–1.7.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use crate::record::{Gaps, Outcome, PoolUse, RequestRecord, RunRecord};
use crate::units::{Blocks, Nanos, SimTime, Tokens};

use super::config::EngineConfig;
use super::engine::{Arrival, Rank, Served};
use super::error::SimError;
use super::kv::Census;
use super::options::Options;
use super::router::RoundRobin;
use super::ticket::Ticket;
use super::timing::PassTiming;
use super::traffic::{Ended, Traffic};
use super::transcript::EventLog;
use super::worker::{IdleWorkers, Start, Workers};

/// How many steps (instants and passes) lie between two looks at the stop flag.
const LOOK_EVERY: u64 = 4096;

/// One job while it runs.
#[derive(Debug)]
pub(crate) struct Runtime<'a> {
    config: EngineConfig,
    timing: &'a dyn PassTiming,
    options: Options<'a>,
    traffic: Traffic<'a>,
    router: RoundRobin,
    workers: Workers,
    now: SimTime,
    /// Ends of passes: time, then worker.
    ends: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Idle workers that may have work, lowest first.
    idle: IdleWorkers,
    /// Idle workers whose last pass did nothing: they wait for another event.
    parked: Vec<usize>,
    log: EventLog,
    records: Vec<RequestRecord>,
    gaps: Gaps,
    last_terminal: SimTime,
    committed_prefill: Tokens,
    passes: u64,
    in_flight: u64,
    steps: u64,
}

impl<'a> Runtime<'a> {
    /// Returns a job that has not started.
    pub(crate) fn new(
        config: EngineConfig,
        timing: &'a dyn PassTiming,
        traffic: Traffic<'a>,
        log: EventLog,
        options: Options<'a>,
    ) -> Self {
        let count = config.workers as usize;
        let workers = Workers::new(config.rank, count, config.shape);
        Self {
            timing,
            options,
            traffic,
            router: RoundRobin::new(count, config.shape.ranks_per_worker),
            now: SimTime::ZERO,
            ends: BinaryHeap::new(),
            idle: IdleWorkers::new(count),
            parked: Vec::new(),
            log,
            records: Vec::new(),
            gaps: Gaps::default(),
            last_terminal: SimTime::ZERO,
            committed_prefill: Tokens::ZERO,
            passes: 0,
            in_flight: 0,
            steps: 0,
            workers,
            config,
        }
    }

    /// Runs to the end, or to the cut.
    ///
    /// # Errors
    /// [`SimError`] when nothing can happen any more, a pass has no time, or someone asked to stop.
    pub(crate) fn run(mut self) -> Result<RunRecord, SimError> {
        loop {
            self.settle()?;
            if self.traffic.is_done() {
                break;
            }
            let next = self.next_instant().ok_or_else(|| self.dead_end())?;
            if self.config.cut.is_some_and(|cut| next > cut) {
                break;
            }
            assert!(next >= self.now, "bug: the clock went back from {:?} to {next:?}", self.now);
            self.now = reportable(next)?;
            self.step()?;
        }
        Ok(self.finish())
    }

    /// Counts a step; now and then says how far the run is, and stops it where someone asked.
    ///
    /// # Errors
    /// [`SimError::Interrupted`] where someone asked to stop.
    fn step(&mut self) -> Result<(), SimError> {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK_EVERY) { self.look_up() } else { Ok(()) }
    }

    /// Returns the next time at which something happens.
    fn next_instant(&self) -> Option<SimTime> {
        let end = self.ends.peek().map(|Reverse((at, _))| *at);
        match (end, self.traffic.next_ready()) {
            (Some(end), Some(ready)) => Some(end.min(ready)),
            (end, ready) => end.or(ready),
        }
    }

    /// Does all that happens at the current instant.
    fn settle(&mut self) -> Result<(), SimError> {
        loop {
            let ended = self.end_passes()?;
            let released = self.release_requests()?;
            let started = self.start_passes()?;
            if !ended && !released && !started {
                return Ok(());
            }
        }
    }

    /// Lets the passes that end now take effect, in the order of their workers.
    fn end_passes(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        while let Some(Reverse((at, worker))) = self.ends.peek().copied() {
            if at > self.now {
                break;
            }
            self.ends.pop();
            self.end_pass(worker)?;
            changed = true;
        }
        Ok(changed)
    }

    /// Lets the pass of one worker take effect, rank by rank.
    fn end_pass(&mut self, worker: usize) -> Result<(), SimError> {
        for index in 0..self.workers.taking_part(worker).len() {
            let rank = self.workers.taking_part(worker)[index];
            self.log.ended(rank, self.workers.ranks()[rank].formed());
            let settled = self.workers.rank(rank).complete();
            self.committed_prefill += settled.committed_prefill;
            for served in settled.terminals {
                self.end_request(rank, served)?;
            }
        }
        self.workers.end(worker);
        if self.workers.is_ready(worker) {
            self.idle.insert(worker);
        }
        Ok(())
    }

    /// Records a request that ended and lets its session go on.
    fn end_request(&mut self, rank: usize, served: Served) -> Result<(), SimError> {
        let outcome = served.outcome.expect("a request that leaves a rank has an outcome");
        let held = self.workers.ranks()[rank].held();
        self.log.terminal(rank, self.now, &served, held);
        self.in_flight -= 1;
        self.last_terminal = self.now;
        self.traffic.end_turn(
            served.ticket.turn,
            Ended {
                at: self.now,
                outcome,
                content: served.content.runs(),
                output: served.content.output_run(narrow(served.output)),
            },
        )?;
        if outcome == Outcome::Completed {
            for (gap, count) in &served.gaps {
                self.gaps.add(*gap, *count);
            }
        }
        self.record(rank, served, Some(self.now));
        Ok(())
    }

    /// Adds the record of a request.
    fn record(&mut self, rank: usize, served: Served, terminal: Option<SimTime>) {
        let sessions = self.traffic.sessions();
        let (session, row) = sessions.name(served.ticket.turn);
        self.records.push(RequestRecord {
            index: served.ticket.request,
            session,
            turn: served.ticket.turn.number,
            line: row.map(|row| row.line),
            request_id: row.and_then(|row| row.request_id.clone()),
            arrival: served.ticket.arrival,
            input: Tokens::new(u64::from(served.content.prompt_tokens())),
            requested_output: Tokens::new(served.requested),
            output: Tokens::new(served.output),
            rank: u32::try_from(rank).ok(),
            admissions: served.admissions,
            first_token: served.first_token,
            second_token: served.second_token,
            last_token: served.last_token,
            terminal,
            outcome: served.outcome,
        });
    }

    /// Releases the requests that are ready and places each on a rank.
    fn release_requests(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        while let Some(released) = self.traffic.release(self.now)? {
            let request = self.traffic.sessions().index(released.turn);
            let ticket = Ticket { request, turn: released.turn, arrival: released.arrival };
            let rank = self.router.place();
            let arrival = Arrival { ticket, content: released.content, output: released.output };
            self.workers.rank(rank).submit(arrival);
            self.in_flight += 1;
            let worker = self.workers.of_rank(rank);
            if self.workers.is_ready(worker) {
                self.idle.insert(worker);
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Starts a pass on every idle worker that can make one, lowest first.
    fn start_passes(&mut self) -> Result<bool, SimError> {
        for worker in self.parked.drain(..) {
            self.idle.insert(worker);
        }
        let mut changed = false;
        while let Some(worker) = self.idle.pop_first() {
            match self.workers.start(worker, self.now, self.timing)? {
                Start::Nothing => {}
                Start::NoEffect => self.parked.push(worker),
                Start::Until(end) => {
                    changed = true;
                    reportable(end)?;
                    self.step()?;
                    self.note_passes(worker);
                    if end > self.now {
                        self.ends.push(Reverse((end, worker)));
                    } else {
                        self.end_pass(worker)?;
                    }
                }
            }
        }
        Ok(changed)
    }

    /// Notes the passes that a worker's ranks have started.
    fn note_passes(&mut self, worker: usize) {
        for rank in self.workers.taking_part(worker) {
            self.passes += 1;
            self.log.started(*rank, self.workers.ranks()[*rank].formed());
        }
    }

    /// Says how far the run is, and stops it where someone asked.
    fn look_up(&self) -> Result<(), SimError> {
        if self.options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(SimError::Interrupted);
        }
        if let Some(progress) = self.options.progress {
            progress.set(Nanos::from(self.now).get(), self.records.len() as u64);
        }
        Ok(())
    }

    /// Returns why nothing can happen any more.
    fn dead_end(&self) -> SimError {
        let stuck = self.workers.ranks().iter().enumerate().find(|(_, rank)| rank.has_work());
        let reason = stuck.map_or_else(
            || "no rank has work".to_owned(),
            |(index, rank)| {
                format!(
                    "rank {index} has {} waiting and {} running requests and no pass that does anything: the head needs more KV blocks than the {} there are, or more tokens than a pass may compute",
                    rank.waiting(),
                    rank.running(),
                    rank.capacity(),
                )
            },
        );
        SimError::DeadEnd { at_ms: self.now.as_ms(), unfinished: self.in_flight, reason }
    }

    /// Turns the finished or cut run into its record.
    fn finish(mut self) -> RunRecord {
        let ranks = self.workers.ranks();
        let peak = ranks.iter().map(Rank::peak_held).max().unwrap_or(0);
        let census = ranks.iter().map(Rank::census).fold(Census::default(), Census::and);
        let ranks_in_all = ranks.len() as u64;
        let preemptions = ranks.iter().map(Rank::preemptions).sum();
        for rank in 0..ranks.len() {
            let held_here = self.workers.ranks()[rank].held();
            for served in self.workers.rank(rank).cut() {
                self.log.terminal(rank, self.now, &served, held_here);
                self.record(rank, served, None);
            }
            for (gap, count) in self.workers.rank(rank).take_gaps().into_sorted() {
                self.gaps.add(gap, count);
            }
        }
        self.records.sort_by_key(|record| record.index);
        RunRecord {
            requests: self.records,
            duration: self.last_terminal,
            ended_at: self.now,
            gaps: self.gaps,
            committed_prefill: self.committed_prefill,
            passes: self.passes,
            pools: vec![PoolUse {
                pool: "agg",
                gpus_per_worker: self.config.gpus_per_worker,
                workers: self.workers.count() as u64,
                blocks_per_rank: Blocks::new(self.config.rank.blocks()),
                ranks: ranks_in_all,
                blocks_held_at_end: Blocks::new(census.held),
                blocks_cached_at_end: Blocks::new(census.cached),
                blocks_free_at_end: Blocks::new(census.free),
                blocks_held_peak: Blocks::new(peak),
                preemptions,
            }],
            transcript: self.log.finish(),
            warnings: Vec::new(),
        }
    }
}

/// Returns an instant that a report can hold.
///
/// # Errors
/// [`SimError::ClockOverflow`] for one of 2^64 ns and more.
fn reportable(at: SimTime) -> Result<SimTime, SimError> {
    match Nanos::from_ms(at.as_ms()) {
        Ok(_) => Ok(at),
        Err(_) => Err(SimError::ClockOverflow { at_ms: at.as_ms() }),
    }
}

/// Returns an output's length as 32 bits.
fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).expect("decoders refuse outputs of 2^32 tokens and more")
}
