//! Room for an admission, where what the lookup counted is not all there.
//!
//! The admission rule counts the blocks of a hit that others hold. A hit that is cut by its last block keeps that count up to its
//! new length, as in the reference; where an earlier block was idle, the admission then lacks blocks and preempts for them.

use super::lookup::Hit;
use super::rank::{Policy, Rank, Seat, Work};
use super::sequence::Phase;

impl Rank {
    /// Makes room for the admission of a request that computes `work` tokens behind a hit; returns whether there is room.
    pub(super) fn make_room(&mut self, seat: Seat, hit: Hit, work: u64, budget: &mut u64) -> bool {
        while self.pool.available() < self.blocks_taken(seat, hit, work) {
            if self.running.is_empty() || self.config.policy == Policy::GuaranteedNoEvict {
                return false;
            }
            self.ungroup();
            self.preempt(budget);
        }
        true
    }

    /// Returns how many blocks that nobody holds an admission takes: idle ones of its hit, and others.
    fn blocks_taken(&mut self, seat: Seat, hit: Hit, work: u64) -> u64 {
        let block_size = self.config.block_size;
        let owned = self.look(seat).blocks.len() as u64;
        let mut idle = 0;
        for index in owned..hit.blocks {
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            let identity = self.sequence(seat).identity(index, block_size);
            idle += u64::from(self.pool.find(identity).is_some_and(|(_, is_held)| !is_held));
        }
        let target = self.blocks_for(hit.tokens(block_size) + work);
        let state = self.state_to_admit(seat, hit);
        idle + target.saturating_sub(owned.max(hit.blocks)) + state
    }

    /// Makes the members of the group, which this pass has scheduled as a whole, stand for themselves in it.
    fn ungroup(&mut self) {
        if self.pass.grouped == 0 {
            return;
        }
        let is_member = |seat: &Seat| self.look(*seat).phase == Phase::Decoding;
        let members: Vec<Seat> = self.running.iter().copied().filter(is_member).collect();
        self.dissolve_group();
        self.pass.grouped = 0;
        for (place, seat) in members.into_iter().enumerate() {
            let sequence = self.sequence(seat);
            sequence.computed += 1;
            let (prefix, length) = (sequence.prompt, sequence.length());
            self.pass.scheduled.insert(place, Work { seat, total: 1, prompt: 0, prefix });
            self.pass.emitting.insert(place, seat);
            self.pass.formed.decode.requests += 1;
            self.pass.formed.decode.context_tokens += length;
        }
    }
}
