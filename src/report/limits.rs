//! What a job says beforehand of every run of it.

use crate::deployment::{Backend, ContextLength, WorkerRole, Workers};
use crate::measure::{Limits, Offered};
use crate::plan::SimulationJob;
use crate::units::Tokens;
use crate::workload::Corpus;

/// Returns what the laws need to know of a job; `corpus` is its trace where it has one.
pub fn limits(job: &SimulationJob, corpus: Option<&Corpus>) -> Limits {
    let offered =
        job.workload.requests(corpus).map(|requests| match job.workload.stop.virtual_time {
            None => Offered::All(requests),
            Some(_) => Offered::AtMost(requests),
        });
    Limits { context_length: Some(longest_sequence(job)), offered }
}

/// Returns the longest sequence that a request of the job may reach.
pub(super) fn context_length(job: &SimulationJob) -> Tokens {
    match job.deployment.context_length {
        ContextLength::Max => Tokens::new(job.model_context_limit),
        ContextLength::Tokens(tokens) => tokens,
        ContextLength::Unlimited => Tokens::new(u64::MAX),
    }
}

/// Returns the length at which a request's output ends before it is complete: the context limit, and with TensorRT-LLM, which
/// promises each request its blocks to the end, the whole KV pool of a rank.
///
/// Source: spec/SIMULATION.md §2.5.
fn longest_sequence(job: &SimulationJob) -> Tokens {
    let context = context_length(job);
    if job.deployment.backend != Backend::Trtllm {
        return context;
    }
    let (role, kv_cache) = match &job.deployment.workers {
        Workers::Aggregated(worker) => (WorkerRole::Aggregated, &worker.kv_cache),
        Workers::Disaggregated { decode, .. } => (WorkerRole::Decode, &decode.kv_cache),
    };
    let bytes_per_token = job.kv_bytes_per_token(role, kv_cache);
    let blocks = kv_cache.capacity.stated_blocks(kv_cache.block_size, Some(bytes_per_token));
    blocks.map_or(context, |blocks| context.min(blocks.tokens(kv_cache.block_size)))
}
