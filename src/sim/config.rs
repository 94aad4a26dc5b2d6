//! What a job states, as the engine needs it.

use crate::deployment::{Backend, KvCache, Speculation, Worker, WorkerRole, Workers};
use crate::plan::{Compat, SimulationJob};
use crate::units::{Blocks, SimTime, Tokens};
use crate::workload::Load;

use super::engine::acceptance::{DraftRule, Drafts};
use super::engine::vllm::{self, LastStop, MatchGrid, Policy};
use super::engine::{Advance, RankConfig, sglang};
use super::error::Unsupported;
use super::handoff::{Charge, Order, Pricing};
use super::lacking::{deployment, unsupported};
use super::link::Sharing;
use super::runtime::PoolConfig;
use super::tiers::TiersConfig;
use super::worker::Shape;

/// What a job states, as the engine needs it.
#[derive(Debug, Clone)]
pub(crate) struct EngineConfig {
    /// The workers: aggregated, or prefill and then decode.
    pub(crate) pools: Vec<PoolConfig>,
    /// What lies between two pools.
    pub(crate) handoff: Option<HandoffConfig>,
    /// The soft cut.
    pub(crate) cut: Option<SimTime>,
    /// The tiers behind the GPUs of an aggregated pool, where there are any.
    pub(crate) tiers: Option<TiersConfig>,
}

/// What lies between a prefill and a decode pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HandoffConfig {
    /// Which side is asked first.
    pub(crate) order: Order,
    /// What a transfer costs.
    pub(crate) pricing: Pricing,
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
    let tiers = tiers(job);
    // What a block that is taken must wait for is known request by request.
    let advance = if may_be_cut(job) || tiers.is_some() { Advance::Each } else { advance };
    Ok(match &job.deployment.workers {
        Workers::Aggregated(worker) => EngineConfig {
            pools: vec![pool(job, WorkerRole::Aggregated, worker, advance)?],
            handoff: None,
            cut,
            tiers,
        },
        Workers::Disaggregated { prefill, decode } => EngineConfig {
            pools: vec![
                pool(job, WorkerRole::Prefill, prefill, advance)?,
                pool(job, WorkerRole::Decode, decode, advance)?,
            ],
            handoff: Some(HandoffConfig {
                order: match job.deployment.backend {
                    Backend::Vllm | Backend::Trtllm => Order::SourceFirst,
                    Backend::Sglang => Order::DestinationFirst,
                },
                pricing: pricing(job),
            }),
            cut,
            tiers,
        },
    })
}

/// Returns the tiers behind the GPUs of an aggregated pool, where there are any.
fn tiers(job: &SimulationJob) -> Option<TiersConfig> {
    match &job.deployment.workers {
        Workers::Aggregated(worker) => {
            let kv_cache = &worker.kv_cache;
            let bytes = job.kv_bytes_per_token(WorkerRole::Aggregated, kv_cache);
            TiersConfig::of(kv_cache, bytes, job.engine.compat)
        }
        Workers::Disaggregated { .. } => None,
    }
}

/// Returns what a transfer costs.
fn pricing(job: &SimulationJob) -> Pricing {
    let transfer = job.deployment.kv_transfer.unwrap_or_default();
    let sending = transfer.bandwidth_gb_per_second.filter(|rate| *rate > 0.0);
    let charge = match sending {
        None => Charge::Constant(transfer.fallback_latency_ms),
        Some(gigabytes_per_second) => Charge::Bytes {
            per_token: transfer.bytes_per_token.unwrap_or(job.model_prefill_kv_bytes_per_token),
            state: 0,
            gigabytes_per_second,
        },
    };
    let receiving = match (sending, transfer.decode_bandwidth_gb_per_second) {
        (Some(sending), Some(receiving)) if receiving > 0.0 => receiving / sending,
        (_, _) => f64::INFINITY,
    };
    let sharing = match (sending, job.engine.compat) {
        (Some(_), Compat::Dev87) => Sharing::MaxMin,
        (None, _) | (_, Compat::V0_13_0) => Sharing::Alone,
    };
    let receiving = if sharing == Sharing::Alone { f64::INFINITY } else { receiving };
    Pricing { charge, tokens: transfer.timing_mode, receiving, sharing }
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
        rank: rank(job, role, worker, advance)?,
    })
}

