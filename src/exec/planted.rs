//! Known perturbations of an engine, planted so that a comparison can prove that it sees them.

use crate::deployment::{
    Backend, Capacity, Eviction, KvCache, Preemption, Timing, Worker, WorkerRole, Workers,
};
use crate::plan::SimulationJob;
use crate::record::{RequestRecord, RunRecord};
use crate::sim::{Options, Unsupported};
use crate::units::Blocks;
use crate::workload::Corpus;

use super::{Executor, JobError};

/// A known perturbation: each is what a careless change of an engine does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Perturbation {
    /// Every part of a pass takes a nanosecond longer. Planted where the timing is `fixed`.
    NanosecondMore,
    /// Every rank has one KV block less.
    BlockLess,
    /// The request that was admitted first gives way when memory lacks, instead of the last. Planted on vLLM, which has the choice.
    FifoForLifo,
    /// The last request is lost.
    RequestDropped,
}

/// One nanosecond in milliseconds.
const NANOSECOND_MS: f64 = 1e-6;

impl Perturbation {
    /// Every perturbation.
    pub const ALL: [Self; 4] =
        [Self::NanosecondMore, Self::BlockLess, Self::FifoForLifo, Self::RequestDropped];

    /// Returns the word of verdicts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NanosecondMore => "nanosecond-more",
            Self::BlockLess => "block-less",
            Self::FifoForLifo => "fifo-for-lifo",
            Self::RequestDropped => "request-dropped",
        }
    }

    /// Returns what it does, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::NanosecondMore => "each part of a pass takes a nanosecond more",
            Self::BlockLess => "each rank has one KV block less",
            Self::FifoForLifo => "the request admitted first gives way, not the last",
            Self::RequestDropped => "the last request is lost",
        }
    }

    /// Returns whether an engine with this perturbation could answer a job otherwise.
    pub fn touches(self, job: &SimulationJob) -> bool {
        self == Self::RequestDropped || self.plant(job).is_some()
    }

    /// Returns the job that an engine with this perturbation would run in place of `job`; `None` where it would run the same.
    fn plant(self, job: &SimulationJob) -> Option<SimulationJob> {
        let mut planted = job.clone();
        let is_planted = match &mut planted.deployment.workers {
            Workers::Aggregated(worker) => self.plant_worker(job, WorkerRole::Aggregated, worker),
            Workers::Disaggregated { prefill, decode } => {
                let of_prefill = self.plant_worker(job, WorkerRole::Prefill, prefill);
                self.plant_worker(job, WorkerRole::Decode, decode) || of_prefill
            }
        };
        is_planted.then_some(planted)
    }

    /// Plants into the workers of one role and says whether anything changed.
    fn plant_worker(self, job: &SimulationJob, role: WorkerRole, worker: &mut Worker) -> bool {
        match self {
            Self::NanosecondMore => slow_down(&mut worker.timing),
            Self::BlockLess => take_a_block(job, role, &mut worker.kv_cache),
            Self::FifoForLifo => {
                turn_around(job.deployment.backend, &mut worker.scheduler.preemption)
            }
            Self::RequestDropped => false,
        }
    }
}

/// Adds a nanosecond to both parts of a pass, where they are stated.
fn slow_down(timing: &mut Timing) -> bool {
    match timing {
        Timing::Fixed { prefill_ms, decode_ms } => {
            *prefill_ms += NANOSECOND_MS;
            *decode_ms += NANOSECOND_MS;
            true
        }
        Timing::Default | Timing::Polynomial | Timing::Table { .. } | Timing::Roofline(_) => false,
    }
}

/// Turns around who gives way, on the backend that has a choice.
fn turn_around(backend: Backend, preemption: &mut Preemption) -> bool {
    let is_lifo = backend == Backend::Vllm && *preemption == Preemption::Lifo;
    if is_lifo {
        *preemption = Preemption::Fifo;
    }
    is_lifo
}

/// Takes a block from a cache, where one is left then. Groups of layers share bytes and have no blocks of the whole.
fn take_a_block(job: &SimulationJob, role: WorkerRole, kv_cache: &mut KvCache) -> bool {
    let blocks = job.kv_blocks(role, kv_cache).map_or(0, Blocks::get);
    let is_whole = kv_cache.groups.is_empty() && kv_cache.eviction == Eviction::Lru;
    if blocks < 2 || !is_whole {
        return false;
    }
    kv_cache.capacity = Capacity::Blocks(Blocks::new(blocks - 1));
    true
}

/// An engine with a perturbation planted into it.
pub struct Planted<'a> {
    /// The engine.
    pub engine: &'a dyn Executor,
    /// What is planted.
    pub perturbation: Perturbation,
}

impl std::fmt::Debug for Planted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planted").field("perturbation", &self.perturbation).finish_non_exhaustive()
    }
}

impl Executor for Planted<'_> {
    fn unsupported(&self, job: &SimulationJob) -> Vec<Unsupported> {
        let planted = self.perturbation.plant(job);
        self.engine.unsupported(planted.as_ref().unwrap_or(job))
    }

    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        let planted = self.perturbation.plant(job);
        let mut record = self.engine.run(planted.as_ref().unwrap_or(job), corpus, options)?;
        match self.perturbation {
            Perturbation::RequestDropped => drop_last(&mut record),
            Perturbation::NanosecondMore | Perturbation::BlockLess | Perturbation::FifoForLifo => {}
        }
        Ok(record)
    }
}

/// Loses the last request of a record.
fn drop_last(record: &mut RunRecord) {
    let kept = record.requests.len().saturating_sub(1);
    let requests: Vec<RequestRecord> =
        record.requests.iter().take(kept).map(std::borrow::Cow::into_owned).collect();
    record.requests = requests.into();
}
