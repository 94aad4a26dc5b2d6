//! Requests that a rank can never serve, and why.

use crate::record::{Refusal, Rule};
use crate::units::{Blocks, Tokens};

use super::lookup::Hit;
use super::rank::{Policy, Rank, Seat};
use super::sequence::{Phase, Sequence};

impl Rank {
    /// Returns why a request can never be served, where it cannot: its prompt reaches the context limit, or, before its first
    /// admission, its known sequence exceeds the whole pool.
    pub(super) fn refusal(&self, seat: Seat) -> Option<Refusal> {
        self.exceeds_context(self.look(seat))
            .or_else(|| self.exceeds_pool(self.look(seat)))
            .or_else(|| self.exceeds_bytes(seat))
    }

    /// Returns why a request is refused whose prompt reaches the context limit.
    pub(super) fn exceeds_context(&self, sequence: &Sequence) -> Option<Refusal> {
        let limit = self.config.context_limit.filter(|limit| sequence.prompt >= *limit)?;
        let (prompt, limit) = (Tokens::new(sequence.prompt), Tokens::new(limit));
        Some(self.refused(Rule::ContextLimit { prompt, limit }))
    }

    /// Returns why a request is refused that was never admitted and needs more blocks than there are.
    pub(super) fn exceeds_pool(&self, sequence: &Sequence) -> Option<Refusal> {
        let reserved = match self.config.policy {
            Policy::Optimistic => sequence.length(),
            Policy::GuaranteedNoEvict => sequence.prompt + sequence.output,
        };
        let needed = self.blocks_for(reserved);
        (sequence.phase == Phase::Fresh && needed > self.pool.capacity())
            .then(|| self.lacks_blocks(needed))
    }

    /// Returns why a request is refused that exceeds the bytes which groups of layers share.
    fn exceeds_bytes(&self, seat: Seat) -> Option<Refusal> {
        let (needed, capacity) = self.bytes_to_hold(seat)?;
        (needed > capacity).then(|| self.refused(Rule::KvBytes { needed, capacity }))
    }

    /// Returns why a request is refused whose known sequence and state exceed the whole pool behind a hit.
    pub(super) fn exceeds_pool_with_state(&self, seat: Seat, hit: Hit) -> Option<Refusal> {
        let needed = self.blocks_with_state(seat, hit)?;
        (needed > self.pool.capacity()).then(|| self.lacks_blocks(needed))
    }

    /// Returns why a running request is refused that can never compute its known sequence beside its state.
    pub(super) fn outgrew_state(&self, seat: Seat) -> Option<Refusal> {
        let needed = self.blocks_with_written_state(seat)?;
        (needed > self.pool.capacity()).then(|| self.lacks_blocks(needed))
    }

    /// Returns a refusal for lack of blocks.
    fn lacks_blocks(&self, needed: u64) -> Refusal {
        let capacity = Blocks::new(self.pool.capacity());
        self.refused(Rule::KvBlocks { needed: Blocks::new(needed), capacity })
    }

    /// Returns a refusal by a rank of this role.
    fn refused(&self, rule: Rule) -> Refusal {
        Refusal { role: self.config.role, rule }
    }
}
