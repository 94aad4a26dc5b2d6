//! Inter-token latency and per-user throughput: every gap between consecutive tokens, pooled.
//!
//! DynoSim takes both percentiles from a sketch with 0.1 % relative error; here they are exact by the same rank.

use crate::record::Gaps;

use super::distribution::{Distribution, Weighted};

/// Returns the gaps in milliseconds, and the tokens a second of each gap above 0.
pub(super) fn distributions(gaps: &Gaps) -> (Distribution, Distribution) {
    let sorted = gaps.clone().into_sorted_ms().into_iter();
    let latencies: Vec<Weighted> = sorted.map(|(value, count)| Weighted { value, count }).collect();
    let throughputs = latencies
        .iter()
        .filter(|gap| gap.value > 0.0)
        .map(|gap| Weighted { value: 1000.0 / gap.value, count: gap.count })
        .collect();
    (Distribution::weighted(latencies), Distribution::weighted(throughputs))
}
