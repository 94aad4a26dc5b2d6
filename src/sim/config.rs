//! What a job states, as the engine needs it.

use crate::deployment::{Backend, ContextLength, Worker, WorkerRole, Workers};
use crate::plan::SimulationJob;
use crate::units::SimTime;

use super::engine::vllm::{self, Policy};
use super::engine::{Advance, RankConfig};
use super::error::Unsupported;
use super::lacking::{deployment, unsupported};
use super::runtime::PoolConfig;
use super::worker::Shape;

/// What a job states, as the engine needs it.
#[derive(Debug, Clone)]
pub(crate) struct EngineConfig {
    /// The workers: aggregated, or prefill and then decode.
    pub(crate) pools: Vec<PoolConfig>,
    /// The soft cut.
    pub(crate) cut: Option<SimTime>,
}

/// Returns the engine's view of a job.
///
/// # Errors
/// The first [`Unsupported`] of [`unsupported`].
pub(crate) fn engine_config(
    job: &SimulationJob,
    advance: Advance,
) -> Result<EngineConfig, Unsupported> {
    if let Some(lacking) = unsupported(job).into_iter().next() {
        return Err(lacking);
    }
    let cut = job.workload.stop.virtual_time;
    let advance = if cut.is_some() { Advance::Each } else { advance };
    let Workers::Aggregated(worker) = &job.deployment.workers else {
        return Err(deployment("mode `disaggregated`"));
    };
    Ok(EngineConfig { pools: vec![pool(job, WorkerRole::Aggregated, worker, advance)?], cut })
}

/// Returns the pool of one role.
fn pool(
    job: &SimulationJob,
    role: WorkerRole,
    worker: &Worker,
    advance: Advance,
) -> Result<PoolConfig, Unsupported> {
    Ok(PoolConfig {
        role,
        workers: worker.parallelism.replicas,
        shape: Shape {
            ranks_per_worker: worker.parallelism.attention_data as usize,
            prefill_interval: u64::from(worker.scheduler.prefill_schedule_interval.max(1)),
        },
        gpus_per_worker: worker.parallelism.gpus_per_worker(),
        rank: rank(job, worker, advance)?,
    })
}

/// Returns the settings of each rank of a worker.
fn rank(job: &SimulationJob, worker: &Worker, advance: Advance) -> Result<RankConfig, Unsupported> {
    let kv_cache = &worker.kv_cache;
    let bytes_per_token = job.kv_bytes_per_token(kv_cache);
    let blocks = kv_cache
        .capacity
        .stated_blocks(kv_cache.block_size, Some(bytes_per_token))
        .ok_or_else(|| deployment("a KV capacity that is not stated"))?;
    let limit = match job.deployment.context_length {
        ContextLength::Max => Some(job.model_context_limit),
        ContextLength::Tokens(tokens) => Some(tokens.get()),
        ContextLength::Unlimited => None,
    };
    Ok(RankConfig::Vllm(vllm::RankConfig {
        policy: match job.deployment.backend {
            Backend::Vllm | Backend::Sglang => Policy::Optimistic,
            Backend::Trtllm => Policy::GuaranteedNoEvict,
        },
        budget: worker.scheduler.max_batched_tokens.get(),
        max_running: worker.scheduler.max_sequences,
        block_size: kv_cache.block_size.get(),
        blocks: blocks.get(),
        context_limit: limit,
        chunked_prefill: job.deployment.enable_chunked_prefill.unwrap_or(true),
        prefix_caching: kv_cache.prefix_caching,
        preemption: worker.scheduler.preemption,
        advance,
    }))
}
