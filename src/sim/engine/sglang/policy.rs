//! The order of the waiting line.

use std::collections::BTreeSet;

use crate::workload::hash_of;

use super::config::Order;
use super::rank::Rank;
use super::sequence::Seat;

/// The longest line that is ordered by prefix.
const LONGEST_LINE: usize = 128;
/// A request whose first tokens, this many, are those of one before it waits for that one to cache them.
const DUPLICATE_TOKENS: u64 = 32;
/// Unless more than this of it is cached already.
const CACHED_ENOUGH: u64 = 32;

impl Rank {
    /// Orders the waiting line, where the policy asks for it.
    pub(super) fn order_waiting(&mut self) {
        let is_short = self.waiting.len() <= LONGEST_LINE;
        if self.config.order == Order::Fifo || !self.config.prefix_caching || !is_short {
            return;
        }
        let mut seen = BTreeSet::new();
        let mut scored: Vec<(bool, u64, Seat)> = Vec::with_capacity(self.waiting.len());
        for seat in &self.waiting {
            let cached = self.cached_tokens(*seat, self.look(*seat).length());
            let repeats = cached <= CACHED_ENOUGH
                && self.beginning(*seat).is_some_and(|hash| !seen.insert(hash));
            scored.push((repeats, cached, *seat));
        }
        scored.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
        self.waiting.clear();
        self.waiting.extend(scored.into_iter().map(|(_, _, seat)| seat));
    }

    /// Returns a hash of a request's first tokens, in whole pages, where it has as many.
    fn beginning(&self, seat: Seat) -> Option<u64> {
        let sequence = self.look(seat);
        let tokens = self.config.pages_for(DUPLICATE_TOKENS) * u64::from(self.config.page);
        if sequence.length() < tokens {
            return None;
        }
        let (mut cursor, mut left) = (sequence.content.seek(0), u32::try_from(tokens).ok()?);
        Some(hash_of(std::iter::from_fn(|| {
            let run = (left > 0).then(|| sequence.content.take(&mut cursor, left))?;
            left -= run.length;
            Some(run)
        })))
    }
}
