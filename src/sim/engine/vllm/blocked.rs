//! Why a rank can do nothing although it has work.

use crate::sim::engine::{Blocked, Cause};

use super::rank::{Policy, Rank};
use super::sequence::{Phase, Sequence};

impl Rank {
    /// Returns the request that keeps the rank from doing anything: the first that runs, else the head of its line, else the first
    /// that waits for room; `None` where it has none.
    pub(crate) fn blocked(&self) -> Option<Blocked> {
        let first = self.running.first().or(self.waiting.front()).map(|seat| self.look(*seat));
        if let Some(sequence) = first {
            return Some(Blocked { ticket: sequence.ticket, cause: self.cause(sequence) });
        }
        let sequence = self.destinations.first_without_room()?;
        let cause = self.lacks(self.blocks_for(sequence.prompt));
        Some(Blocked { ticket: sequence.ticket, cause })
    }

    /// Returns why a request cannot go on.
    fn cause(&self, sequence: &Sequence) -> Cause {
        let (prompt, budget) = (sequence.prompt, self.config.budget);
        let left = prompt.saturating_sub(sequence.computed);
        if !self.config.chunked_prefill && left > budget && sequence.phase != Phase::HandedOver {
            return Cause::WholePrompt { prompt, budget };
        }
        self.lacks(self.blocks_for(match self.config.policy {
            Policy::Optimistic => sequence.length(),
            Policy::GuaranteedNoEvict => sequence.prompt + sequence.output,
        }))
    }

    /// Returns a lack of blocks.
    fn lacks(&self, needed: u64) -> Cause {
        Cause::Blocks { needed, free: self.pool.available(), capacity: self.pool.capacity() }
    }
}
