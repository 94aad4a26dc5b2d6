//! The `summary` section: every figure by name, and the pools.

use crate::digest::canonical::{Value, object};
use crate::measure::Metrics;
use crate::record::PoolUse;

/// Returns the section.
pub(super) fn summary(metrics: &Metrics, pools: &[PoolUse]) -> Value {
    let mut fields: std::collections::BTreeMap<String, Value> =
        metrics.figures().map(|(name, figure)| (name.to_string(), figure.into())).collect();
    fields.insert("pools".to_owned(), Value::List(pools.iter().map(pool).collect()));
    Value::Object(fields)
}

/// Returns the families without figures and why.
pub(super) fn absent(metrics: &Metrics) -> Value {
    let reasons = metrics.absent();
    Value::Object(
        reasons.map(|(family, why)| (family.name().to_owned(), Value::text(why.name()))).collect(),
    )
}

/// Returns what the workers of one role took.
fn pool(pool: &PoolUse) -> Value {
    object([
        ("blocks_held_at_end", Value::count(pool.blocks_held_at_end.get())),
        ("blocks_held_peak", Value::count(pool.blocks_held_peak.get())),
        ("blocks_per_rank", Value::count(pool.blocks_per_rank.get())),
        ("gpus_per_worker", Value::count(pool.gpus_per_worker)),
        ("pool", Value::text(pool.pool)),
        ("preemptions", Value::count(pool.preemptions)),
        ("workers", Value::count(pool.workers)),
    ])
}
