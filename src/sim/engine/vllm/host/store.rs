//! Stores: complete prompt blocks go to the host tier as soon as a pass has scheduled them.

use crate::sim::kv::Copy;
use crate::sim::kv::host::{CopyId, HostKey, Presence};
use crate::units::SimTime;

use super::super::rank::{Rank, Seat};

impl Rank {
    /// Prepares a store of what the formed pass completes of each running request's prompt; the copies start when the pass ends.
    pub(in super::super) fn prepare_stores(&mut self, now: SimTime) {
        for index in 0..self.running.len() {
            let seat = self.running[index];
            if self.pass.scheduled.iter().any(|work| work.seat == seat) {
                self.prepare_store(seat, now);
            }
        }
    }

    /// Prepares a store of one request: all its new blocks that the tier lacks, or none, to be tried again with the next pass.
    fn prepare_store(&mut self, seat: Seat, now: SimTime) {
        let sequence = self.look(seat);
        let complete = sequence.computed.min(sequence.prompt) / u64::from(self.config.block_size);
        let complete = usize::try_from(complete).unwrap_or(usize::MAX);
        let hosted = self.hosted(seat);
        let (start, end) = (hosted.next_store, complete.min(hosted.keys.len()));
        if end <= start {
            return;
        }
        let keys: Vec<HostKey> = hosted.keys[start..end].to_vec();
        let host = self.host.as_deref().expect("the rank has a host");
        let tier = host.tier.borrow();
        let missing: Vec<usize> = (start..end)
            .filter(|index| tier.presence(keys[index - start]) == Presence::Missing)
            .collect();
        drop(tier);
        if missing.is_empty() {
            self.hosted(seat).next_store = end;
            return;
        }
        let sequence = self.look(seat);
        let sources: Vec<Copy> = missing.iter().map(|index| sequence.blocks[*index]).collect();
        // A block that an earlier copy still reads cannot be read by another.
        if sources.iter().any(|source| self.pool.reader(*source).is_some()) {
            return;
        }
        let stored = host.tier.borrow_mut().prepare_store((host.client, seat.0), &keys, now);
        if let Some(copy) = stored {
            self.pool.start_reading(copy.0, &sources);
            let hosted = self.hosted(seat);
            hosted.last_store = Some(copy);
            hosted.next_store = end;
            self.touch_prompt(seat);
        }
    }

    /// Makes the blocks of a prompt the newest of the tier, the last first, so that the first is the newest of all.
    pub(super) fn touch_prompt(&self, seat: Seat) {
        let Some(host) = self.host.as_deref() else { return };
        let Some(hosted) = self.look(seat).host.as_deref() else { return };
        let mut tier = host.tier.borrow_mut();
        for key in hosted.keys.iter().rev() {
            tier.touch(*key);
        }
    }

    /// Keeps the GPU from computing until the stores of a request that is preempted have ended, where their end is known.
    pub(in super::super) fn fence_preempted(&mut self, seat: Seat) {
        let Some(hosted) = self.sequence(seat).host.as_deref_mut() else { return };
        hosted.rounds.reset();
        let store = hosted.last_store;
        if let Some(host) = self.host.as_deref_mut()
            && let Some(end) = store.and_then(|store| host.tier.borrow().end_of(store))
        {
            host.not_before = host.not_before.max(end);
        }
    }

    /// Takes blocks up to `target`; the GPU does not compute before they are no longer read.
    pub(in super::super) fn take_fenced(&mut self, seat: Seat, target: u64) {
        let held = self.look(seat).blocks.len() as u64;
        for block in self.pool.take_in_order(target.saturating_sub(held)) {
            self.fence(block);
            self.sequence(seat).blocks.push(block);
        }
    }

    /// Keeps the GPU from computing until a block that it is about to write is no longer read.
    fn fence(&mut self, block: Copy) {
        let Some(host) = self.host.as_deref_mut() else { return };
        let reader = self.pool.reader(block).map(CopyId);
        if let Some(end) = reader.and_then(|reader| host.tier.borrow().end_of(reader)) {
            host.not_before = host.not_before.max(end);
        }
    }

    /// Returns when a pass that is formed at `now` can start to compute.
    pub(in super::super) fn computes_from(&self, now: SimTime) -> SimTime {
        self.host.as_deref().map_or(now, |host| host.not_before.max(now))
    }
}
