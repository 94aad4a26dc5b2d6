//! The block pool of vLLM and TensorRT-LLM: identical physical blocks, shared by prefix, least recently released first out.
//!
//! Source: spec/SIMULATION.md §3.2. A block is free, private to one request, or cached under an identity with a reference
//! count; a cached block without references waits in one list, oldest release first, until it is taken for something else.
//! One identity may have several copies: two requests that compute the same block both keep theirs.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use crate::workload::BlockIdentity;

use super::foresight::Foresight;
use super::reading::Readers;

/// One physical block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Copy(pub(super) u32);

/// No block: the end of a list.
const NONE: u32 = u32::MAX;

/// What a physical block holds.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The identity under which it is cached; `None` while private.
    identity: Option<BlockIdentity>,
    /// Requests that hold it.
    references: u32,
    /// How often it was taken: who remembers a block can tell whether it is still the same.
    owner: u32,
    /// Its neighbours among the blocks without references.
    older: u32,
    newer: u32,
}

/// All blocks of one rank.
#[derive(Debug)]
pub(crate) struct BlockPool {
    capacity: u64,
    slots: Vec<Slot>,
    free: Vec<u32>,
    primary: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    duplicates: HashMap<u64, VecDeque<u32>, BuildHasherDefault<Mixed>>,
    oldest: u32,
    newest: u32,
    inactive: u64,
    peak_active: u64,
    /// Further identities that blocks answer for: those of a part of them.
    pub(super) aliases: BTreeMap<u32, Vec<BlockIdentity>>,
    /// The order of eviction, where it is not that of release.
    pub(super) foresight: Option<Box<Foresight>>,
    /// Copies that read blocks, where there is a tier behind the pool.
    pub(super) readers: Option<Box<Readers>>,
}

/// The blocks of a pool, counted one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// With a reference.
    pub(crate) held: u64,
    /// Cached, without one.
    pub(crate) cached: u64,
    /// With nothing in them.
    pub(crate) free: u64,
}

/// A hasher of words that are hashes already.
#[derive(Debug, Default, Clone)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

impl Census {
    /// Returns the blocks of two pools together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            held: self.held + other.held,
            cached: self.cached + other.cached,
            free: self.free.saturating_add(other.free),
        }
    }
}

