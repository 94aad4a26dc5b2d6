//! The books of the pool, for tests: every block counted one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::{BlockPool, Copy, NONE};

impl BlockPool {
    /// Finds a block that is counted otherwise than it is held; `claims` says how many holders each held block has.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&self, claims: &BTreeMap<Copy, u32>) -> Result<(), String> {
        let free: BTreeSet<u32> = self.free.iter().copied().collect();
        let idle = self.idle();
        if free.len() != self.free.len() || idle.len() as u64 != self.inactive {
            return Err(format!(
                "{} free and {} cached blocks are listed twice",
                free.len(),
                idle.len()
            ));
        }
        for (block, slot) in (0_u32..).zip(&self.slots) {
            let claimed = claims.get(&Copy(block)).copied().unwrap_or(0);
            let (is_free, is_idle) = (free.contains(&block), idle.contains(&block));
            let is_kept = self.is_kept(block);
            let places = u32::from(is_free) + u32::from(is_idle);
            let expected = u32::from(slot.references == 0 && !is_kept);
            if slot.references != claimed || places != expected {
                return Err(format!(
                    "block {block} has {} references of {claimed} holders; free {is_free}, cached {is_idle}, kept {is_kept}",
                    slot.references
                ));
            }
        }
        let kept = self.kept();
        let held = self.census().held + kept.cached + kept.free;
        if held != self.active() {
            return Err(format!("{held} blocks are held or read, {} counted", self.active()));
        }
        self.audit_index(&free)
    }

    /// Returns the cached blocks that nobody holds.
    fn idle(&self) -> BTreeSet<u32> {
        let (mut idle, mut next) = (BTreeSet::new(), self.oldest);
        while next != NONE && idle.insert(next) {
            next = self.slots[next as usize].newer;
        }
        idle
    }

    /// Finds an identity that names a block which does not hold it, and a block that no identity names.
    fn audit_index(&self, free: &BTreeSet<u32>) -> Result<(), String> {
        let mut named: BTreeSet<(u64, u32)> = BTreeSet::new();
        for (key, first) in &self.primary {
            named.insert((*key, *first));
        }
        for (key, others) in &self.duplicates {
            named.extend(others.iter().map(|other| (*key, *other)));
        }
        let mut holds: BTreeSet<(u64, u32)> = BTreeSet::new();
        for (block, slot) in (0_u32..).zip(&self.slots).filter(|(block, _)| !free.contains(block)) {
            let others = self.aliases.get(&block).into_iter().flatten();
            let own = slot.identity.iter().chain(others);
            holds.extend(own.map(|identity| (identity.bits(), block)));
        }
        if named == holds {
            return Ok(());
        }
        Err(format!("named and not held, or the reverse: {:?}", named.symmetric_difference(&holds)))
    }
}
