//! The event loop: virtual time, and what happens in which order at one instant.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::deployment::WorkerRole;
use crate::record::{Gaps, Outcome, RequestRecord, RequestSorter};
use crate::sim::config::EngineConfig;
use crate::sim::engine::{Arrival, Served};
use crate::sim::error::SimError;
use crate::sim::handoff::Handoffs;
use crate::sim::instances::Directed;
use crate::sim::kv::Forecast;
use crate::sim::options::Options;
use crate::sim::ticket::Ticket;
use crate::sim::tiers::Tiers;
use crate::sim::timing::PassTiming;
use crate::sim::traffic::{Ended, Traffic};
use crate::sim::transcript::EventLog;
use crate::units::{Nanos, SimTime, Tokens};

use super::Pool;

/// How many steps (instants and passes) lie between two looks at the stop flag.
const LOOK_EVERY: u64 = 4096;

/// How often engines may do internal work at one instant; more is a loop. Source: spec/SIMULATION.md §1.3.
const MOST_INTERNAL_STEPS: u32 = 1024;

/// How many passes may preempt requests while no pass anywhere produces a token; more is a loop, in which requests take each
/// other's blocks for ever. The reference does not end there.
pub(super) const MOST_FRUITLESS_PREEMPTIONS: u32 = 10_000;

/// One job while it runs.
#[derive(Debug)]
pub(crate) struct Runtime<'a> {
    cut: Option<SimTime>,
    pub(super) options: Options<'a>,
    pub(super) traffic: Traffic<'a>,
    /// Aggregated, or prefill and then decode.
    pub(super) pools: Vec<Pool<'a>>,
    /// Requests between two pools, where there are two.
    pub(super) handoffs: Option<Handoffs>,
    /// The tiers behind the ranks of an aggregated pool, where there are any.
    pub(super) tiers: Option<Tiers>,
    pub(super) now: SimTime,
    /// Ends of passes: time, then pool, then worker.
    ends: BinaryHeap<Reverse<(SimTime, usize, usize)>>,
    pub(super) log: EventLog,
    pub(super) records: RequestSorter,
    pub(super) gaps: Gaps,
    pub(super) last_terminal: SimTime,
    /// When what is measured began: times of records are counted from there.
    pub(super) epoch: SimTime,
    /// The preemptions of each pool before that.
    pub(super) unmeasured: Vec<u64>,
    pub(super) committed_prefill: Tokens,
    pub(super) passes: u64,
    pub(super) in_flight: u64,
    /// Where records go that somebody takes while the run goes on.
    pub(super) taken: Option<Vec<RequestRecord>>,
    steps: u64,
    internal_steps: u32,
    /// Passes that preempted since one last produced a token.
    fruitless: u32,
}

