//! What a job states, as the engine needs it; and what this build cannot run.

use crate::deployment::{Backend, ContextLength, Planner, Router, Timing, Worker, Workers};
use crate::plan::{Part, SimulationJob};
use crate::units::SimTime;
use crate::workload::{Load, Source};

use super::engine::vllm::{Advance, Policy, RankConfig};
use super::error::Unsupported;
use super::worker::Shape;

/// What a job states, as the engine needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EngineConfig {
    /// Workers.
    pub(crate) workers: u32,
    /// How each is built.
    pub(crate) shape: Shape,
    /// GPUs of one worker.
    pub(crate) gpus_per_worker: u64,
    /// Settings of each rank.
    pub(crate) rank: RankConfig,
    /// The soft cut.
    pub(crate) cut: Option<SimTime>,
}

/// The behaviour version of this simulator.
const NATIVE_VERSION: &str = "1";

/// Says whether this build can run a job, and if not, what it lacks.
///
/// # Errors
/// [`Unsupported`] names the first thing that this build cannot simulate.
pub fn check_supported(job: &SimulationJob) -> Result<(), Unsupported> {
    if !job.engine.is_native() || job.engine.version != NATIVE_VERSION {
        let what = format!("engine `{}` version {}", job.engine.name, job.engine.version);
        return Err(Unsupported { what, part: Part::Engine });
    }
    unsupported_workload(job)?;
    unsupported_deployment(job)?;
    let Workers::Aggregated(worker) = &job.deployment.workers else {
        return Err(deployment("mode `disaggregated`"));
    };
    unsupported_worker(worker)
}

/// Returns the engine's view of a job.
///
/// # Errors
/// [`Unsupported`] as [`check_supported`].
pub(crate) fn engine_config(
    job: &SimulationJob,
    advance: Advance,
) -> Result<EngineConfig, Unsupported> {
    check_supported(job)?;
    let Workers::Aggregated(worker) = &job.deployment.workers else {
        return Err(deployment("mode `disaggregated`"));
    };
    let kv_cache = &worker.kv_cache;
    let bytes_per_token = job.kv_bytes_per_token(kv_cache);
    let blocks = kv_cache
        .capacity
        .stated_blocks(kv_cache.block_size, Some(bytes_per_token))
        .ok_or_else(|| deployment("a KV capacity that is not stated"))?;
    let limit = match job.deployment.context_length {
        ContextLength::Max => job.model_context_limit,
        ContextLength::Tokens(tokens) => tokens.get(),
    };
    Ok(EngineConfig {
        workers: worker.parallelism.replicas,
        shape: Shape {
            ranks_per_worker: worker.parallelism.attention_data as usize,
            prefill_interval: u64::from(worker.scheduler.prefill_schedule_interval.max(1)),
        },
        gpus_per_worker: worker.parallelism.gpus_per_worker(),
        rank: RankConfig {
            policy: match job.deployment.backend {
                Backend::Vllm | Backend::Sglang => Policy::Optimistic,
                Backend::Trtllm => Policy::GuaranteedNoEvict,
            },
            budget: worker.scheduler.max_batched_tokens.get(),
            max_running: worker.scheduler.max_sequences,
            block_size: kv_cache.block_size.get(),
            blocks: blocks.get(),
            context_limit: Some(limit),
            chunked_prefill: job.deployment.enable_chunked_prefill.unwrap_or(true),
            prefix_caching: kv_cache.prefix_caching,
            preemption: worker.scheduler.preemption,
            advance: if job.workload.stop.virtual_time.is_some() { Advance::Each } else { advance },
        },
        cut: job.workload.stop.virtual_time,
    })
}

/// Returns something of the deployment that this build cannot run.
fn deployment(what: &str) -> Unsupported {
    Unsupported { what: what.to_owned(), part: Part::Deployment }
}

/// Refuses workloads that this build cannot run.
fn unsupported_workload(job: &SimulationJob) -> Result<(), Unsupported> {
    let workload = |what: &str| Err(Unsupported { what: what.to_owned(), part: Part::Workload });
    match &job.workload.source {
        Source::Graph { .. } => return workload("a `graph` workload"),
        Source::SyntheticSession(shape) if shape.prefix_groups > 0 => {
            return workload("`synthetic-session` with `prefix-groups`");
        }
        Source::Trace { .. } | Source::Synthetic(_) | Source::SyntheticSession(_) => {}
    }
    if job.workload.select.is_some() {
        return workload("`select`");
    }
    match job.workload.load {
        Load::Recorded(_) => workload("load `recorded`"),
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::TraceTimestamps { .. } => Ok(()),
    }
}

/// Refuses deployment-wide settings that this build cannot run.
fn unsupported_deployment(job: &SimulationJob) -> Result<(), Unsupported> {
    match job.deployment.backend {
        Backend::Vllm | Backend::Trtllm => {}
        Backend::Sglang => return Err(deployment("backend `sglang`")),
    }
    if job.deployment.speculation.is_some() {
        return Err(deployment("`speculation`"));
    }
    if job.deployment.kv_transfer.is_some() {
        return Err(deployment("`kv-transfer`"));
    }
    match job.deployment.router {
        Router::RoundRobin => {}
        Router::Kv { .. } => return Err(deployment("router `kv-router`")),
    }
    match job.deployment.planner {
        Planner::Disabled => Ok(()),
        Planner::Enabled(_) => Err(deployment("planner `enabled`")),
    }
}

/// Refuses worker settings that this build cannot run.
fn unsupported_worker(worker: &Worker) -> Result<(), Unsupported> {
    let kv_cache = &worker.kv_cache;
    let lacking = [
        (worker.scheduler.prefill_decode_interval > 0, "`prefill-decode-interval` above 0"),
        (kv_cache.host_offload.is_some(), "`host-offload`"),
        (kv_cache.storage_offload.is_some(), "`storage-offload`"),
        (kv_cache.state_cache.is_some(), "`state-cache`"),
        (kv_cache.prefix_match_unit.is_some(), "`prefix-match-unit`"),
        (
            kv_cache.capacity.stated_blocks(kv_cache.block_size, Some(1)).is_none(),
            "a `default` KV capacity",
        ),
    ];
    if let Some((_, what)) = lacking.iter().find(|(lacks, _)| *lacks) {
        return Err(deployment(what));
    }
    match &worker.timing {
        Timing::Fixed { .. } | Timing::Polynomial => Ok(()),
        other @ (Timing::Default | Timing::Table { .. } | Timing::Roofline) => {
            Err(deployment(&format!("timing `{}`", other.kind())))
        }
    }
}
