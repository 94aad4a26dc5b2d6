//! What a job says beforehand of every run of it.

use crate::deployment::{Backend, KvCache, WorkerRole, Workers};
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
    let mut caches =
        job.deployment.workers_by_role().into_iter().map(|(_, worker)| &worker.kv_cache);
    let rejects_running = caches.any(KvCache::refuses_running);
    Limits { context_length: longest_sequence(job), offered, rejects_running }
}

/// Returns the length at which a request's output ends before it is complete: the context limit, and with TensorRT-LLM, which
/// promises each request its blocks to the end, the whole KV pool of a rank. Without either there is none.
///
/// Source: spec/SIMULATION.md §2.5.
fn longest_sequence(job: &SimulationJob) -> Option<Tokens> {
    let context = job.context_limit();
    if job.deployment.backend != Backend::Trtllm {
        return context;
    }
    let (role, kv_cache) = match &job.deployment.workers {
        Workers::Aggregated(worker) => (WorkerRole::Aggregated, &worker.kv_cache),
        Workers::Disaggregated { decode, .. } => (WorkerRole::Decode, &decode.kv_cache),
    };
    let blocks = job.kv_blocks(role, kv_cache);
    let pool = blocks.map(|blocks| blocks.tokens(kv_cache.block_size));
    [context, pool].into_iter().flatten().min()
}