impl<'a> Runtime<'a> {
    /// Returns a job that has not started; `timings` are those of the pools.
    pub(crate) fn new(
        config: &EngineConfig,
        timings: &[&'a dyn PassTiming],
        traffic: Traffic<'a>,
        log: EventLog,
        options: Options<'a>,
    ) -> Self {
        let mut pools = Vec::with_capacity(config.pools.len());
        let mut first_rank = 0;
        for (pool, timing) in config.pools.iter().zip(timings) {
            let mut made = Pool::new(pool.clone(), *timing, first_rank);
            (0..pool.ranks()).for_each(|rank| made.rank(rank).measure_gaps(options.gaps));
            pools.push(made);
            first_rank += pool.ranks();
        }
        let tiers = config.tiers.as_ref().zip(pools.first_mut()).map(|(tiers, pool)| {
            let vocabulary = traffic.sessions().vocabulary(tiers.block_size());
            Tiers::attach(tiers, pool, vocabulary)
        });
        Self {
            cut: config.cut,
            options,
            traffic,
            pools,
            handoffs: config.handoff.map(|handoff| Handoffs::new(handoff.order, handoff.pricing)),
            tiers,
            now: SimTime::ZERO,
            ends: BinaryHeap::new(),
            log,
            records: RequestSorter::default(),
            gaps: Gaps::of(options.gaps),
            last_terminal: SimTime::ZERO,
            epoch: SimTime::ZERO,
            unmeasured: Vec::new(),
            committed_prefill: Tokens::ZERO,
            passes: 0,
            in_flight: 0,
            taken: None,
            steps: 0,
            internal_steps: 0,
            fruitless: 0,
        }
    }

    /// Lets all ranks of an aggregated pool evict by what the input asks for.
    pub(crate) fn foreseeing(mut self, forecast: Option<Forecast>) -> Self {
        if let Some((forecast, pool)) = forecast.zip(self.pools.first_mut()) {
            let forecast = Rc::new(RefCell::new(forecast));
            for rank in 0..pool.ranks().len() {
                pool.rank(rank).foresee(&forecast);
            }
        }
        self
    }

    /// Runs to the end, or to the cut.
    ///
    /// # Errors
    /// [`SimError`] when nothing can happen any more, a pass has no time, or someone asked to stop.
    pub(crate) fn run(mut self) -> Result<crate::record::RunRecord, SimError> {
        loop {
            self.settle()?;
            self.probe_ranks();
            let is_done = self.traffic.is_done(self.now);
            if is_done && self.is_drained() && !self.has_unseen_passes() {
                break;
            }
            if self.traffic.is_expired(self.now) {
                break;
            }
            let next = self.next_instant().ok_or_else(|| self.dead_end())?;
            if self.cut.is_some_and(|cut| next > cut) {
                break;
            }
            assert!(next >= self.now, "bug: the clock went back from {:?} to {next:?}", self.now);
            self.now = reportable(next)?;
            self.step()?;
        }
        self.finish()
    }

    /// Counts a step; now and then says how far the run is, and stops it where someone asked.
    ///
    /// # Errors
    /// [`SimError::Interrupted`] where someone asked to stop.
    pub(super) fn step(&mut self) -> Result<(), SimError> {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK_EVERY) { self.look_up() } else { Ok(()) }
    }

    /// Returns whether no engine has a copy in flight: what a tier holds at the end is what has reached it.
    fn is_drained(&self) -> bool {
        self.tiers.is_none() || self.pools.iter().all(Pool::is_drained)
    }

    /// Returns whether passes are in flight that only let the scheduler see what is computed already.
    fn has_unseen_passes(&self) -> bool {
        !self.ends.is_empty() && self.pools.iter().any(Pool::runs_ahead)
    }

    /// Returns the next time at which something happens.
    pub(super) fn next_instant(&mut self) -> Option<SimTime> {
        let end = self.ends.peek().map(|Reverse((at, _, _))| *at);
        let deadline = self.pools.iter().filter_map(Pool::next_deadline).min();
        let transfer = self.handoffs.as_mut().and_then(Handoffs::next_event);
        [end, self.traffic.next_ready(), deadline, transfer].into_iter().flatten().min()
    }

    /// Does all that happens at the current instant.
    pub(super) fn settle(&mut self) -> Result<(), SimError> {
        self.internal_steps = 0;
        loop {
            let mut changed = self.do_internal_work()?;
            if self.end_passes()? {
                changed = true;
                self.do_internal_work()?;
            }
            changed |= self.hand_over()?;
            changed |= self.direct()?;
            if self.traffic.is_expired(self.now) {
                return Ok(());
            }
            changed |= self.release_requests()?;
            changed |= self.start_passes()?;
            if !changed {
                #[cfg(test)]
                self.show(super::watch::Moment::Settled);
                return Ok(());
            }
        }
    }

    /// Directs lanes, where there are any; returns whether that changed anything.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where they cannot go on.
    fn direct(&mut self) -> Result<bool, SimError> {
        if !self.traffic.has_instances() {
            return Ok(false);
        }
        let is_idle =
            self.in_flight == 0 && self.ends.is_empty() && self.pools.iter().all(Pool::is_drained);
        match self.traffic.direct(self.now, is_idle)? {
            Directed::Nothing => Ok(false),
            Directed::Changed => Ok(true),
            Directed::Began => {
                self.begin_to_measure();
                Ok(true)
            }
        }
    }

