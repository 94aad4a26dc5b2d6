//! A job as the reference crate's `ReplaySpec`: everything is stated, so that no default of the engine decides anything. The one
//! exception is `async_scheduling` of vLLM, which nightly 92 has and turns on: there is no word for it, and an upgrade to 92 must show it.
//!
//! What versions before 0.13.0 do not know is stated only where it says something. Source: spec/SIMULATION.md §2.1, §11.

use serde_json::{Map, Value, json};

use crate::deployment::{KvTransfer, TransferTiming, Worker, WorkerRole, Workers};
use crate::plan::SimulationJob;
use crate::workload::Load;

use super::rank::rank;

/// Returns the specification of a job with these requests.
pub(super) fn spec(job: &SimulationJob, requests: &[Value]) -> Value {
    let mut spec = json!({
        "version": 1,
        "topology": topology(job),
        "engine": engine(job),
        "adapters": {
            "placement": {"provider": "round_robin", "config": null},
            "scaling": {"provider": "none", "config": null},
        },
        "record_per_request": true,
        "requests": requests,
    });
    if let Load::Concurrency { concurrency } = job.workload.load {
        spec["max_in_flight"] = json!(concurrency);
    }
    if let Some(cut) = job.workload.stop.virtual_time {
        spec["max_sim_time_ms"] = json!(cut.as_ms());
    }
    spec
}

/// Returns how workers are pooled.
fn topology(job: &SimulationJob) -> Value {
    let pool = |worker: &Worker| {
        json!({
            "initial_workers": worker.parallelism.replicas,
            "startup_delay_ms": worker.startup_seconds * 1000.0,
        })
    };
    match &job.deployment.workers {
        Workers::Aggregated(worker) => json!({"kind": "aggregated", "workers": pool(worker)}),
        Workers::Disaggregated { prefill, decode } => json!({
            "kind": "disaggregated",
            "prefill": pool(prefill),
            "decode": pool(decode),
            "handoff_latency_ms": job.deployment.kv_transfer.unwrap_or_default().fallback_latency_ms,
        }),
    }
}

/// Returns the engine's roles.
fn engine(job: &SimulationJob) -> Value {
    let mut engine = match &job.deployment.workers {
        Workers::Aggregated(worker) => role(job, WorkerRole::Aggregated, worker),
        Workers::Disaggregated { prefill, decode } => {
            let mut engine = role(job, WorkerRole::Decode, decode);
            engine.insert("prefill".to_owned(), role(job, WorkerRole::Prefill, prefill).into());
            engine.insert("decode".to_owned(), role(job, WorkerRole::Decode, decode).into());
            engine
        }
    };
    let eviction = job.deployment.workers_by_role()[0].1.kv_cache.eviction;
    if eviction != crate::deployment::Eviction::Lru {
        engine.insert("kv_eviction_policy".to_owned(), eviction.name().into());
    }
    engine.into()
}

/// Returns a role of the engine.
fn role(job: &SimulationJob, role: WorkerRole, worker: &Worker) -> Map<String, Value> {
    let parallelism = &worker.parallelism;
    let mut rank = rank(job, role, worker);
    rank.extend(transfer(job, role));
    let mut fields = Map::from_iter([
        ("dp_size".to_owned(), json!(parallelism.attention_data)),
        ("tensor_parallel_size".to_owned(), json!(parallelism.tensor)),
        ("num_gpu_blocks_is_explicit".to_owned(), json!(true)),
        ("rank".to_owned(), rank.into()),
    ]);
    if parallelism.prefill_context != 1 {
        let ranks = json!(parallelism.prefill_context);
        fields.insert("prefill_context_parallel_size".to_owned(), ranks);
    }
    fields
}

/// Returns what a rank's link to ranks of the other role takes.
fn transfer(job: &SimulationJob, role: WorkerRole) -> Map<String, Value> {
    let transfer: KvTransfer = job.deployment.kv_transfer.unwrap_or_default();
    let (bandwidth, sends) = match role {
        WorkerRole::Aggregated => (None, false),
        WorkerRole::Prefill => (transfer.bandwidth_gb_per_second, true),
        WorkerRole::Decode => (transfer.decode_bandwidth_gb_per_second, false),
    };
    let mode = match (role, transfer.timing_mode) {
        // It sends nothing; some versions refuse the other word beside a state cache.
        (WorkerRole::Aggregated, _) | (_, TransferTiming::FullPrompt) => "full_prompt",
        (WorkerRole::Prefill | WorkerRole::Decode, TransferTiming::DestinationMissing) => {
            "destination_missing"
        }
    };
    let mut fields = Map::new();
    fields.insert("kv_transfer_timing_mode".to_owned(), mode.into());
    if let Some(rate) = bandwidth.filter(|rate| *rate > 0.0) {
        fields.insert("kv_transfer_bandwidth".to_owned(), json!(rate));
        if sends {
            let bytes = transfer.bytes_per_token.unwrap_or(job.model_prefill_kv_bytes_per_token);
            fields.insert("kv_transfer_bytes_per_token".to_owned(), json!(bytes));
        }
    }
    fields
}
