//! Idle gaps, shortened.

use crate::units::Nanos;

/// The longest time in which nothing of a tree runs that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleGapCap {
    /// Longer gaps are cut to this.
    At(Nanos),
    /// All gaps are kept.
    None,
}

/// The shift of a tree's times.
#[derive(Debug)]
pub(super) struct Warp {
    /// From which instant on how much is taken away; both grow.
    cuts: Vec<(Nanos, Nanos)>,
}

impl IdleGapCap {
    /// The cap of `AIPerf`'s lane: one minute.
    pub const DEFAULT: Self = Self::At(Nanos::new(60_000_000_000));
}

impl Warp {
    /// Measures the idle gaps of intervals that are sorted by start. What runs anywhere in the tree protects a gap elsewhere.
    ///
    /// Source: spec/REPLAY.md §4.2.
    pub(super) fn of(intervals: impl Iterator<Item = (Nanos, Nanos)>, cap: IdleGapCap) -> Self {
        let mut cuts = Vec::new();
        let IdleGapCap::At(cap) = cap else { return Self { cuts } };
        let mut busy_until: Option<Nanos> = None;
        let mut taken = 0_u64;
        for (start, end) in intervals {
            let gap = busy_until.and_then(|until| start.since(until)).unwrap_or(Nanos::ZERO);
            if gap > cap {
                taken += gap.get() - cap.get();
                cuts.push((start, Nanos::new(taken)));
            }
            busy_until = Some(busy_until.map_or(end, |until| until.max(end)));
        }
        Self { cuts }
    }

    /// Returns an instant without the idle time before it that was cut.
    pub(super) fn at(&self, instant: Nanos) -> Nanos {
        let before = self.cuts.partition_point(|(from, _)| *from <= instant);
        let taken = before.checked_sub(1).map_or(Nanos::ZERO, |last| self.cuts[last].1);
        Nanos::new(instant.get() - taken.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warped(intervals: &[(u64, u64)], cap: IdleGapCap, instants: &[u64]) -> Vec<u64> {
        let nanos = intervals.iter().map(|(a, b)| (Nanos::new(*a), Nanos::new(*b)));
        let warp = Warp::of(nanos, cap);
        instants.iter().map(|instant| warp.at(Nanos::new(*instant)).get()).collect()
    }

    #[test]
    fn a_gap_longer_than_the_cap_is_cut_to_it_and_what_runs_protects_it() {
        let cap = IdleGapCap::At(Nanos::new(60));
        assert_eq!(warped(&[(0, 1), (201, 202)], cap, &[0, 201]), [0, 61]);
        assert_eq!(warped(&[(0, 1), (0, 180), (201, 202)], cap, &[201]), [201]);
        assert_eq!(
            warped(&[(0, 1), (61, 62), (200, 201), (400, 500)], cap, &[61, 200, 400]),
            [61, 122, 183]
        );
        assert_eq!(warped(&[(5, 6)], cap, &[5]), [5], "what comes before the first call is no gap");
    }

    #[test]
    fn a_cap_of_nothing_takes_every_gap_and_none_takes_no_gap() {
        let intervals = [(0, 1), (3, 4), (9, 9)];
        assert_eq!(warped(&intervals, IdleGapCap::At(Nanos::ZERO), &[3, 9]), [1, 2]);
        assert_eq!(warped(&intervals, IdleGapCap::None, &[3, 9]), [3, 9]);
    }
}
