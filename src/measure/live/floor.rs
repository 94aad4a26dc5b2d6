//! How many samples a live percentile needs.

use crate::measure::{Percentile, Statistic};

/// Returns the least number of samples by which a live statistic is stated; one where it needs no more.
///
/// Below it, the percentile is no estimate: its value is that of a few requests. Source: docs/metrics.md#live-floors; the fewest
/// samples that put the percentile within five percentiles of its rank with 95 % confidence at p90 and p95, and within one at p99,
/// are 64, 130 and 662.
pub const fn floor(statistic: Statistic) -> u64 {
    match statistic {
        Statistic::At(Percentile::P90) => 64,
        Statistic::At(Percentile::P95) => 130,
        Statistic::At(Percentile::P99) => 662,
        Statistic::At(Percentile::P50 | Percentile::P75)
        | Statistic::Count
        | Statistic::Mean
        | Statistic::Min
        | Statistic::Max => 1,
    }
}