    /// Forgets what was measured: it was preparation.
    fn begin_to_measure(&mut self) {
        self.epoch = self.now;
        self.last_terminal = self.now;
        self.committed_prefill = Tokens::ZERO;
        self.passes = 0;
        self.unmeasured = self.pools.iter().map(|pool| pool.used().preemptions).collect();
    }

    /// Lets idle engines do what is due; returns whether one did anything.
    ///
    /// # Errors
    /// [`SimError::DeadEnd`] where that goes on and on at one instant.
    fn do_internal_work(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        while self.pools.iter_mut().fold(false, |any, pool| pool.do_internal_work(self.now) | any) {
            changed = true;
            self.internal_steps += 1;
            if self.internal_steps < MOST_INTERNAL_STEPS {
                continue;
            }
            let reason = "the internal work of an engine does not come to an end".to_owned();
            return Err(self.ended_dead(reason, None));
        }
        Ok(changed)
    }

    /// Lets the passes that end now take effect, by pool and worker.
    fn end_passes(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        while let Some(Reverse((at, pool, worker))) = self.ends.peek().copied() {
            if at > self.now {
                break;
            }
            self.ends.pop();
            self.end_pass(pool, worker)?;
            changed = true;
        }
        Ok(changed)
    }

    /// Lets the pass of one worker take effect, rank by rank.
    fn end_pass(&mut self, pool: usize, worker: usize) -> Result<(), SimError> {
        let taking_part = self.pools[pool].take_part(worker);
        for rank in self.pools[pool].workers().range(worker) {
            if let Some(handoffs) = &mut self.handoffs {
                handoffs.wake((pool, rank));
            }
            if taking_part.contains(&rank) {
                self.end_rank_pass(pool, rank)?;
            } else {
                self.pools[pool].rank(rank).pass_over(self.now);
            }
            if self.pools[pool].role() == WorkerRole::Decode {
                self.reserve_next(rank);
            }
        }
        self.pools[pool].end(worker, taking_part);
        Ok(())
    }

    /// Lets the pass of one rank take effect.
    fn end_rank_pass(&mut self, pool: usize, rank: usize) -> Result<(), SimError> {
        self.log.ended(self.pools[pool].number(rank), self.pools[pool].ranks()[rank].formed());
        let settled = self.pools[pool].rank(rank).complete();
        self.committed_prefill += settled.committed_prefill;
        for served in settled.terminals {
            self.end_request(pool, rank, served)?;
        }
        for served in settled.held {
            self.hold(rank, served);
        }
        Ok(())
    }

    /// Records a request that ended and lets its session go on.
    pub(super) fn end_request(
        &mut self,
        pool: usize,
        rank: usize,
        served: Served,
    ) -> Result<(), SimError> {
        let outcome = served.outcome.expect("a request that leaves a rank has an outcome");
        let held = self.pools[pool].ranks()[rank].held();
        self.log.terminal(self.pools[pool].number(rank), self.now, &served, held);
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
        let record = self.record(rank, served, Some(self.now));
        self.file(pool, record)?;
        Ok(())
    }

    /// Returns the record of a request.
    pub(super) fn record(
        &self,
        rank: usize,
        served: Served,
        terminal: Option<SimTime>,
    ) -> RequestRecord {
        let sessions = self.traffic.sessions();
        let (session, line) = self.traffic.name(served.ticket.turn);
        RequestRecord {
            index: served.ticket.request,
            session,
            turn: served.ticket.turn.number,
            line,
            request_id: sessions.request_id(served.ticket.turn),
            arrival: served.ticket.arrival,
            input: Tokens::new(u64::from(served.content.prompt_tokens())),
            requested_output: Tokens::new(served.requested),
            output: Tokens::new(served.output),
            rank: u32::try_from(rank).ok(),
            admissions: served.admissions,
            handoff: None,
            first_token: served.first_token,
            second_token: served.second_token,
            last_token: served.last_token,
            terminal,
            outcome: served.outcome,
            refusal: served.refusal.map(Box::new),
        }
    }

