//! The workers of one role: who is idle, who gets the next request, and what their passes cost.

use crate::deployment::WorkerRole;
use crate::record::PoolUse;
use crate::sim::engine::{Blocked, Rank, RankConfig, Served};
use crate::sim::error::SimError;
use crate::sim::kv::Census;
use crate::sim::probe::{Moment, Probe};
use crate::sim::router::RoundRobin;
use crate::sim::timing::PassTiming;
use crate::sim::worker::{IdleWorkers, Shape, Start, Workers};
use crate::units::{Blocks, SimTime};

/// How a pool is built.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// What its workers are for.
    pub(crate) role: WorkerRole,
    /// Workers; at least 1.
    pub(crate) workers: u32,
    /// How each is built.
    pub(crate) shape: Shape,
    /// GPUs of one worker.
    pub(crate) gpus_per_worker: u64,
    /// Settings of each rank.
    pub(crate) rank: RankConfig,
}

/// The workers of one role.
#[derive(Debug)]
pub(crate) struct Pool<'a> {
    config: PoolConfig,
    timing: &'a dyn PassTiming,
    /// The transcript's number of the first rank: ranks are counted over all pools there.
    first_rank: usize,
    workers: Workers,
    router: RoundRobin,
    /// Idle workers that may have work, lowest first.
    idle: IdleWorkers,
    /// Idle workers whose last pass did nothing: they wait for another event.
    parked: Vec<usize>,
    /// The first worker that can never go on, whatever happens.
    dead_worker: Option<usize>,
}

impl PoolConfig {
    /// Returns how many ranks all workers have.
    pub(crate) fn ranks(&self) -> usize {
        self.workers as usize * self.shape.ranks_per_worker
    }
}

impl<'a> Pool<'a> {
    /// Returns a pool of idle workers.
    pub(crate) fn new(config: PoolConfig, timing: &'a dyn PassTiming, first_rank: usize) -> Self {
        let count = config.workers as usize;
        let router = match config.role {
            WorkerRole::Aggregated => RoundRobin::new(count, config.shape.ranks_per_worker),
            // The ranks of a role's pool take turns whatever worker they belong to.
            WorkerRole::Prefill | WorkerRole::Decode => {
                RoundRobin::over_ranks(count, config.shape.ranks_per_worker)
            }
        };
        Self {
            timing,
            first_rank,
            workers: Workers::new(&config.rank, count, config.shape),
            router,
            idle: IdleWorkers::new(count),
            parked: Vec::new(),
            dead_worker: None,
            config,
        }
    }

    /// Returns whether a forward may still compute when the last token has been seen.
    pub(crate) fn runs_ahead(&self) -> bool {
        self.config.rank.runs_ahead()
    }

    /// Returns what its workers are for.
    pub(crate) fn role(&self) -> WorkerRole {
        self.config.role
    }

    /// Returns the rank of the next request; `pinned` is the one of its worker that it asks for.
    pub(crate) fn place(&mut self, pinned: Option<u32>) -> usize {
        self.router.place(pinned)
    }

    /// Returns all ranks.
    pub(crate) fn ranks(&self) -> &[Rank] {
        self.workers.ranks()
    }

    /// Returns a rank.
    pub(crate) fn rank(&mut self, rank: usize) -> &mut Rank {
        self.workers.rank(rank)
    }

    /// Returns the number of a rank in the transcript.
    pub(crate) fn number(&self, rank: usize) -> usize {
        self.first_rank + rank
    }

    /// Returns the workers.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Lets the worker of a rank start a pass at the next occasion, where it is idle and has work.
    pub(crate) fn wake(&mut self, rank: usize) {
        let worker = self.workers.of_rank(rank);
        if self.workers.is_ready(worker) {
            self.idle.insert(worker);
        }
    }

    /// Returns whether a pass of a rank's worker is in flight.
    pub(crate) fn is_busy(&self, rank: usize) -> bool {
        self.workers.is_busy(self.workers.of_rank(rank))
    }

    /// Lets a rank of an idle worker give up the KV of a prompt that it computed.
    pub(crate) fn release_source(&mut self, rank: usize, request: u64) {
        self.workers.rank(rank).release_source(request);
        self.workers.reset_wave(self.workers.of_rank(rank));
        self.wake(rank);
    }

    /// Takes the ranks of the pass that ends on a worker, which is idle from here on; [`Pool::end`] takes the list back.
    pub(crate) fn take_part(&mut self, worker: usize) -> Vec<usize> {
        self.workers.take_part(worker)
    }

    /// Notes that the pass of a worker is over.
    pub(crate) fn end(&mut self, worker: usize, taking_part: Vec<usize>) {
        self.workers.end(worker, taking_part);
        if self.workers.is_ready(worker) {
            self.idle.insert(worker);
        }
    }

    /// Lets workers whose last pass did nothing try again.
    pub(crate) fn unpark(&mut self) {
        for worker in self.parked.drain(..) {
            self.idle.insert(worker);
        }
    }

