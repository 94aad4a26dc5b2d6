//! Mean and percentiles of token counts.

use crate::units::{Micros6, Tokens};

/// Mean, median and 99th percentile of token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distribution {
    /// The mean, rounded half to even to a millionth.
    pub mean: Micros6,
    /// The median.
    pub p50: Micros6,
    /// The 99th percentile.
    pub p99: Micros6,
}

impl Distribution {
    /// Returns the distribution of `samples`, or `None` without any.
    ///
    /// Percentiles interpolate linearly between ranks, as the published statistics of these traces do: that of p % lies at
    /// (n - 1) · p / 100 in the sorted samples. Runs are reported otherwise, by nearest rank.
    pub fn of(samples: impl Iterator<Item = Tokens>) -> Option<Self> {
        let mut sorted: Vec<u64> = samples.map(Tokens::get).collect();
        sorted.sort_unstable();
        let count = u128::try_from(sorted.len()).ok()?;
        let sum: u128 = sorted.iter().map(|sample| u128::from(*sample)).sum();
        Some(Self {
            mean: Micros6::ratio(sum, count)?,
            p50: interpolated(&sorted, 50)?,
            p99: interpolated(&sorted, 99)?,
        })
    }
}

/// Returns the percentile of sorted samples by linear interpolation, exact in hundredths.
fn interpolated(sorted: &[u64], percent: usize) -> Option<Micros6> {
    let scaled = sorted.len().checked_sub(1)? * percent;
    let (index, hundredths) = (scaled / 100, u128::try_from(scaled % 100).ok()?);
    let low = u128::from(*sorted.get(index)?);
    let high = sorted.get(index + 1).map_or(low, |high| u128::from(*high));
    Micros6::ratio(low * 100 + (high - low) * hundredths, 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(samples: &[u64]) -> Option<[String; 3]> {
        Distribution::of(samples.iter().copied().map(Tokens::new))
            .map(|found| [found.mean, found.p50, found.p99].map(|value| value.to_string()))
    }

    #[test]
    fn percentiles_lie_between_ranks_and_nothing_has_none() {
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[7]), Some(["7.000000", "7.000000", "7.000000"].map(str::to_owned)));
        assert_eq!(shown(&[3, 1]), Some(["2.000000", "2.000000", "2.980000"].map(str::to_owned)));
        let hundred: Vec<u64> = (0..=100).collect();
        assert_eq!(
            shown(&hundred),
            Some(["50.000000", "50.000000", "99.000000"].map(str::to_owned))
        );
    }
}
