//! How times spread.

use crate::units::Nanos;

/// How times spread: nearest ranks, as everywhere in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The median.
    pub p50: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The largest.
    pub max: Nanos,
}

impl Spread {
    /// Returns the spread of times; nothing of none.
    pub fn of(mut times: Vec<Nanos>) -> Option<Self> {
        times.sort_unstable();
        let max = *times.last()?;
        let rank = |hundredths: usize| {
            let rank = (times.len() * hundredths).div_ceil(100);
            times[rank.saturating_sub(1)]
        };
        Some(Self { count: times.len() as u64, p50: rank(50), p99: rank(99), max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_nearest() {
        let times = (1..=200).rev().map(Nanos::new).collect();
        let spread = Spread::of(times).expect("some");
        let [p50, p99, max] = [spread.p50, spread.p99, spread.max].map(Nanos::get);
        assert_eq!((spread.count, p50, p99, max), (200, 100, 198, 200));
        assert_eq!(Spread::of(Vec::new()), None);
        let one = Spread::of(vec![Nanos::new(7)]).expect("one");
        assert_eq!((one.p50, one.p99), (Nanos::new(7), Nanos::new(7)));
    }
}