    /// Starts a pass on the lowest idle worker that has work; returns the worker and when its pass ends, `None` where it could do
    /// nothing. A probe sees what passes are formed from.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(crate) fn start_next(
        &mut self,
        now: SimTime,
        probe: Option<&Probe>,
    ) -> Result<Option<(usize, Option<SimTime>)>, SimError> {
        while let Some(worker) = self.idle.pop_first() {
            if let Some(probe) = probe {
                let ranks = self.workers.range(worker);
                ranks.for_each(|rank| self.probe(rank, Moment::BeforePass, now, probe));
            }
            match self.workers.start(worker, now, self.timing)? {
                Start::Nothing => {}
                Start::NoEffect => return Ok(Some((worker, None))),
                Start::Stuck => {
                    // Between pools, another may still free what it lacks; in one pool nobody can.
                    if self.config.role == WorkerRole::Aggregated {
                        self.dead_worker.get_or_insert(worker);
                    }
                    return Ok(Some((worker, None)));
                }
                Start::Until(end) => {
                    // A pass without effect still looks at a tier, so it is tried as often as in the reference.
                    if self.config.rank.has_deadlines() {
                        self.unpark();
                    }
                    return Ok(Some((worker, Some(end))));
                }
            }
        }
        Ok(None)
    }

    /// Lets a worker that could do nothing wait for another event.
    pub(crate) fn park(&mut self, worker: usize) {
        self.parked.push(worker);
    }

    /// Lets a worker try again at once.
    pub(crate) fn retry(&mut self, worker: usize) {
        self.idle.insert(worker);
    }

    /// Returns when an idle engine next does something by itself, as when a host transfer ends.
    ///
    /// One whose worker computes waits for the end of the pass: that is where it may act.
    pub(crate) fn next_deadline(&self) -> Option<SimTime> {
        if !self.config.rank.has_deadlines() {
            return None;
        }
        let idle = self.idle_ranks();
        idle.filter_map(|rank| self.workers.ranks()[rank].next_deadline()).min()
    }

    /// Lets idle engines do what is due by `now`, each once; returns whether one had anything to do.
    pub(crate) fn do_internal_work(&mut self, now: SimTime) -> bool {
        if !self.config.rank.has_deadlines() {
            return false;
        }
        let mut has_worked = false;
        for rank in 0..self.workers.ranks().len() {
            let is_busy = self.workers.is_busy(self.workers.of_rank(rank));
            let deadline = self.workers.ranks()[rank].next_deadline();
            if !is_busy && deadline.is_some_and(|at| at <= now) {
                self.workers.rank(rank).do_internal_work(now);
                self.workers.reset_wave(self.workers.of_rank(rank));
                self.wake(rank);
                has_worked = true;
            }
        }
        has_worked
    }

    /// Returns whether no rank has requests or copies in flight.
    pub(crate) fn is_drained(&self) -> bool {
        self.workers.ranks().iter().all(Rank::is_drained)
    }

    /// Returns the ranks whose worker is idle.
    fn idle_ranks(&self) -> impl Iterator<Item = usize> {
        let is_idle = |rank: &usize| !self.workers.is_busy(self.workers.of_rank(*rank));
        (0..self.workers.ranks().len()).filter(is_idle)
    }

    /// Returns whether a worker can never go on, whatever happens.
    pub(crate) fn has_dead_worker(&self) -> bool {
        self.dead_worker.is_some()
    }

    /// Returns the first idle rank, of a worker that can never go on where there is one, which a request keeps from doing anything:
    /// its number in the transcript, and the request.
    pub(crate) fn blocked(&self) -> Option<(usize, Blocked)> {
        let ranks = match self.dead_worker {
            Some(worker) => self.workers.range(worker),
            None => 0..self.workers.ranks().len(),
        };
        let mut idle = ranks.filter(|rank| !self.is_busy(*rank));
        idle.find_map(|rank| Some((self.number(rank), self.workers.ranks()[rank].blocked()?)))
    }

    /// Returns what the pool is called in reports.
    pub(super) fn name(&self) -> &'static str {
        match self.config.role {
            WorkerRole::Aggregated => "agg",
            WorkerRole::Prefill => "prefill",
            WorkerRole::Decode => "decode",
        }
    }

    /// Returns what the workers took.
    pub(crate) fn used(&self) -> PoolUse {
        let ranks = self.workers.ranks();
        let census = ranks.iter().map(Rank::census).fold(Census::default(), Census::and);
        PoolUse {
            pool: self.name(),
            gpus_per_worker: self.config.gpus_per_worker,
            workers: self.workers.count() as u64,
            blocks_per_rank: Blocks::new(self.config.rank.blocks()),
            ranks: ranks.len() as u64,
            blocks_held_at_end: Blocks::new(census.held),
            blocks_cached_at_end: Blocks::new(census.cached),
            blocks_free_at_end: Blocks::new(census.free),
            blocks_held_peak: Blocks::new(ranks.iter().map(Rank::peak_held).max().unwrap_or(0)),
            preemptions: ranks.iter().map(Rank::preemptions).sum(),
        }
    }

    /// Returns what is known of the requests that are still on a rank when the run is cut.
    pub(crate) fn cut(&mut self, rank: usize) -> Vec<Served> {
        self.workers.rank(rank).cut()
    }
}
