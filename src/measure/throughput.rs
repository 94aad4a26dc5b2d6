//! Rates over the whole run: from the start of the clock to the last terminal.

use crate::record::RunRecord;
use crate::units::{Micros6, Nanos};

/// Returns `count` over the run's duration, a second; `None` for a run without duration.
///
/// Unit: 1/s with six decimals. Source: docs/metrics.md#throughput.
pub(super) fn rate(count: u64, duration: Nanos) -> Option<Micros6> {
    Micros6::per_second(u128::from(count), duration.get())
}

/// Returns the GPUs that were there from start to end.
pub(super) fn gpus(record: &RunRecord) -> u64 {
    record.pools.iter().map(|pool| pool.gpus_per_worker * pool.workers).sum()
}

/// Returns `count` over GPU time, a second and GPU; `None` without duration or GPUs.
///
/// Source: docs/metrics.md#throughput.
pub(super) fn rate_per_gpu(count: u64, duration: Nanos, gpus: u64) -> Option<Micros6> {
    let gpu_time = u128::from(duration.get()) * u128::from(gpus);
    Micros6::ratio(u128::from(count) * 1_000_000_000, gpu_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_absent_without_time_and_divide_once() {
        let second = Nanos::new(1_000_000_000);
        assert_eq!(rate(3, Nanos::ZERO), None);
        assert_eq!(rate_per_gpu(3, second, 0), None);
        assert_eq!(rate(0, second).map(|rate| rate.to_string()).as_deref(), Some("0.000000"));
        assert_eq!(
            rate_per_gpu(2, second, 3).map(|rate| rate.to_string()).as_deref(),
            Some("0.666667")
        );
    }

    #[test]
    fn gpu_time_beyond_64_bits_is_no_missing_duration() {
        let century = Nanos::new(3_155_760_000_000_000_000);
        let rate = rate_per_gpu(3_155_760_000_000, century, 1000);
        assert_eq!(rate.map(|rate| rate.to_string()).as_deref(), Some("1.000000"));
    }
}