impl BlockPool {
    /// Returns a pool of `capacity` free blocks.
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            capacity,
            slots: Vec::new(),
            free: Vec::new(),
            primary: HashMap::default(),
            duplicates: HashMap::default(),
            oldest: NONE,
            newest: NONE,
            inactive: 0,
            peak_active: 0,
            aliases: BTreeMap::new(),
            foresight: None,
            readers: None,
        }
    }

    /// Returns how many blocks there are.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns how many blocks requests hold.
    pub(crate) fn active(&self) -> u64 {
        self.slots.len() as u64 - self.free.len() as u64 - self.inactive
    }

    /// Counts the blocks one by one: what should add up to the capacity, however often they changed hands.
    pub(crate) fn census(&self) -> Census {
        let held = self.slots.iter().filter(|slot| slot.references > 0).count() as u64;
        let (mut cached, mut next) = (0, self.oldest);
        while next != NONE {
            cached += 1;
            next = self.slots[next as usize].newer;
        }
        let kept = self.kept();
        Census { held, cached: cached + kept.cached, free: self.free_blocks() + kept.free }
    }

    /// Returns the most blocks that requests ever held at once.
    pub(crate) fn peak_active(&self) -> u64 {
        self.peak_active
    }

    /// Returns how many blocks can be taken: free ones and cached ones without references.
    pub(crate) fn available(&self) -> u64 {
        self.capacity - self.active()
    }

    /// Returns the copy that answers for an identity and whether a request holds it, or `None` where none is resident.
    pub(crate) fn find(&self, identity: BlockIdentity) -> Option<(Copy, bool)> {
        let copy = *self.primary.get(&identity.bits())?;
        Some((Copy(copy), self.is_active(copy)))
    }

    /// Adds a reference to a cached copy.
    pub(crate) fn pin(&mut self, copy: Copy) {
        if !self.is_active(copy.0) {
            self.unlink(copy.0);
        }
        self.slots[copy.0 as usize].references += 1;
        self.peak_active = self.peak_active.max(self.active());
    }

    /// Takes a block for one request: a free one, else the one released longest ago; `None` where all are held.
    pub(crate) fn take(&mut self) -> Option<Copy> {
        let copy = if let Some(copy) = self.free.pop() {
            copy
        } else if (self.slots.len() as u64) < self.capacity {
            let fresh = u32::try_from(self.slots.len()).ok().filter(|fresh| *fresh != NONE)?;
            self.slots.push(Slot {
                identity: None,
                references: 0,
                owner: 0,
                older: NONE,
                newer: NONE,
            });
            fresh
        } else {
            return self.evict();
        };
        Some(self.own(copy))
    }

    /// Takes the block released longest ago for one request; `None` where all are held.
    pub(super) fn evict(&mut self) -> Option<Copy> {
        let copy = self.evict_oldest()?;
        Some(self.own(copy))
    }

    /// Returns how many blocks hold nothing.
    pub(super) fn free_blocks(&self) -> u64 {
        self.free.len() as u64 + self.capacity - self.slots.len() as u64
    }

    /// Makes a block that holds nothing one request's own.
    fn own(&mut self, copy: u32) -> Copy {
        let owner = self.slots[copy as usize].owner.wrapping_add(1);
        self.slots[copy as usize] =
            Slot { identity: None, references: 1, owner, older: NONE, newer: NONE };
        self.peak_active = self.peak_active.max(self.active());
        Copy(copy)
    }

    /// Makes a private block answer for an identity, behind the copies that already do.
    pub(crate) fn publish(&mut self, copy: Copy, identity: BlockIdentity) {
        debug_assert!(self.slots[copy.0 as usize].identity.is_none(), "a block is published once");
        self.slots[copy.0 as usize].identity = Some(identity);
        self.index(copy, identity);
    }

    /// Lets a block answer for an identity, behind those that already do.
    pub(super) fn index(&mut self, copy: Copy, identity: BlockIdentity) {
        let key = identity.bits();
        match self.primary.entry(key) {
            hashbrown::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(copy.0);
            }
            hashbrown::hash_map::Entry::Occupied(_) => {
                self.duplicates.entry(key).or_default().push_back(copy.0);
                if self.foresight.is_some() {
                    self.rerank(key);
                }
            }
        }
    }

    /// Drops a reference: a private block becomes free, a cached one without references the newest to be evicted.
    pub(crate) fn release(&mut self, copy: Copy) {
        let slot = &mut self.slots[copy.0 as usize];
        slot.references -= 1;
        if slot.references > 0 {
            return;
        }
        let is_private = slot.identity.is_none();
        if self.is_kept(copy.0) {
            if is_private {
                self.release_kept(copy.0);
            }
        } else if is_private {
            self.free.push(copy.0);
        } else {
            self.link_newest(copy.0);
        }
    }

    /// Returns the identity a block was published under.
    pub(super) fn identity_of(&self, block: u32) -> Option<BlockIdentity> {
        self.slots[block as usize].identity
    }

    /// Returns whether an identity has more than one copy.
    pub(super) fn has_copies(&self, key: u64) -> bool {
        self.duplicates.contains_key(&key)
    }

    /// Returns the copies of an identity.
    pub(super) fn copies(&self, key: u64) -> Vec<u32> {
        let others = self.duplicates.get(&key).into_iter().flatten();
        self.primary.get(&key).into_iter().chain(others).copied().collect()
    }

    /// Returns whether nothing published a block yet.
    pub(crate) fn is_private(&self, copy: Copy) -> bool {
        self.slots[copy.0 as usize].identity.is_none()
    }

    /// Returns how often a block was taken.
    pub(crate) fn owner(&self, copy: Copy) -> u32 {
        self.slots[copy.0 as usize].owner
    }

    /// Makes a published block that one request holds private again.
    pub(crate) fn unpublish(&mut self, copy: Copy) {
        debug_assert!(self.slots[copy.0 as usize].references == 1, "one request holds it");
        if let Some(identity) = self.slots[copy.0 as usize].identity.take() {
            self.forget(identity.bits(), copy.0);
        }
    }

    /// Frees a cached block that nobody holds, if it is still what `owner` took.
    pub(crate) fn discard(&mut self, copy: Copy, owner: u32) {
        let slot = self.slots[copy.0 as usize];
        if let Some(identity) = slot.identity
            && slot.references == 0
            && slot.owner == owner
        {
            self.unlink(copy.0);
            self.slots[copy.0 as usize].identity = None;
            self.forget(identity.bits(), copy.0);
            self.free.push(copy.0);
        }
    }

    /// Returns whether a request holds a block, or a copy to another tier keeps it.
    fn is_active(&self, block: u32) -> bool {
        self.slots[block as usize].references > 0 || self.is_kept(block)
    }

    /// Returns whether no request holds a block.
    pub(super) fn is_unreferenced(&self, block: u32) -> bool {
        self.slots[block as usize].references == 0
    }

    /// Gives a block back.
    pub(super) fn free_block(&mut self, block: u32) {
        self.free.push(block);
    }

    /// Takes the block released longest ago out of cache and list.
    fn evict_oldest(&mut self) -> Option<u32> {
        let copy = if self.foresight.is_some() { self.foreseen_victim()? } else { self.oldest };
        if copy == NONE {
            return None;
        }
        self.unlink(copy);
        if let Some(identity) = self.slots[copy as usize].identity {
            self.forget(identity.bits(), copy);
        }
        self.forget_aliases(copy);
        Some(copy)
    }

    /// Removes one copy from the index; the copy published next answers from then on.
    pub(super) fn forget(&mut self, key: u64, copy: u32) {
        if self.duplicates.is_empty() {
            self.primary.remove(&key);
            return;
        }
        let Some(others) = self.duplicates.get_mut(&key) else {
            self.primary.remove(&key);
            return;
        };
        if self.primary.get(&key) == Some(&copy) {
            if let Some(next) = others.pop_front() {
                self.primary.insert(key, next);
            }
        } else {
            others.retain(|other| *other != copy);
        }
        if others.is_empty() {
            self.duplicates.remove(&key);
            if self.foresight.is_some() {
                self.rerank(key);
            }
        }
    }

    /// Appends a block to the list of those without references.
    pub(super) fn link_newest(&mut self, copy: u32) {
        let older = self.newest;
        self.slots[copy as usize].older = older;
        self.slots[copy as usize].newer = NONE;
        if older == NONE {
            self.oldest = copy;
        } else {
            self.slots[older as usize].newer = copy;
        }
        self.newest = copy;
        self.inactive += 1;
        if self.foresight.is_some() {
            self.rank_block(copy);
        }
    }

    /// Takes a block out of the list of those without references.
    fn unlink(&mut self, copy: u32) {
        let Slot { older, newer, .. } = self.slots[copy as usize];
        if older == NONE {
            self.oldest = newer;
        } else {
            self.slots[older as usize].newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            self.slots[newer as usize].older = older;
        }
        self.inactive -= 1;
        if self.foresight.is_some() {
            self.unrank_block(copy);
        }
    }
}

