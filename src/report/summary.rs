//! The `summary` section: every figure by name, and the pools.

use crate::digest::canonical::{Value, object};
use crate::measure::Metrics;
use crate::record::{HostUse, PoolUse, RunRecord, StorageIo, StorageUse, Witness};
use crate::units::{Blocks, Nanos};

/// Returns the section.
pub(super) fn summary(metrics: &Metrics, record: &RunRecord) -> Value {
    let mut fields: std::collections::BTreeMap<String, Value> =
        metrics.figures().map(|(name, figure)| (name.to_string(), figure.into())).collect();
    fields.insert(
        "pools".to_owned(),
        Value::List(record.pools.iter().map(|it| pool(it, record.witness)).collect()),
    );
    fields.extend(record.host.map(|tier| ("host_tier".to_owned(), host(tier))));
    fields.extend(record.storage.map(|tier| ("storage_tier".to_owned(), storage(&tier))));
    Value::Object(fields)
}

/// Returns the families without figures and why.
pub(super) fn absent(metrics: &Metrics) -> Value {
    let reasons = metrics.absent();
    Value::Object(
        reasons.map(|(family, why)| (family.name().to_owned(), Value::text(why.name()))).collect(),
    )
}

/// Returns what the workers of one role took; of blocks only what was seen.
fn pool(pool: &PoolUse, witness: Witness) -> Value {
    let seen = |blocks: Blocks| witness.is_whole().then(|| Value::count(blocks.get()));
    object([
        ("blocks_per_rank", Value::count(pool.blocks_per_rank.get())),
        ("gpus_per_worker", Value::count(pool.gpus_per_worker)),
        ("pool", Value::text(pool.pool)),
        ("preemptions", Value::count(pool.preemptions)),
        ("workers", Value::count(pool.workers)),
    ])
    .with("blocks_held_at_end", seen(pool.blocks_held_at_end))
    .with("blocks_held_peak", seen(pool.blocks_held_peak))
}

/// Returns what the host tier held at the end.
fn host(tier: HostUse) -> Value {
    object([
        ("blocks", Value::count(tier.blocks)),
        ("blocks_resident", Value::count(tier.blocks_resident)),
        ("blocks_used", Value::count(tier.blocks_used)),
        ("is_shared", Value::Bool(tier.is_shared)),
    ])
}

/// Returns what the storage tier did.
fn storage(tier: &StorageUse) -> Value {
    object([
        ("blocks_pending", Value::count(tier.pending_blocks)),
        ("blocks_resident", Value::count(tier.resident_blocks)),
        ("bypassed_restores", Value::count(tier.bypassed_restores)),
        ("cross_worker_read_blocks", Value::count(tier.cross_worker_read_blocks)),
        ("evictions", Value::count(tier.evictions)),
        ("lookup_hits", Value::count(tier.lookup_hits)),
        ("lookup_pending", Value::count(tier.lookup_pending)),
        ("lookup_probes", Value::count(tier.lookup_probes)),
        ("read", io(tier.read)),
        ("write", io(tier.write)),
    ])
}

/// Returns the transfers of one direction.
fn io(io: StorageIo) -> Value {
    // A sum of times that the event loop has passed is one that it could pass.
    let transfer = Nanos::from_ms(io.transfer_ms).unwrap_or(Nanos::new(u64::MAX));
    object([
        ("completed_bytes", Value::count(io.completed_bytes)),
        ("completed_jobs", Value::count(io.completed_jobs)),
        ("submitted_jobs", Value::count(io.submitted_jobs)),
        ("transfer_ns", transfer.into()),
    ])
}
