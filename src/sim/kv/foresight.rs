//! Eviction by what is asked for: among the blocks that nobody holds, a further copy of a block first, then the one that the input asks
//! for last, then the one released longest ago.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::block_pool::BlockPool;
use super::forecast::Forecast;

/// The order of eviction of one block: the least is evicted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    has_copies: Reverse<bool>,
    next_use: Reverse<usize>,
    released: u64,
    block: u32,
}

/// The order in which a pool evicts.
#[derive(Debug)]
pub(super) struct Foresight {
    forecast: Rc<RefCell<Forecast>>,
    /// How many moves of the forecast the order knows.
    seen: usize,
    /// How often a block was released.
    releases: u64,
    ranked: BTreeSet<Candidate>,
    by_block: BTreeMap<u32, Candidate>,
}

impl BlockPool {
    /// Lets a pool that holds nothing evict by a forecast.
    pub(crate) fn foresee(&mut self, forecast: Rc<RefCell<Forecast>>) {
        self.foresight = Some(Box::new(Foresight {
            forecast,
            seen: 0,
            releases: 0,
            ranked: BTreeSet::new(),
            by_block: BTreeMap::new(),
        }));
    }

    /// Ranks a cached block that nobody holds any more.
    pub(super) fn rank_block(&mut self, block: u32) {
        let Some(identity) = self.identity_of(block) else { return };
        let has_copies = self.has_copies(identity.bits());
        let Some(foresight) = &mut self.foresight else { return };
        let candidate = Candidate {
            has_copies: Reverse(has_copies),
            next_use: Reverse(foresight.forecast.borrow().next_use(identity.bits())),
            released: foresight.releases,
            block,
        };
        foresight.releases += 1;
        foresight.ranked.insert(candidate);
        foresight.by_block.insert(block, candidate);
    }

    /// Takes a block that somebody holds, or that is evicted, out of the order.
    pub(super) fn unrank_block(&mut self, block: u32) {
        let Some(foresight) = &mut self.foresight else { return };
        if let Some(candidate) = foresight.by_block.remove(&block) {
            foresight.ranked.remove(&candidate);
        }
    }

    /// Ranks the copies of a block anew.
    pub(super) fn rerank(&mut self, key: u64) {
        let has_copies = self.has_copies(key);
        let copies = self.copies(key);
        let Some(foresight) = &mut self.foresight else { return };
        let next_use = foresight.forecast.borrow().next_use(key);
        for block in copies {
            let Some(candidate) = foresight.by_block.get_mut(&block) else { continue };
            foresight.ranked.remove(candidate);
            candidate.has_copies = Reverse(has_copies);
            candidate.next_use = Reverse(next_use);
            foresight.ranked.insert(*candidate);
        }
    }

    /// Returns the block to be evicted next by the forecast; nothing where there is none, or no forecast.
    pub(super) fn foreseen_victim(&mut self) -> Option<u32> {
        let foresight = self.foresight.as_deref_mut()?;
        let moved = foresight.forecast.borrow().moved_since(&mut foresight.seen);
        for key in moved {
            self.rerank(key);
        }
        self.foresight.as_ref()?.ranked.first().map(|candidate| candidate.block)
    }
}
