//! What is said of a set of times: how many, the mean, the extremes and percentiles.

use std::collections::BTreeMap;

use crate::units::Nanos;
use crate::units::div_half_even;

use super::percentile::{Percentile, nearest_rank};

/// What is said of a set of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// How many samples.
    Count,
    /// The mean, rounded half to even.
    Mean,
    /// The smallest.
    Min,
    /// A percentile by nearest rank.
    At(Percentile),
    /// The largest.
    Max,
}

/// A set of times that is not empty, as what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    count: u64,
    values: [Nanos; 8],
}

/// The statistics that are times, in the order of [`Distribution::values`].
const TIMES: [Statistic; 8] = [
    Statistic::Mean,
    Statistic::Min,
    Statistic::At(Percentile::P50),
    Statistic::At(Percentile::P75),
    Statistic::At(Percentile::P90),
    Statistic::At(Percentile::P95),
    Statistic::At(Percentile::P99),
    Statistic::Max,
];

impl Statistic {
    /// Every statistic.
    pub const ALL: [Self; 9] = [
        Self::Count,
        TIMES[0],
        TIMES[1],
        TIMES[2],
        TIMES[3],
        TIMES[4],
        TIMES[5],
        TIMES[6],
        TIMES[7],
    ];

    /// Returns the last part of a metric's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::At(Percentile::P50) => "p50",
            Self::At(Percentile::P75) => "p75",
            Self::At(Percentile::P90) => "p90",
            Self::At(Percentile::P95) => "p95",
            Self::At(Percentile::P99) => "p99",
            Self::Max => "max",
        }
    }
}

impl Distribution {
    /// Returns what is said of `samples`, or `None` without any. Their order does not matter.
    pub fn of(samples: impl IntoIterator<Item = Nanos>) -> Option<Self> {
        let mut counted: BTreeMap<Nanos, u64> = BTreeMap::new();
        for sample in samples {
            *counted.entry(sample).or_default() += 1;
        }
        Self::of_sorted(&counted.into_iter().collect::<Vec<_>>())
    }

    /// Returns what is said of a multiset given as ascending distinct values with counts, or `None` when it is empty.
    ///
    /// The mean is one rounded division of an integer sum.
    pub fn of_sorted(sorted: &[(Nanos, u64)]) -> Option<Self> {
        let (min, max) = (sorted.first()?.0, sorted.last()?.0);
        let count: u64 = sorted.iter().map(|(_, count)| count).sum();
        let sum: u128 =
            sorted.iter().map(|(value, count)| u128::from(value.get()) * u128::from(*count)).sum();
        let mean = u64::try_from(div_half_even(sum, u128::from(count)))
            .expect("a mean is not above the largest sample");
        let values = TIMES.map(|statistic| match statistic {
            Statistic::Mean | Statistic::Count => Nanos::new(mean),
            Statistic::Min => min,
            Statistic::Max => max,
            Statistic::At(percentile) => {
                nearest_rank(sorted, percentile).expect("the set is not empty")
            }
        });
        Some(Self { count, values })
    }

    /// Returns how many samples there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns each statistic that is a time.
    pub fn times(&self) -> impl Iterator<Item = (Statistic, Nanos)> + '_ {
        TIMES.into_iter().zip(self.values)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(distribution: &Distribution, wanted: Statistic) -> u64 {
        distribution.times().find(|(statistic, _)| *statistic == wanted).expect("listed").1.get()
    }

    #[test]
    fn mean_rounds_half_to_even_and_extremes_are_observed() {
        let nanos = [4, 1, 2, 3].map(Nanos::new);
        let distribution = Distribution::of(nanos).expect("four samples");
        assert_eq!(distribution.count(), 4);
        assert_eq!(time(&distribution, Statistic::Mean), 2, "2.5 rounds to even");
        assert_eq!(time(&distribution, Statistic::Min), 1);
        assert_eq!(time(&distribution, Statistic::Max), 4);
        assert_eq!(time(&distribution, Statistic::At(Percentile::P50)), 2);
    }

    #[test]
    fn no_samples_have_no_distribution() {
        assert_eq!(Distribution::of([]), None);
        assert_eq!(Distribution::of_sorted(&[]), None);
    }

    #[test]
    fn sums_beyond_64_bits_are_exact() {
        let largest = Nanos::new(u64::MAX);
        let distribution = Distribution::of_sorted(&[(largest, 5)]).expect("five samples");
        assert_eq!(time(&distribution, Statistic::Mean), u64::MAX);
    }

    proptest! {
        #[test]
        fn the_order_and_grouping_of_samples_do_not_matter(
            samples in prop::collection::vec(0_u64..u64::MAX, 1..200),
            at in any::<prop::sample::Index>(),
        ) {
            let nanos = |samples: &[u64]| samples.iter().map(|ns| Nanos::new(*ns)).collect::<Vec<_>>();
            let mut rotated = samples.clone();
            rotated.rotate_left(at.index(samples.len()));
            rotated.reverse();
            prop_assert_eq!(Distribution::of(nanos(&samples)), Distribution::of(nanos(&rotated)));
        }
    }
}
