//! What a request does to the KV cache.

use crate::sim::kv::{NodeId, Pages};

use super::rank::Rank;
use super::sequence::{Lease, Seat};

impl Rank {
    /// Returns how many of the first `tokens` tokens of a request are cached, in whole pages.
    pub(super) fn cached_tokens(&self, seat: Seat, tokens: u64) -> u64 {
        if !self.config.prefix_caching {
            return 0;
        }
        let pages = self.config.full_pages(tokens);
        self.cache.matched(&self.look(seat).content, pages) * u64::from(self.config.page)
    }

    /// Gives a request that holds nothing the pages of its first `end` tokens, `cached` of which are cached.
    ///
    /// The cached prefix is locked before room is made for the rest. Returns whether there was room; without, the prefix counts as
    /// used all the same.
    pub(super) fn acquire(&mut self, seat: Seat, cached: u64, end: u64) -> bool {
        let wanted = self.config.full_pages(cached);
        let (found, node) = if self.config.prefix_caching {
            let sequence = self.seats.get(seat);
            self.cache.lock_prefix(&sequence.content, wanted)
        } else {
            (0, NodeId::ROOT)
        };
        let pages = self.config.pages_for(end);
        if !self.take_pages(pages - found) {
            self.cache.unlock(node);
            return false;
        }
        self.sequence(seat).lease = Lease { pages, cached: found, node: Some(node) };
        true
    }

    /// Gives a request the pages up to its first `end` tokens; returns whether there was room.
    pub(super) fn grow(&mut self, seat: Seat, end: u64) -> bool {
        let target = self.config.pages_for(end);
        let more = target.saturating_sub(self.look(seat).lease.pages);
        if !self.take_pages(more) {
            return false;
        }
        self.sequence(seat).lease.pages += more;
        true
    }

    /// Takes pages, evicting where none is free; returns whether there were enough.
    pub(super) fn take_pages(&mut self, pages: u64) -> bool {
        if pages > self.cache.reachable() {
            return false;
        }
        self.cache.make_room(pages);
        self.cache.take(pages);
        true
    }

    /// Caches the full pages of a request's first `tokens` tokens.
    pub(super) fn publish(&mut self, seat: Seat, tokens: u64) {
        let to = self.config.full_pages(tokens);
        let lease = self.look(seat).lease;
        if !self.config.prefix_caching || to <= lease.cached {
            return;
        }
        let node = lease.node.expect("a request that computed holds pages");
        let end = self.insert(seat, to);
        if end != node {
            self.cache.lock(end);
            self.cache.unlock(node);
        }
        let lease = &mut self.sequence(seat).lease;
        lease.node = Some(end);
        lease.cached = to;
    }

    /// Caches what a request that ends has computed, and lets go of it.
    pub(super) fn finish(&mut self, seat: Seat) {
        let sequence = self.seats.get_mut(seat);
        let lease = std::mem::take(&mut sequence.lease);
        let full = self.config.full_pages(sequence.computed);
        let Some(node) = lease.node else { return };
        if !self.config.prefix_caching {
            self.cache.give(lease.pages);
            return;
        }
        self.cache.give(lease.pages - full);
        if full > 0 {
            let pages = Pages { from: lease.cached, to: full };
            let (_, fresh) = self.cache.insert(node, &sequence.content, pages);
            self.cache.give(full - lease.cached - fresh);
        }
        self.cache.unlock(node);
    }

    /// Takes all its KV from a request; what of it is cached stays cached.
    pub(super) fn drop_kv(&mut self, seat: Seat) {
        let sequence = self.sequence(seat);
        sequence.computed = 0;
        let lease = std::mem::take(&mut sequence.lease);
        let Some(node) = lease.node else { return };
        self.cache.give(lease.pages - lease.cached);
        self.cache.unlock(node);
    }

    /// Puts a request's pages up to `to` into the tree and frees its copies of those that were there; returns where they end.
    fn insert(&mut self, seat: Seat, to: u64) -> NodeId {
        let sequence = self.seats.get(seat);
        let lease = sequence.lease;
        let node = lease.node.expect("a request that computed holds pages");
        let pages = Pages { from: lease.cached, to };
        let (end, fresh) = self.cache.insert(node, &sequence.content, pages);
        self.cache.give(to - lease.cached - fresh);
        end
    }
}
