//! Making room.

use super::cache::{NodeId, RadixCache};

impl RadixCache {
    /// Evicts until at least `pages` pages are free, or nothing is left to evict.
    pub(crate) fn make_room(&mut self, pages: u64) {
        if pages > self.free {
            self.evict(pages - self.free);
        }
    }

    /// Evicts `pages` pages from the ends of the leaves used longest ago, as far as there are any.
    fn evict(&mut self, pages: u64) {
        let mut left = pages;
        while left > 0 {
            let Some((used, id)) = self.leaves.pop_first() else { return };
            let page = u64::from(self.page);
            let node = self.node_mut(id);
            let evicted = left.min(node.pages);
            left -= evicted;
            if evicted < node.pages {
                node.pages -= evicted;
                let kept = node.pages * page;
                node.edge.split_off(kept);
                self.leaves.insert((used, id));
            } else {
                let parent = self.detach(id);
                if parent != NodeId::ROOT {
                    self.list(parent);
                }
            }
            self.evictable -= evicted;
            self.free += evicted;
        }
    }
}