    /// Releases the requests that are ready and places each on a rank.
    fn release_requests(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        while let Some(released) = self.traffic.release(self.now)? {
            let request = self.traffic.sessions().index(released.turn);
            let ticket = Ticket { request, turn: released.turn, arrival: released.arrival };
            self.in_flight += 1;
            changed = true;
            if let Some(handoffs) = &mut self.handoffs {
                handoffs.arrive(ticket, released.content, released.output);
                continue;
            }
            let arrival = Arrival { ticket, content: released.content, output: released.output };
            let pool = &mut self.pools[0];
            let kept = self.traffic.sessions().kept_rank(released.turn);
            let rank = kept.unwrap_or_else(|| {
                pool.place(self.traffic.sessions().ranks(released.turn).serving)
            });
            self.traffic.sessions_mut().note_rank(released.turn, rank);
            pool.rank(rank).submit(arrival);
            pool.wake(rank);
        }
        Ok(changed)
    }

    /// Starts a pass on every idle worker that can make one, pool by pool and lowest first.
    fn start_passes(&mut self) -> Result<bool, SimError> {
        let mut changed = false;
        for pool in 0..self.pools.len() {
            self.pools[pool].unpark();
            while let Some((worker, end)) =
                self.pools[pool].start_next(self.now, self.options.probe)?
            {
                changed |= self.start_pass(pool, worker, end)?;
            }
            if self.pools[pool].has_dead_worker() {
                return Err(self.dead_end());
            }
        }
        Ok(changed)
    }

    /// Notes a pass that has started and ends at `end`, or that a worker with work could do nothing; returns whether that changed
    /// anything.
    fn start_pass(
        &mut self,
        pool: usize,
        worker: usize,
        end: Option<SimTime>,
    ) -> Result<bool, SimError> {
        let Some(end) = end else {
            let has_reserved = self.reserve_on_worker(pool, worker);
            if has_reserved {
                self.pools[pool].retry(worker);
            } else {
                self.pools[pool].park(worker);
            }
            return Ok(has_reserved);
        };
        reportable(end)?;
        self.step()?;
        self.note_passes(pool, worker)?;
        #[cfg(test)]
        self.show(super::watch::Moment::Formed { pool, worker });
        if end > self.now {
            self.ends.push(Reverse((end, pool, worker)));
        } else {
            self.end_pass(pool, worker)?;
        }
        Ok(true)
    }

    /// Notes the passes that a worker's ranks have started.
    ///
    /// # Errors
    /// [`SimError::DeadEnd`] where requests preempt each other for ever.
    fn note_passes(&mut self, pool: usize, worker: usize) -> Result<(), SimError> {
        let passing = &self.pools[pool];
        for rank in passing.workers().taking_part(worker) {
            let formed = passing.ranks()[*rank].formed();
            self.passes += 1;
            self.log.started(passing.number(*rank), formed);
            if formed.speculated.unwrap_or(formed.decode.requests) > 0 {
                self.fruitless = 0;
            } else if !formed.preempted.is_empty() {
                self.fruitless += 1;
            }
        }
        if self.fruitless < MOST_FRUITLESS_PREEMPTIONS {
            return Ok(());
        }
        Err(self.fruitless(pool))
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
}

/// Returns an instant that a report can hold.
///
/// # Errors
/// [`SimError::ClockOverflow`] for one of 2^64 ns and more.
pub(super) fn reportable(at: SimTime) -> Result<SimTime, SimError> {
    match Nanos::from_ms(at.as_ms()) {
        Ok(_) => Ok(at),
        Err(_) => Err(SimError::ClockOverflow { at_ms: at.as_ms() }),
    }
}

/// Returns an output's length as 32 bits.
fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).expect("decoders refuse outputs of 2^32 tokens and more")
}
