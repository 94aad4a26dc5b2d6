//! The ceiling of a prefix cache: what one that forgets nothing would serve.
//!
//! A block is served where an earlier prompt begins with the same blocks up to it. So every row of blocks that some prompt begins
//! with is computed once, whenever that is, and all that is asked for again is served: over many trees the ceiling does not depend on
//! the order in which they run. Only full blocks count, here as in the prompts that are sent.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;

use crate::digest::Spread;
use crate::trace::HashScope;
use crate::units::Ppm;

use super::blocks::BlockId;
use super::ir::{Graph, NodeIndex};

/// Full blocks of prompts, and those of them that a cache serves which forgets nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// Blocks that are served.
    pub reusable_blocks: u64,
    /// All full blocks.
    pub full_blocks: u64,
}

/// The ceiling over many trees: with a cache for each, and with one for all.
#[derive(Debug, Default)]
pub struct CorpusCeiling {
    alone: Ceiling,
    shared: Ceiling,
    /// Rows of recorded blocks that prompts begin with: the number of each, by the number of the row without its last block and that block.
    rows: HashMap<(u64, u64), u64, BuildHasherDefault<Spread>>,
}

impl Ceiling {
    /// Returns the ceiling of one tree.
    pub fn of(graph: &Graph) -> Self {
        let mut found = Self::default();
        for node in &graph.nodes {
            found.add(count(node.expected.reusable_blocks), count(node.expected.full_blocks));
        }
        found
    }

    /// Returns the share that is served; absent where no prompt has a full block.
    pub fn share(self) -> Option<Ppm> {
        Ppm::of(self.reusable_blocks, self.full_blocks)
    }

    fn add(&mut self, reusable: u64, full: u64) {
        self.reusable_blocks = self.reusable_blocks.saturating_add(reusable);
        self.full_blocks = self.full_blocks.saturating_add(full);
    }
}

impl CorpusCeiling {
    /// Adds a tree.
    pub fn add(&mut self, graph: &Graph) {
        let alone = Ceiling::of(graph);
        self.add_local(alone);
        if graph.hash_scope == HashScope::Local {
            return;
        }
        // What other trees have computed is served as well; blocks that nobody recorded are of their tree alone.
        let own: u64 = alone.full_blocks - alone.reusable_blocks;
        let computed: u64 = (0..graph.nodes.len()).map(|at| self.computed(graph, at)).sum();
        self.shared.reusable_blocks += own.saturating_sub(computed);
    }

    /// Adds a tree whose blocks mean nothing in others.
    pub fn add_local(&mut self, alone: Ceiling) {
        self.alone.add(alone.reusable_blocks, alone.full_blocks);
        self.shared.add(alone.reusable_blocks, alone.full_blocks);
    }

    /// Returns the ceiling where every tree has a cache of its own.
    pub const fn alone(&self) -> Ceiling {
        self.alone
    }

    /// Returns the ceiling of one cache for all trees.
    pub const fn shared(&self) -> Ceiling {
        self.shared
    }

    /// Returns how many blocks of a prompt no prompt before it begins with.
    fn computed(&mut self, graph: &Graph, at: usize) -> u64 {
        let (mut row, mut computed) = (0, 0);
        for block in graph.blocks(NodeIndex(at)) {
            let BlockId::Recorded(name) = block else {
                let expected = &graph.nodes[at].expected;
                return count(expected.full_blocks.saturating_sub(expected.reusable_blocks));
            };
            let next = count(self.rows.len()) + 1;
            row = *self.rows.entry((row, name)).or_insert(next);
            computed += u64::from(row == next);
        }
        computed
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
