//! What a reservation in the host tier would evict, block by block, before it does.

use std::collections::BTreeSet;

use super::{HostKey, HostTier, Presence};

/// What a reservation in the host tier would evict, block by block, before it does.
///
/// Each block takes a free place, else that of the block used longest ago, as a reservation of it alone would. A block that the
/// plan evicts counts as missing from then on, even where the same prefix needs it later.
#[derive(Debug)]
pub(crate) struct Plan {
    free: usize,
    /// The place of the last victim.
    place: Option<u64>,
    victims: Vec<HostKey>,
    evicted: BTreeSet<HostKey>,
    reserved: Vec<HostKey>,
}

impl Plan {
    /// Returns an empty plan of a tier with `free` free places.
    pub(super) fn new(free: usize) -> Self {
        Self {
            free,
            place: None,
            victims: Vec::new(),
            evicted: BTreeSet::new(),
            reserved: Vec::new(),
        }
    }

    /// Returns the blocks it reserves, in order.
    pub(crate) fn reserved(&self) -> &[HostKey] {
        &self.reserved
    }

    /// Returns whether a block is there once the plan is carried out.
    pub(crate) fn presence(&self, tier: &HostTier, key: HostKey) -> Presence {
        if self.evicted.contains(&key) { Presence::Missing } else { tier.presence(key) }
    }

    /// Adds a block that is missing; `false` where neither a free place nor a victim is left.
    pub(crate) fn add(&mut self, tier: &HostTier, key: HostKey) -> bool {
        if let Some(free) = self.free.checked_sub(1) {
            self.free = free;
        } else {
            let Some((place, victim)) = tier.evictable_after(self.place).next() else {
                return false;
            };
            self.place = Some(place);
            self.victims.push(victim);
            self.evicted.insert(victim);
        }
        self.reserved.push(key);
        true
    }

    /// Returns whether the missing blocks of a prefix fit at once without evicting a block of it.
    pub(crate) fn fits(&self, tier: &HostTier, prefix: &[HostKey]) -> bool {
        let stay: BTreeSet<HostKey> = prefix.iter().copied().collect();
        let is_missing = |key: &&HostKey| {
            self.presence(tier, **key) == Presence::Missing && !self.reserved.contains(key)
        };
        let needed = stay.iter().filter(is_missing).count().saturating_sub(self.free);
        let may_go = |key: &HostKey| !stay.contains(key) && !self.evicted.contains(key);
        let evictable = tier.evictable_after(None).map(|(_, key)| key);
        evictable.filter(may_go).take(needed).count() == needed
    }

    /// Returns victims and reserved blocks.
    pub(super) fn into_parts(self) -> (Vec<HostKey>, Vec<HostKey>) {
        (self.victims, self.reserved)
    }
}
