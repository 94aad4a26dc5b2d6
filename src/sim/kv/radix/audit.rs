//! The books of the tree, for tests: every page and every lock, counted one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::cache::{NodeId, RadixCache};

impl RadixCache {
    /// Finds pages or locks that are counted otherwise than they stand in the tree: requests hold `own` pages outside it, and their
    /// prefixes end at `ends`.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&self, own: u64, ends: impl Iterator<Item = NodeId>) -> Result<(), String> {
        let alive: BTreeSet<NodeId> = self.index.values().copied().collect();
        let pages: u64 = alive.iter().map(|id| self.node(*id).pages).sum();
        let found = pages + own + self.free;
        if found != self.capacity() {
            let (free, all) = (self.free, self.capacity());
            return Err(format!(
                "{pages} pages in the tree + {own} outside + {free} free of {all}"
            ));
        }
        let mut locks: BTreeMap<NodeId, u64> = BTreeMap::new();
        for end in ends {
            let mut at = end;
            while at != NodeId::ROOT {
                *locks.entry(at).or_default() += 1;
                at = self.node(at).parent;
            }
        }
        let wrong = |id: &&NodeId| locks.get(*id).copied().unwrap_or(0) != self.node(**id).locks;
        if let Some(id) = alive.iter().find(wrong) {
            let found = self.node(*id).locks;
            return Err(format!("{id:?} has {found} locks, {:?} requests hold it", locks.get(id)));
        }
        self.audit_leaves(&alive)
    }

    /// Finds a leaf that could be evicted and is not listed, or the reverse.
    fn audit_leaves(&self, alive: &BTreeSet<NodeId>) -> Result<(), String> {
        let unlocked = || alive.iter().filter(|id| self.node(**id).locks == 0);
        let evictable: u64 = unlocked().map(|id| self.node(*id).pages).sum();
        let mut children: BTreeMap<NodeId, u32> = BTreeMap::new();
        for id in alive {
            *children.entry(self.node(*id).parent).or_default() += 1;
        }
        let leaves: BTreeSet<(u64, NodeId)> = unlocked()
            .filter(|id| !children.contains_key(id))
            .map(|id| (self.node(*id).used, *id))
            .collect();
        if evictable != self.evictable || leaves != self.leaves {
            return Err(format!("{evictable} pages in {leaves:?} could go: {:?}", self.leaves));
        }
        Ok(())
    }
}
