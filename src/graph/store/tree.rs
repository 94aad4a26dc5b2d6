//! One tree as bytes: its topology, its programs, and the segments that they name.
//!
//! Everything that takes time about a tree is here and touches nothing else, so trees can be made side by side.

use std::collections::BTreeMap;

use crate::digest::Sha256;
use crate::graph::content::Synthesis;
use crate::graph::ir::Graph;
use crate::units::BlockSize;

use super::bytes::Writer;
use super::content::Programs;
use super::encode;
use super::manifest::StoreCounts;

/// A tree as bytes, made apart from any store.
#[derive(Debug)]
pub struct TreeParts {
    /// Its name.
    pub(super) id: String,
    /// How many nodes.
    pub(super) nodes: usize,
    /// Tokens of a block, where it has blocks.
    pub(super) block_size: Option<BlockSize>,
    /// The graph without its prompts.
    pub(super) topology: Vec<u8>,
    /// What each node sends, in terms of `segments`.
    pub(super) programs: Vec<u8>,
    /// The segments, each once, in the order in which they were first needed.
    pub(super) segments: Segments,
    /// What was made.
    pub(super) counts: StoreCounts,
}

/// The segments of a tree.
#[derive(Debug, Default)]
pub(super) struct Segments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    digests: Vec<Sha256>,
    numbers: BTreeMap<Sha256, usize>,
}

impl TreeParts {
    /// Makes the bytes of a tree.
    pub fn of(graph: &Graph, synthesis: &Synthesis) -> Self {
        let mut made = Programs::new(graph, synthesis);
        let mut programs = Writer::default();
        let mut starts = Vec::with_capacity(graph.nodes.len());
        for index in 0..graph.nodes.len() {
            starts.push(programs.0.len());
            made.add(index, &mut programs);
        }
        let mut framed = Vec::with_capacity(programs.0.len() + starts.len() * 4);
        for start in starts {
            let start = u32::try_from(start).expect("the programs of a tree are below 4 GiB");
            framed.extend_from_slice(&start.to_le_bytes());
        }
        framed.append(&mut programs.0);
        let (segments, counts) = made.finish();
        Self {
            id: graph.id.clone(),
            nodes: graph.nodes.len(),
            block_size: graph.block_size,
            topology: encode::topology(graph),
            programs: framed,
            segments,
            counts,
        }
    }
}

impl Segments {
    /// Adds bytes, and returns the number of the segment that holds them.
    pub(super) fn add(&mut self, bytes: &[u8]) -> usize {
        let digest = Sha256::of(bytes);
        if let Some(number) = self.numbers.get(&digest) {
            return *number;
        }
        let number = self.digests.len();
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        self.digests.push(digest);
        self.numbers.insert(digest, number);
        number
    }

    /// Returns the bytes of a segment.
    pub(super) fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// Returns the segments with their digests, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Sha256, &[u8])> {
        self.digests.iter().enumerate().map(|(number, digest)| (*digest, self.get(number)))
    }
}
