//! Inter-token latency and per-user throughput: every gap between consecutive tokens, pooled.
//!
//! DynoSim takes both percentiles from a sketch with 0.1 % relative error; here they are exact by the same rank.

use crate::record::Gaps;

use super::distribution::{Distribution, Weighted};

/// Returns the gaps in milliseconds.
pub(super) fn latencies(gaps: &Gaps) -> Distribution {
    let mut samples = Vec::new();
    gaps.each_ms(|value, count| samples.push(Weighted { value, count }));
    Distribution::weighted(samples)
}

/// Returns the tokens a second of each gap above 0.
pub(super) fn throughputs(gaps: &Gaps) -> Distribution {
    let mut samples = Vec::new();
    gaps.each_ms(|gap, count| {
        if gap > 0.0 {
            samples.push(Weighted { value: 1000.0 / gap, count });
        }
    });
    Distribution::weighted(samples)
}
