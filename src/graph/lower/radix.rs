//! Prompts by their beginnings: which earlier prompt a prompt goes on from.

use std::collections::BTreeMap;

use crate::graph::blocks::{BlockId, BlockList};

use super::calls::Call;

/// Where a prompt goes on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lineage {
    /// The earlier call whose prompt it goes on from.
    pub(super) parent: Option<usize>,
    /// How many blocks it has of that one.
    pub(super) inherited: usize,
    /// How many leading blocks some earlier prompt has.
    pub(super) known: usize,
}

/// All prompts so far, by their beginnings.
#[derive(Debug)]
pub(super) struct Radix {
    edges: Vec<Stretch>,
    roots: BTreeMap<BlockId, usize>,
}

/// Blocks that some prompts have in a row, without a branch inside.
#[derive(Debug)]
struct Stretch {
    /// A call whose prompt has the blocks.
    label: usize,
    /// The index of its first block in prompts, and the one behind the last.
    start: usize,
    end: usize,
    /// The earliest call whose prompt has them.
    first: usize,
    /// The latest call whose prompt ends with them.
    whole: Option<usize>,
    /// What follows, by the next block.
    next: BTreeMap<BlockId, usize>,
}

impl Radix {
    /// Returns an empty one.
    pub(super) fn new() -> Self {
        Self { edges: Vec::new(), roots: BTreeMap::new() }
    }

    /// Returns where the prompt of a call goes on from, and adds it: calls come in the order of their starts.
    ///
    /// The parent is the call with the longest prompt that is all a beginning of this one, the latest of equals; else the earliest
    /// call with the longest common beginning. Source: spec/REPLAY.md §4.1.
    pub(super) fn add(&mut self, calls: &[Call<'_>], index: usize) -> Lineage {
        let blocks = &calls[index].blocks;
        let (mut at, mut depth): (Option<usize>, usize) = (None, 0);
        let (mut whole, mut common): (Option<(usize, usize)>, Option<usize>) = (None, None);
        while depth < blocks.len() {
            let next = self.following(at).get(&blocks.at(depth)).copied();
            let Some(edge) = next else {
                self.append(at, index, depth, blocks);
                return lineage(whole, common, depth);
            };
            let (label, end) = (self.edges[edge].label, self.edges[edge].end);
            let same = blocks.common(&calls[label].blocks, depth, end);
            depth += same;
            common = Some(self.edges[edge].first);
            if depth < end {
                self.split(edge, depth, calls);
            }
            if let Some(last) = self.edges[edge].whole {
                whole = Some((last, depth));
            }
            at = Some(edge);
        }
        let found = lineage(whole, common, depth);
        if let Some(edge) = at {
            self.edges[edge].whole = Some(index);
        }
        found
    }

    fn following(&self, at: Option<usize>) -> &BTreeMap<BlockId, usize> {
        at.map_or(&self.roots, |edge| &self.edges[edge].next)
    }

    /// Adds the rest of a prompt behind a stretch.
    fn append(&mut self, at: Option<usize>, index: usize, start: usize, blocks: &BlockList<'_>) {
        let edge = self.edges.len();
        let (end, first) = (blocks.len(), blocks.at(start));
        let (whole, next) = (Some(index), BTreeMap::new());
        self.edges.push(Stretch { label: index, start, end, first: index, whole, next });
        match at {
            Some(before) => self.edges[before].next.insert(first, edge),
            None => self.roots.insert(first, edge),
        };
    }

    /// Ends a stretch at `end`, with the rest of it behind.
    fn split(&mut self, edge: usize, end: usize, calls: &[Call<'_>]) {
        let rest = self.edges.len();
        let front = &mut self.edges[edge];
        let next = std::mem::take(&mut front.next);
        let whole = front.whole.take();
        let back = Stretch {
            label: front.label,
            start: end,
            end: front.end,
            first: front.first,
            whole,
            next,
        };
        front.end = end;
        debug_assert!(front.start < end, "a stretch has a block");
        front.next.insert(calls[front.label].blocks.at(end), rest);
        self.edges.push(back);
    }
}

/// Returns the lineage of what was found on the way.
fn lineage(whole: Option<(usize, usize)>, common: Option<usize>, known: usize) -> Lineage {
    match (whole, common) {
        (Some((parent, inherited)), _) => Lineage { parent: Some(parent), inherited, known },
        (None, Some(parent)) => Lineage { parent: Some(parent), inherited: known, known },
        (None, None) => Lineage { parent: None, inherited: 0, known },
    }
}
