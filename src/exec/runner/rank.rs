//! A worker's ranks in the reference's terms.

use serde_json::{Map, Value, json};

use crate::deployment::{
    Backend, CacheGroup, HostOffload, KvCache, SglangScheduler, StorageOffload, Timing, Worker,
    WorkerRole,
};
use crate::plan::SimulationJob;
use crate::units::{Blocks, Tokens};

/// The name under which ranks of one pool share a host tier.
const LAYOUT: &str = "touchstone";

/// Returns a rank of a role.
pub(super) fn rank(job: &SimulationJob, role: WorkerRole, worker: &Worker) -> Map<String, Value> {
    let (scheduler, cache) = (&worker.scheduler, &worker.kv_cache);
    let unlimited = |count: u64| if count == u64::MAX { Value::Null } else { json!(count) };
    let blocks = if cache.groups.is_empty() { job.kv_blocks(role, cache) } else { None };
    let mut fields = Fields::default();
    fields.put("backend", job.deployment.backend.name());
    fields.put("worker_type", role.name());
    fields.put("num_gpu_blocks", blocks.map_or(1, Blocks::get));
    fields.put("block_size", cache.block_size.get());
    fields.put_some("max_model_len", job.context_limit().map(Tokens::get));
    fields.put("max_num_seqs", unlimited(scheduler.max_sequences));
    fields.put("max_num_batched_tokens", unlimited(scheduler.max_batched_tokens.get()));
    fields.put("enable_prefix_caching", cache.prefix_caching);
    fields.put("enable_chunked_prefill", job.deployment.enable_chunked_prefill.unwrap_or(true));
    fields.put("speedup_ratio", worker.speedup.all);
    fields.put("decode_speedup_ratio", worker.speedup.decode);
    fields.put("preemption_mode", scheduler.preemption.name());
    fields.put("timing_model", timing(&worker.timing));
    if scheduler.prefill_schedule_interval != 1 {
        fields.put("prefill_schedule_interval", scheduler.prefill_schedule_interval);
    }
    if scheduler.prefill_decode_interval != 0 {
        fields.put("prefill_decode_interval", scheduler.prefill_decode_interval);
    }
    if job.deployment.backend == Backend::Sglang {
        fields.put("sglang", sglang(&scheduler.sglang));
    }
    drafts(job, &mut fields);
    tiers(job, role, cache, &mut fields);
    fields.0
}

/// The fields of an object, in the making.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    /// Adds a field.
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Adds a field that may be absent.
    fn put_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }
}

/// Returns how long passes take; pins refuse every other kind.
fn timing(timing: &Timing) -> Value {
    match timing {
        Timing::Fixed { prefill_ms, decode_ms } => {
            json!({"type": "fixed", "prefill_ms": prefill_ms, "decode_ms": decode_ms})
        }
        Timing::Polynomial | Timing::Default | Timing::Table { .. } | Timing::Roofline(_) => {
            json!({"type": timing.kind()})
        }
    }
}

/// Returns SGLang's own settings.
fn sglang(settings: &SglangScheduler) -> Value {
    let mut fields = json!({
        "schedule_policy": settings.policy.name(),
        "max_prefill_tokens": settings.max_prefill_tokens,
        "chunked_prefill_size": settings.chunked_prefill_size,
        "clip_max_new_tokens": settings.clip_max_new_tokens,
        "schedule_conservativeness": settings.conservativeness,
    });
    if settings.host_loop {
        fields["host_loop"] = json!(true);
    }
    fields
}

/// Adds speculative decoding.
fn drafts(job: &SimulationJob, fields: &mut Fields) {
    let Some(drafts) = &job.deployment.speculation else { return };
    let rates: Vec<String> = drafts.acceptance_rates.iter().map(ToString::to_string).collect();
    fields.put("aic_nextn", drafts.tokens);
    fields.put("aic_nextn_accept_rates", rates.join(","));
    fields.put("aic_mtp_seed", drafts.seed);
}

/// Adds what the cache has beside blocks on the GPU.
fn tiers(job: &SimulationJob, role: WorkerRole, cache: &KvCache, fields: &mut Fields) {
    let needs_bytes = cache.host_offload.is_some() || cache.state_cache.is_some();
    if needs_bytes {
        fields.put("kv_cache_bytes_per_token", job.kv_bytes_per_token(role, cache));
    }
    fields.put_some("native_host_offload", cache.host_offload.as_ref().map(host));
    fields.put_some("g3_offload", cache.storage_offload.as_ref().map(storage));
    let state = cache.state_cache.map(|it| json!({"bytes_per_request": it.bytes_per_request}));
    fields.put_some("state_cache", state);
    fields.put_some("prefix_match_unit", cache.prefix_match_unit);
    if let Some(bytes) = cache.group_bytes() {
        fields.put("kv_cache_capacity_bytes", bytes);
        fields.put("kv_cache_groups", cache.groups.iter().map(group).collect::<Vec<Value>>());
    }
}

/// Returns the host tier; what versions before 0.13.0 do not know is left out where it says nothing.
fn host(tier: &HostOffload) -> Value {
    let mut fields = json!({
        "num_host_blocks": tier.blocks,
        "d2h_bandwidth_gbps": tier.d2h_gb_per_second,
        "h2d_bandwidth_gbps": tier.h2d_gb_per_second,
    });
    if tier.cluster_shared {
        fields["scope"] = json!("cluster_shared");
        fields["kv_layout_id"] = json!(LAYOUT);
        fields["shared_d2h_bandwidth_gbps"] = json!(tier.shared_d2h_gb_per_second);
        fields["shared_h2d_bandwidth_gbps"] = json!(tier.shared_h2d_gb_per_second);
    }
    if tier.latency_to_first_byte_ms > 0.0 {
        fields["latency_to_first_byte_ms"] = json!(tier.latency_to_first_byte_ms);
    }
    fields
}

/// Returns the storage tier.
fn storage(tier: &StorageOffload) -> Value {
    json!({
        "scope": if tier.cluster_shared { "cluster_shared" } else { "worker_local" },
        "num_g3_blocks": tier.blocks,
        "latency_to_first_byte_ms": tier.latency_ms,
        "read_bandwidth_gbps": tier.read_gb_per_second,
        "write_bandwidth_gbps": tier.write_gb_per_second,
        "shared_read_bandwidth_gbps": tier.shared_read_gb_per_second,
        "shared_write_bandwidth_gbps": tier.shared_write_gb_per_second,
    })
}

/// Returns a group of layers; its page is that of all its layers, which count as one.
fn group(group: &CacheGroup) -> Value {
    json!({
        "name": group.name,
        "kind": "attention",
        "num_layers": 1,
        "block_size_tokens": group.block_size.get(),
        "page_size_bytes": group.page_bytes,
        "sliding_window": group.sliding_window,
    })
}
