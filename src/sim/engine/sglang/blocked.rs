//! Why a rank can do nothing although it has work.

use crate::sim::engine::{Blocked, Cause};

use super::rank::Rank;
use super::sequence::{Seat, Sequence};

impl Rank {
    /// Returns the request that keeps the rank from doing anything: the head of its line, else the first that runs or waits for
    /// room; `None` where it has none.
    pub(crate) fn blocked(&self) -> Option<Blocked> {
        if let Some(seat) = self.waiting.front() {
            let ticket = self.look(*seat).ticket;
            return Some(Blocked { ticket, cause: self.not_admitted(*seat) });
        }
        let served = self.ready.front().or(self.running.first()).map(|seat| self.look(*seat));
        let sequence = served.or_else(|| self.destinations.first_without_room())?;
        Some(Blocked { ticket: sequence.ticket, cause: self.lacks(sequence) })
    }

    /// Returns why the head of the line is not admitted by a pass that computes nothing else.
    fn not_admitted(&self, seat: Seat) -> Cause {
        let (chunk, block) = (self.config.chunk, u64::from(self.config.page));
        let sequence = self.look(seat);
        let left = sequence.length() - sequence.computed;
        let is_whole = self.config.pages_for(left) * block <= chunk;
        let tokens = if is_whole { left } else { self.config.full_pages(chunk) * block };
        if tokens == 0 && left > 0 {
            return Cause::Chunk { chunk, block };
        }
        let (charged, most) =
            (self.config.pages_for(tokens) * block, self.config.max_prefill_tokens);
        if charged > most {
            return Cause::PrefillTokens { charged, most };
        }
        let reserved = if is_whole { sequence.remaining().min(self.config.clip) } else { 0 };
        Cause::Memory { charged, reserved, reachable: self.cache.reachable() * block }
    }

    /// Returns a lack of pages for a known sequence.
    fn lacks(&self, sequence: &Sequence) -> Cause {
        let needed = self.config.pages_for(sequence.length());
        Cause::Blocks { needed, free: self.cache.reachable(), capacity: self.config.pages }
    }
}
