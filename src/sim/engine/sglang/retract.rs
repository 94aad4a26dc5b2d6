//! Retraction: who gives way when memory lacks for the next tokens.

use std::cmp::Reverse;

use crate::plan::Compat;

use super::prefill::real;
use super::rank::Rank;
use super::sequence::Seat;

/// Decode passes that a survivor is to have memory for.
const RESERVED_PASSES: u64 = 20;

impl Rank {
    /// Retracts running requests until the others have memory for a token each, or one is left.
    ///
    /// Returns the share of output that admission sets aside from now on, where somebody was retracted.
    pub(super) fn retract(&mut self) -> Option<f64> {
        let mut retracted = Vec::new();
        while self.running.len() > 1 && self.growth_of_all() > self.cache.reachable() {
            let Some(seat) = self.next_victim(retracted.is_empty()) else { break };
            self.drop_kv(seat);
            if self.config.compat != Compat::V0_13_0 {
                let reserve = self.running.len() as u64 * RESERVED_PASSES;
                self.cache.make_room(self.config.pages_for(reserve));
            }
            let request = self.look(seat).ticket.request;
            self.pass.formed.preempted.push(request);
            self.retractions += 1;
            retracted.push(seat);
        }
        if retracted.is_empty() {
            return None;
        }
        self.waiting.extend(&retracted);
        let estimate = self.estimate();
        for seat in retracted {
            self.discard(seat);
        }
        self.destinations.note_room();
        Some(estimate)
    }

    /// Takes the next request to be retracted out of the running ones.
    ///
    /// In 0.13.0 it is the first of those with the least output; later, the running requests are sorted by output, longest first,
    /// then by prompt, shortest first, and the last gives way.
    /// A request that has ended unseen never gives way.
    fn next_victim(&mut self, is_first: bool) -> Option<Seat> {
        if self.config.compat == Compat::V0_13_0 {
            let least = self.running.iter().enumerate();
            let least = least.min_by_key(|(_, seat)| self.look(**seat).generated);
            let place = least.map_or(0, |(place, _)| place);
            return Some(self.running.remove(place));
        }
        if is_first && self.running.iter().any(|seat| !self.look(*seat).is_ghost) {
            let mut running = std::mem::take(&mut self.running);
            running.sort_by_key(|seat| {
                let sequence = self.look(*seat);
                (Reverse(sequence.generated), sequence.prompt)
            });
            self.running = running;
        }
        let place = self.running.iter().rposition(|seat| !self.look(*seat).is_ghost)?;
        Some(self.running.remove(place))
    }

    /// Returns the pages that all running requests need for a token each.
    fn growth_of_all(&self) -> u64 {
        self.running.iter().map(|seat| self.most_growth(*seat)).sum()
    }

    /// Returns the share of output that is set aside after a retraction: what the survivors have used of theirs, and a little.
    fn estimate(&self) -> f64 {
        let decoded: u64 = self.running.iter().map(|seat| self.look(*seat).generated).sum();
        let whole: u64 = self.running.iter().map(|seat| self.look(*seat).output).sum();
        let count = real(self.running.len() as u64);
        let used = real(decoded) + real(RESERVED_PASSES) * count;
        (used / (real(whole) + 1.0)).min(1.0)
    }
}
