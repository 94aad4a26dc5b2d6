//! A cache of several groups of layers that share one budget of bytes. The block pool then has no part in anything.
//!
//! A request holds the pages of what a pass computes for it and of what that looks back on; pages behind a window are free again
//! from the next pass on. Nothing is shared between requests.

use crate::deployment::CacheGroup;
use crate::sim::error::SimError;
use crate::sim::kv::GroupedPool;

use super::rank::{Rank, Seat};

/// The bytes of a rank with groups of layers.
#[derive(Debug)]
pub(super) struct GroupedCache {
    pool: GroupedPool,
    /// The first forward that exceeds the whole pool: the run ends with it.
    overrun: Option<SimError>,
}

impl GroupedCache {
    /// Returns a cache of these groups and bytes, of which nothing is used.
    pub(super) fn new((groups, bytes): &(Box<[CacheGroup]>, u64)) -> Self {
        Self { pool: GroupedPool::new(groups, *bytes), overrun: None }
    }
}

impl Rank {
    /// Returns the bytes that the last token of a request's known sequence needs at once, and all there are; `None` without groups.
    pub(super) fn bytes_to_hold(&self, seat: Seat) -> Option<(u64, u64)> {
        let cache = self.grouped.as_ref()?;
        let length = self.look(seat).length();
        Some((cache.pool.needed(length.saturating_sub(1), length), cache.pool.capacity()))
    }

    /// Returns whether the head of the line waits for budget or for bytes. A first part of its prompt that exceeds the whole pool
    /// does not wait: it ends the run.
    pub(super) fn waits_for_bytes(&self, seat: Seat, budget: u64) -> bool {
        let Some(cache) = &self.grouped else { return false };
        let length = self.look(seat).length();
        if budget == 0 || (!self.config.chunked_prefill && length > budget) {
            return true;
        }
        let needed = cache.pool.needed(0, length.min(budget));
        needed <= cache.pool.capacity() && needed > cache.pool.free()
    }

    /// Returns whether a forward exceeds the whole pool, and notes it.
    pub(super) fn overruns(&mut self, before: u64, after: u64) -> bool {
        let Some(cache) = &mut self.grouped else { return false };
        let (needed, capacity) = (cache.pool.needed(before, after), cache.pool.capacity());
        if needed <= capacity {
            return false;
        }
        let tokens = after - before;
        cache.overrun.get_or_insert(SimError::ForwardExceedsCache { tokens, needed, capacity });
        true
    }

    /// Makes a request hold the bytes of a forward; returns whether it does. Without groups there is nothing to hold.
    pub(super) fn holds_bytes(&mut self, seat: Seat, before: u64, after: u64) -> bool {
        let Some(cache) = &mut self.grouped else { return true };
        let sequence = self.seats.get_mut(seat);
        before == after || cache.pool.resize(&mut sequence.bytes, before, after)
    }

    /// Takes back the bytes of a request.
    pub(super) fn release_bytes(&mut self, seat: Seat) {
        let held = std::mem::take(&mut self.sequence(seat).bytes);
        if let Some(cache) = &mut self.grouped {
            cache.pool.release(held);
        }
    }

    /// Returns the bytes in use, where groups of layers share them.
    #[cfg(test)]
    pub(super) fn bytes_used(&self) -> Option<u64> {
        self.grouped.as_ref().map(|cache| cache.pool.capacity() - cache.pool.free())
    }

    /// Ends the run where a forward of this pass exceeds the whole pool.
    pub(super) fn within_bytes(&mut self) -> Result<(), SimError> {
        self.grouped.as_mut().and_then(|cache| cache.overrun.take()).map_or(Ok(()), Err)
    }
}
