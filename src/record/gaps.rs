//! Every gap between consecutive output tokens, as a multiset.

use crate::units::Nanos;

/// A multiset of gaps between consecutive output tokens of one request, pooled over requests.
///
/// A decode pass gives all its requests the same gap, so runs of equal gaps are kept as one entry with a count; memory grows
/// with distinct gaps, not with tokens.
#[derive(Debug, Clone, Default)]
pub struct Gaps {
    entries: Vec<(Nanos, u64)>,
    sorted_len: usize,
}

/// How many unsorted entries are kept at the least before equal ones are merged.
const MERGE_AT: usize = 1 << 16;

impl Gaps {
    /// Adds `count` gaps of the same length.
    pub fn add(&mut self, gap: Nanos, count: u64) {
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
            self.sorted_len = self.entries.len();
        }
    }

    /// Returns gaps and counts, ascending, each gap once.
    pub fn into_sorted(mut self) -> Vec<(Nanos, u64)> {
        self.merge();
        self.entries
    }

    /// Returns how many gaps there are.
    pub fn count(&self) -> u64 {
        self.entries.iter().map(|(_, count)| count).sum()
    }

    /// Sorts and merges equal gaps.
    fn merge(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gaps_merge_and_nothing_is_lost() {
        let mut gaps = Gaps::default();
        for round in 0..200_000_u64 {
            gaps.add(Nanos::new(round % 7), 1);
        }
        gaps.add(Nanos::new(3), 0);
        assert_eq!(gaps.count(), 200_000);
        let sorted = gaps.into_sorted();
        assert_eq!(sorted.len(), 7);
        assert_eq!(sorted.iter().map(|(_, count)| count).sum::<u64>(), 200_000);
    }
}
