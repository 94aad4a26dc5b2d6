//! Prefix lookups: what of a request's known sequence is resident.

use crate::workload::BlockIdentity;

use super::rank::{Policy, Rank, Seat};

/// What a prefix lookup found for the head of the waiting line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    /// Blocks served from cache.
    pub(super) blocks: u64,
    /// How many of them another request holds.
    pub(super) held: u64,
    /// Tokens served from the block behind them, which is copied: below a block.
    pub(super) part: u64,
}

impl Hit {
    /// Returns the tokens served from cache.
    pub(super) fn tokens(self, block_size: u32) -> u64 {
        self.blocks * u64::from(block_size) + self.part
    }
}

impl Rank {
    /// Returns whether the last known token of a request must be computed: vLLM samples the next token from it.
    ///
    /// TensorRT-LLM takes a fully cached prompt as it is; its first token then costs a decode.
    pub(super) fn wants_logits(&self, seat: Seat) -> bool {
        let sequence = self.look(seat);
        self.config.policy == Policy::Optimistic && sequence.generated < sequence.requested
    }

    /// Finds the longest resident prefix of a request's known sequence.
    ///
    /// At least one token is computed where tokens are wanted, so a hit ends before the last token's block.
    pub(super) fn lookup(&mut self, seat: Seat) -> Hit {
        let hit = self.cached_prefix(seat);
        if let Some(unit) = self.match_unit() {
            return self.finest_hit(seat, hit.blocks, unit);
        }
        let hit = self.capped(seat, hit);
        self.with_state(seat, hit)
    }

    /// Returns a hit that leaves a token to compute where one is wanted.
    pub(super) fn capped(&self, seat: Seat, mut hit: Hit) -> Hit {
        if self.wants_logits(seat) {
            let length = self.look(seat).length();
            let block_size = u64::from(self.config.block_size);
            hit.blocks = hit.blocks.min(length.saturating_sub(1) / block_size);
            if self.config.drafts.is_some() {
                // The drafter wants the hidden states of the last block that was found, so that block is computed again.
                hit.blocks = hit.blocks.saturating_sub(1);
            }
            hit.held = hit.held.min(hit.blocks);
        }
        hit
    }

    /// Finds the longest resident prefix of a request's known sequence, down to its last block.
    pub(super) fn cached_prefix(&mut self, seat: Seat) -> Hit {
        let mut hit = Hit { blocks: 0, held: 0, part: 0 };
        if !self.config.prefix_caching {
            return hit;
        }
        let block_size = self.config.block_size;
        let length = self.look(seat).length();
        for index in 0..usize::try_from(length / u64::from(block_size)).unwrap_or(0) {
            let identity = self.sequence(seat).identity(index, block_size);
            let Some((_, is_held)) = self.pool.find(identity) else { break };
            hit.blocks += 1;
            hit.held += u64::from(is_held);
        }
        hit
    }

    /// Lets the head wait for blocks until something changes that could help it.
    pub(super) fn refuse_head(&mut self, seat: Seat) {
        self.head_blocked = true;
        let (resident, block_size) = (self.cached_prefix(seat).blocks, self.config.block_size);
        let whole = self.look(seat).length() / u64::from(block_size);
        self.head_lacks = (self.config.prefix_caching && resident < whole).then(|| {
            let index = usize::try_from(resident).unwrap_or(usize::MAX);
            self.sequence(seat).identity(index, block_size)
        });
    }

    /// Notes that a block can be found: it may be what the head lacks, where its prompt holds what another request says.
    pub(super) fn note_published(&mut self, identity: BlockIdentity) {
        if self.head_blocked && self.head_lacks == Some(identity) {
            self.head_blocked = false;
        }
    }

    /// Makes the first `blocks` blocks of a request those that are resident.
    pub(super) fn pin_prefix(&mut self, seat: Seat, blocks: u64) {
        let block_size = self.config.block_size;
        // A load has given the request its prefix already.
        let held = self.look(seat).blocks.len();
        for index in held..usize::try_from(blocks).unwrap_or(0) {
            let identity = self.sequence(seat).identity(index, block_size);
            let (copy, _) = self.pool.find(identity).expect("the lookup found it resident");
            self.pool.pin(copy);
            self.sequence(seat).blocks.push(copy);
        }
    }
}
