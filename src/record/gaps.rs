//! Every gap between consecutive output tokens, as a multiset.

use std::borrow::Cow;

use crate::units::{Nanos, SimTime};

/// A multiset of gaps between consecutive output tokens of one request, pooled over requests.
///
/// A decode pass gives all its requests the same gap, so runs of equal gaps are kept as one entry with a count; memory grows
/// with distinct gaps, not with tokens.
#[derive(Debug, Clone, Default)]
pub struct Gaps {
    unit: GapUnit,
    entries: Vec<(Gap, u64)>,
    sorted_len: usize,
}

/// How gaps are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GapUnit {
    /// Between times that are rounded to nanoseconds, as reports hold them: gaps add up to the time between tokens.
    #[default]
    Nanoseconds,
    /// Between times as the clock has them, which is what the reference does: near 0, one over a gap depends on every bit.
    Exact,
}

/// A gap in its multiset's unit. Longer ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap(u64);

/// How many unsorted entries are kept at the least before equal ones are merged.
const MERGE_AT: usize = 1 << 16;

impl GapUnit {
    /// Returns the gap from one time to another that is not earlier.
    pub fn between(self, before: SimTime, after: SimTime) -> Gap {
        match self {
            Self::Nanoseconds => {
                let gap = Nanos::from(after).since(Nanos::from(before));
                Gap(gap.expect("a pass ends no earlier than the one before it").get())
            }
            Self::Exact => {
                let ms = after.as_ms() - before.as_ms();
                assert!(ms >= 0.0, "bug: a pass ends {ms} ms after the one before it");
                // The bits of floats that are not negative are in the order of the floats.
                Gap((ms + 0.0).to_bits())
            }
        }
    }
}

impl From<Nanos> for Gap {
    /// Takes a gap of a multiset in nanoseconds.
    fn from(gap: Nanos) -> Self {
        Self(gap.get())
    }
}

impl Gaps {
    /// Returns an empty multiset.
    pub fn of(unit: GapUnit) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Returns how gaps are measured.
    pub fn unit(&self) -> GapUnit {
        self.unit
    }

    /// Adds `count` gaps of the same length, which is in the unit of the multiset.
    pub fn add(&mut self, gap: Gap, count: u64) {
        if count == 0 {
            return;
        }
        match self.entries.last_mut() {
            Some((last, total)) if *last == gap => *total += count,
            _ => self.entries.push((gap, count)),
        }
        // Merging only when the entries have doubled keeps the work of all merges within that of the last.
        if self.entries.len() >= self.sorted_len + self.sorted_len.max(MERGE_AT) {
            self.merge();
        }
    }

    /// Sorts what was added, so that it need not be copied to be read in order.
    pub fn settle(&mut self) {
        self.merge();
    }

    /// Adds the gaps of another multiset of the same unit.
    pub fn extend(&mut self, mut other: Self) {
        other.merge();
        other.entries.into_iter().for_each(|(gap, count)| self.add(gap, count));
    }

    /// Returns gaps and counts, ascending, each gap once.
    ///
    /// # Panics
    /// Where gaps are exact: their sum is not that of rounded times.
    pub fn into_sorted(mut self) -> Vec<(Nanos, u64)> {
        assert!(self.unit == GapUnit::Nanoseconds, "exact gaps are no whole nanoseconds");
        self.merge();
        self.entries.into_iter().map(|(gap, count)| (Nanos::new(gap.0), count)).collect()
    }

    /// Hands gaps in milliseconds and counts, ascending, each gap once, to `take`.
    pub fn each_ms(&self, mut take: impl FnMut(f64, u64)) {
        for (gap, count) in self.sorted().iter() {
            let ms = match self.unit {
                GapUnit::Nanoseconds => Nanos::new(gap.0).as_ms(),
                GapUnit::Exact => f64::from_bits(gap.0),
            };
            take(ms, *count);
        }
    }

    /// Returns the entries in order: a copy where they are not settled.
    fn sorted(&self) -> Cow<'_, [(Gap, u64)]> {
        if self.sorted_len == self.entries.len() {
            return Cow::Borrowed(&self.entries);
        }
        let mut copy = self.clone();
        copy.merge();
        Cow::Owned(copy.entries)
    }

    /// Returns how many gaps there are.
    pub fn count(&self) -> u64 {
        self.entries.iter().map(|(_, count)| count).sum()
    }

    /// Sorts and merges equal gaps.
    fn merge(&mut self) {
        // What was sorted before and what came since are two runs then, which a stable sort finds and merges.
        self.entries[self.sorted_len..].sort_unstable();
        self.entries.sort();
        self.entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        self.sorted_len = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample::time;

    #[test]
    fn equal_gaps_merge_and_nothing_is_lost() {
        let mut gaps = Gaps::default();
        for round in 0..200_000_u64 {
            gaps.add(Nanos::new(round % 7).into(), 1);
        }
        gaps.add(Nanos::new(3).into(), 0);
        assert_eq!(gaps.count(), 200_000);
        let sorted = gaps.into_sorted();
        assert_eq!(sorted.len(), 7);
        assert_eq!(sorted.iter().map(|(_, count)| count).sum::<u64>(), 200_000);
    }

    #[test]
    fn gaps_added_behind_sorted_ones_are_read_in_order_settled_or_not() {
        let mut gaps = Gaps::default();
        let lengths = |gaps: &Gaps| {
            let mut found = Vec::new();
            gaps.each_ms(|ms, count| found.push((ms, count)));
            found
        };
        for gap in [5, 3, 5, 9, 1, 3] {
            gaps.add(Nanos::new(gap * 1_000_000).into(), 1);
            let read = lengths(&gaps);
            gaps.settle();
            assert_eq!(read, lengths(&gaps));
            assert!(read.is_sorted());
        }
        assert_eq!(lengths(&gaps), [(1.0, 1), (3.0, 2), (5.0, 2), (9.0, 1)]);
        // The last entry of those that are sorted takes more of its kind.
        gaps.add(Nanos::new(9_000_000).into(), 4);
        assert_eq!(lengths(&gaps).last(), Some(&(9.0, 5)));
    }

    #[test]
    fn a_gap_below_a_nanosecond_is_nothing_in_nanoseconds_and_itself_where_it_is_exact() {
        let (before, after) = (time(0.1 + 0.2), time(0.3 + 1e-7));
        let gap = |unit: GapUnit| {
            let mut gaps = Gaps::of(unit);
            gaps.add(unit.between(before, after), 3);
            let mut found = Vec::new();
            gaps.each_ms(|ms, count| found.push((ms, count)));
            found
        };
        assert_eq!(gap(GapUnit::Nanoseconds), [(0.0, 3)]);
        assert_eq!(gap(GapUnit::Exact), [(after.as_ms() - before.as_ms(), 3)]);
        let order = [1e-300, 1e-9, 0.5, 1.0, 7.3, 1e9]
            .map(|ms| GapUnit::Exact.between(time(0.0), time(ms)));
        assert!(order.is_sorted() && GapUnit::Exact.between(after, after) == Gap(0));
    }
}
