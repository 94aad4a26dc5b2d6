//! Blocks that a copy to another tier still reads.

use std::collections::{BTreeMap, BTreeSet};

use super::block_pool::{BlockPool, Census, Copy};

/// What becomes of a block that is released while a copy reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sources {
    /// It can be taken for something else; whoever writes it next must wait for the copy.
    Fenced,
    /// It is kept until the copy has ended.
    Held,
}

/// Blocks that copies read.
#[derive(Debug)]
pub(super) struct Readers {
    sources: Sources,
    /// The copy that last read a block, by block.
    by_block: BTreeMap<u32, u64>,
    /// Copies that have not ended, with their blocks in the order of their prompt.
    reading: BTreeMap<u64, Vec<u32>>,
    /// Private blocks that their owner released while they are held.
    released: BTreeSet<u32>,
}

impl Readers {
    /// Returns the copy that reads a block, where one has not ended.
    fn reader(&self, block: u32) -> Option<u64> {
        self.by_block.get(&block).copied().filter(|reader| self.reading.contains_key(reader))
    }
}

impl BlockPool {
    /// Lets copies read blocks of the pool.
    pub(crate) fn allow_reading(&mut self, sources: Sources) {
        self.readers = Some(Box::new(Readers {
            sources,
            by_block: BTreeMap::new(),
            reading: BTreeMap::new(),
            released: BTreeSet::new(),
        }));
    }

    /// Takes `count` blocks, which the caller has counted, in the order in which the reference hands them out: of those it has to
    /// evict, the last one first, then free ones. Which block becomes cached and which stays private decides who waits for a
    /// copy that still reads it.
    pub(crate) fn take_in_order(&mut self, count: u64) -> Vec<Copy> {
        let free = count.min(self.free_blocks());
        let mut taken: Vec<Copy> = Vec::new();
        for index in 0..count {
            let block = if index < free { self.take() } else { self.evict() };
            taken.push(block.expect("the caller counted the blocks"));
        }
        let (free, evicted) = taken.split_at(usize::try_from(free).unwrap_or(usize::MAX));
        evicted.iter().rev().chain(free).copied().collect()
    }

    /// Returns the copy that reads a block, where one has not ended.
    pub(crate) fn reader(&self, copy: Copy) -> Option<u64> {
        self.readers.as_deref()?.reader(copy.0)
    }

    /// Notes that a copy reads these blocks, in the order of their prompt. None of them has another reader.
    pub(crate) fn start_reading(&mut self, reader: u64, blocks: &[Copy]) {
        let readers = self.readers.as_mut().expect("only a pool that allows it is read");
        for block in blocks {
            debug_assert!(readers.reader(block.0).is_none(), "a block has one reader");
            readers.by_block.insert(block.0, reader);
        }
        readers.reading.insert(reader, blocks.iter().map(|block| block.0).collect());
    }

    /// Notes that a copy has ended: held blocks that nobody else holds can go, tail first.
    pub(crate) fn end_reading(&mut self, reader: u64) {
        let Some(readers) = self.readers.as_mut() else { return };
        let Some(blocks) = readers.reading.remove(&reader) else { return };
        if readers.sources == Sources::Fenced {
            return;
        }
        for block in blocks.into_iter().rev() {
            let readers = self.readers.as_mut().expect("the pool allows it");
            readers.by_block.remove(&block);
            if readers.released.remove(&block) {
                self.free_block(block);
            } else if self.is_unreferenced(block) {
                self.link_newest(block);
            }
        }
    }

    /// Returns whether a copy keeps a block from going.
    pub(super) fn is_kept(&self, block: u32) -> bool {
        self.readers.as_deref().is_some_and(|readers| {
            readers.sources == Sources::Held && readers.reader(block).is_some()
        })
    }

    /// Counts the blocks that only a copy keeps, by what they will be when it ends.
    pub(super) fn kept(&self) -> Census {
        let Some(readers) = self.readers.as_deref() else { return Census::default() };
        let blocks = readers.reading.values().flatten();
        let kept = blocks.filter(|block| self.is_kept(**block) && self.is_unreferenced(**block));
        let (all, free) = (kept.count() as u64, readers.released.len() as u64);
        Census { held: 0, cached: all - free, free }
    }

    /// Notes that a kept block without identity was released.
    pub(super) fn release_kept(&mut self, block: u32) {
        if let Some(readers) = self.readers.as_mut() {
            readers.released.insert(block);
        }
    }
}
