//! Percentiles by nearest rank: always a value that was observed.

use crate::units::Nanos;

/// A percentile that reports state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Percentile {
    /// The median.
    P50,
    /// Three quarters.
    P75,
    /// Nine tenths.
    P90,
    /// 95 of 100.
    P95,
    /// 99 of 100.
    P99,
}

impl Percentile {
    /// Returns how many of 100.
    pub const fn of_hundred(self) -> u64 {
        match self {
            Self::P50 => 50,
            Self::P75 => 75,
            Self::P90 => 90,
            Self::P95 => 95,
            Self::P99 => 99,
        }
    }

    /// Returns the 1-based rank among `count` ascending samples: `ceil(p · count / 100)`, at least 1.
    ///
    /// Source: docs/metrics.md#percentiles.
    fn rank(self, count: u64) -> u64 {
        let product = u128::from(self.of_hundred()) * u128::from(count);
        u64::try_from(product.div_ceil(100)).unwrap_or(count).max(1)
    }
}

/// Returns the percentile of a multiset given as ascending distinct values with counts, or `None` when it is empty.
pub(super) fn nearest_rank(sorted: &[(Nanos, u64)], percentile: Percentile) -> Option<Nanos> {
    let rank = percentile.rank(sorted.iter().map(|(_, count)| count).sum());
    let mut seen = 0_u64;
    sorted.iter().find_map(|(value, count)| {
        seen += count;
        (seen >= rank).then_some(*value)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Percentile; 5] =
        [Percentile::P50, Percentile::P75, Percentile::P90, Percentile::P95, Percentile::P99];

    fn each_once(values: &[u64]) -> Vec<(Nanos, u64)> {
        values.iter().map(|value| (Nanos::new(*value), 1)).collect()
    }

    #[test]
    fn ten_to_a_hundred_has_p99_at_its_largest() {
        let values = each_once(&[10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(nearest_rank(&values, Percentile::P99), Some(Nanos::new(100)));
        assert_eq!(nearest_rank(&values, Percentile::P50), Some(Nanos::new(50)));
        let three = each_once(&[10, 20, 30]);
        assert_eq!(nearest_rank(&three, Percentile::P99), Some(Nanos::new(30)));
        assert_eq!(nearest_rank(&three, Percentile::P50), Some(Nanos::new(20)));
    }

    #[test]
    fn none_one_and_equal_samples_have_their_only_answer() {
        for percentile in ALL {
            assert_eq!(nearest_rank(&[], percentile), None);
            assert_eq!(nearest_rank(&each_once(&[7]), percentile), Some(Nanos::new(7)));
            assert_eq!(nearest_rank(&[(Nanos::new(7), 9)], percentile), Some(Nanos::new(7)));
        }
    }

    proptest! {
        #[test]
        fn nearest_rank_agrees_with_counting_in_a_flat_list(
            runs in prop::collection::btree_map(0_u64..1000, 1_u64..20, 1..50)
        ) {
            let weighted: Vec<_> = runs.iter().map(|(value, count)| (Nanos::new(*value), *count)).collect();
            let flat: Vec<u64> = runs
                .iter()
                .flat_map(|(value, count)| std::iter::repeat_n(*value, usize::try_from(*count).expect("small")))
                .collect();
            for percentile in ALL {
                // The smallest value with at least p percent of all samples at or below it.
                let naive = flat
                    .iter()
                    .copied()
                    .find(|value| {
                        let at_or_below = flat.iter().filter(|other| *other <= value).count() as u64;
                        at_or_below * 100 >= percentile.of_hundred() * flat.len() as u64
                    });
                prop_assert_eq!(nearest_rank(&weighted, percentile).map(Nanos::get), naive);
            }
        }
    }
}