/// Returns the blocks that the state of a request takes; 0 without states.
fn state_blocks(job: &SimulationJob, role: WorkerRole, kv_cache: &KvCache) -> u32 {
    let bytes = job.kv_bytes_per_token(role, kv_cache);
    kv_cache.state_blocks(bytes).map_or(0, |blocks| u32::try_from(blocks).unwrap_or(u32::MAX))
}

/// Returns the grid on which prefixes with their states are matched; nothing is matched without caching.
fn match_grid(job: &SimulationJob, kv_cache: &KvCache) -> Option<MatchGrid> {
    let unit = kv_cache.prefix_match_unit.filter(|_| kv_cache.prefix_caching)?;
    let stop = match job.engine.compat {
        Compat::V0_13_0 => LastStop::WithinKnown,
        Compat::Dev87 => LastStop::BelowPrompt,
    };
    Some(MatchGrid { unit, stop })
}

/// Returns the settings of each rank of a worker.
fn rank(
    job: &SimulationJob,
    role: WorkerRole,
    worker: &Worker,
    advance: Advance,
) -> Result<RankConfig, Unsupported> {
    let kv_cache = &worker.kv_cache;
    // Groups share bytes, and there are no blocks.
    let groups = kv_cache.group_bytes().map(|bytes| (kv_cache.groups.clone().into(), bytes));
    let blocks = groups.as_ref().map(|_| Blocks::new(0));
    let blocks = blocks.or_else(|| job.kv_blocks(role, kv_cache)).ok_or_else(|| {
        deployment(
            "a `default` KV capacity that was not looked up",
            "worker.*.kv-cache.capacity",
            "state the capacity as `fixed`, with blocks",
        )
    })?;
    let drafts = job.deployment.speculation.as_ref().map(|stated| drafts(job, stated));
    let advance = if drafts.is_some() { Advance::Each } else { advance };
    if job.deployment.backend == Backend::Sglang {
        let config = sglang::RankConfig::of(job, worker, role, blocks);
        let drafts = drafts.filter(|_| role != WorkerRole::Prefill);
        return Ok(RankConfig::Sglang(sglang::RankConfig { advance, drafts, ..config }));
    }
    Ok(RankConfig::Vllm(vllm::RankConfig {
        role,
        policy: match job.deployment.backend {
            Backend::Vllm | Backend::Sglang => Policy::Optimistic,
            Backend::Trtllm => Policy::GuaranteedNoEvict,
        },
        budget: worker.scheduler.max_batched_tokens.get(),
        max_running: worker.scheduler.max_sequences,
        block_size: kv_cache.block_size.get(),
        blocks: blocks.get(),
        context_limit: job.context_limit().map(Tokens::get),
        chunked_prefill: role == WorkerRole::Decode
            || job.deployment.enable_chunked_prefill.unwrap_or(true),
        prefix_caching: kv_cache.prefix_caching,
        preemption: worker.scheduler.preemption,
        advance: if kv_cache.refuses_running() { Advance::Each } else { advance },
        keeps_gaps: may_be_cut(job) || kv_cache.refuses_running(),
        drafts,
        has_host: kv_cache.host_offload.is_some(),
        state_blocks: state_blocks(job, role, kv_cache),
        match_grid: match_grid(job, kv_cache),
        groups,
    }))
}

/// Returns how a job's engine speculates.
fn drafts(job: &SimulationJob, stated: &Speculation) -> Drafts {
    let rule = match (job.deployment.backend, job.engine.compat) {
        (Backend::Vllm, Compat::Dev87) => DraftRule::Budgeted,
        (Backend::Vllm, Compat::V0_13_0) | (Backend::Sglang | Backend::Trtllm, _) => {
            DraftRule::EveryForward
        }
    };
    Drafts::new(&stated.acceptance_rates, stated.seed, rule)
}

/// Returns whether a run may end while requests are in flight: at a virtual time, or at the end of a measured window's grace.
fn may_be_cut(job: &SimulationJob) -> bool {
    let has_window = match &job.workload.load {
        Load::Recorded(load) => load.profile.is_some(),
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::TraceTimestamps { .. } => false,
    };
    has_window || job.workload.stop.virtual_time.is_some()
}
