//! What DynoSim adds to a summary where its estimators priced passes or sized KV pools.

use serde_json::{Map, Value, json};

use crate::deployment::{Capacity, Eviction};
use crate::pin::Dtype;
use crate::plan::SimulationJob;

/// Writes what is known about power: of measured tables that nothing of their time is covered by energy, else nothing at all.
pub(super) fn write_power(job: &SimulationJob, fields: &mut Map<String, Value>) {
    let is_tabled = !job.pools.is_empty() && job.pools.iter().all(|pool| pool.table.is_some());
    let coverage = if is_tabled { json!(0.0) } else { Value::Null };
    let mut diagnostics = json!({
        "coverage_gate": 0.9,
        "energy_unit": "W-ms",
        "latency_unit": "ms",
        "phases": [],
        "power_coverage": coverage,
        "power_w": null,
        "power_w_unit": "W",
        "publication_status": if is_tabled { "withheld" } else { "unsupported" },
        "schema_version": "1.0",
        "scope": "active_forward_pass_per_gpu",
    });
    if !is_tabled {
        diagnostics["unavailable_reason"] =
            json!("one or more replay roles have no timing provider");
    }
    fields.insert("power_w".to_owned(), Value::Null);
    fields.insert("power_coverage".to_owned(), coverage);
    fields.insert("power_diagnostics".to_owned(), diagnostics);
}

/// Writes the number format of each KV pool that an estimator sized which prices its passes as well.
pub(super) fn write_kv_precision(job: &SimulationJob, fields: &mut Map<String, Value>) {
    let mut roles = Map::new();
    for (role, worker) in job.deployment.workers_by_role() {
        let is_sized = matches!(worker.kv_cache.capacity, Capacity::Default { .. });
        let pool = job.pool(role).filter(|pool| is_sized && pool.table.is_some());
        if let Some(dtype) = pool.and_then(|pool| pool.kv_dtype) {
            let word = match dtype {
                Dtype::Bf16 => "bfloat16",
                Dtype::Fp16 => "float16",
                Dtype::Fp4 => "fp4",
                Dtype::Fp8 => "fp8",
                Dtype::Int8 => "int8",
                Dtype::Tf32 => "tf32",
            };
            let precision = json!({ "dtype": word, "source": "aisimulate_policy" });
            roles.insert(role.name().to_owned(), precision);
        }
    }
    if !roles.is_empty() {
        fields.insert("kv_cache_precision".to_owned(), Value::Object(roles));
    }
}

/// Writes what the state of a request's recurrent layers takes, for each role that keeps such.
pub(super) fn write_state_cache(job: &SimulationJob, fields: &mut Map<String, Value>) {
    let mut roles = Map::new();
    for (role, worker) in job.deployment.workers_by_role() {
        let cache = &worker.kv_cache;
        let bytes = job.kv_bytes_per_token(role, cache);
        if let (Some(state), Some(blocks)) = (cache.state_cache, cache.state_blocks(bytes)) {
            let block_size = u64::from(cache.block_size.get());
            let described = json!({
                "allocated_bytes_per_request": blocks * block_size * bytes,
                "block_size": block_size,
                "bytes_per_request": state.bytes_per_request,
                "kv_bytes_per_token": bytes,
                "source": "overridden",
                "state_blocks": blocks,
            });
            roles.insert(role.name().to_owned(), described);
        }
    }
    if !roles.is_empty() {
        fields.insert("state_cache".to_owned(), Value::Object(roles));
    }
}

/// Writes how blocks are evicted, where that is not the order of release, and what it takes for known.
pub(super) fn write_eviction(job: &SimulationJob, fields: &mut Map<String, Value>) {
    let workers = job.deployment.workers_by_role();
    let policies = workers.iter().map(|(_, worker)| worker.kv_cache.eviction);
    if let Some(policy) = policies.into_iter().find(|policy| *policy != Eviction::Lru) {
        fields.insert("kv_eviction_policy".to_owned(), policy.name().into());
        fields.insert("kv_eviction_assumption".to_owned(), policy.assumption().into());
    }
}