#[cfg(test)]
mod audit;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{BlockCursor, Content, Run, Symbol};

    fn identity(id: u64) -> BlockIdentity {
        let run = Run { symbol: Symbol::Repeated(id), start: 0, length: 4 };
        Content::new([run], 0).next_block(&mut BlockCursor::default(), 4)
    }

    #[test]
    fn free_blocks_go_first_then_the_block_released_longest_ago() {
        let mut pool = BlockPool::new(2);
        let (a, b) = (pool.take().expect("free"), pool.take().expect("free"));
        assert!(pool.take().is_none() && pool.available() == 0);
        pool.publish(a, identity(1));
        pool.publish(b, identity(2));
        pool.release(b);
        pool.release(a);
        assert_eq!((pool.active(), pool.available()), (0, 2));
        assert!(pool.take().is_some());
        assert!(pool.find(identity(2)).is_none(), "b was released first");
        assert_eq!(pool.find(identity(1)), Some((a, false)));
    }

    #[test]
    fn held_cached_and_free_blocks_are_counted_one_by_one() {
        let mut pool = BlockPool::new(4);
        let (a, b) = (pool.take().expect("free"), pool.take().expect("free"));
        pool.publish(a, identity(1));
        assert_eq!(pool.census(), Census { held: 2, cached: 0, free: 2 });
        pool.release(a);
        assert_eq!(pool.census(), Census { held: 1, cached: 1, free: 2 });
        pool.release(b);
        assert_eq!(pool.census(), Census { held: 0, cached: 1, free: 3 });
    }

    #[test]
    fn a_pinned_block_is_never_evicted() {
        let mut pool = BlockPool::new(1);
        let a = pool.take().expect("free");
        pool.publish(a, identity(1));
        pool.release(a);
        pool.pin(a);
        assert_eq!(pool.find(identity(1)), Some((a, true)));
        assert!(pool.take().is_none());
        pool.release(a);
        assert!(pool.take().is_some());
    }

    #[test]
    fn a_second_copy_answers_when_the_first_is_evicted() {
        let mut pool = BlockPool::new(2);
        let (a, b) = (pool.take().expect("free"), pool.take().expect("free"));
        pool.publish(a, identity(1));
        pool.publish(b, identity(1));
        pool.release(a);
        pool.release(b);
        assert_eq!(pool.find(identity(1)), Some((a, false)));
        pool.take();
        assert_eq!(pool.find(identity(1)), Some((b, false)));
        pool.take();
        assert!(pool.find(identity(1)).is_none());
    }
}
