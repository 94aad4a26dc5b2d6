//! Trees to the files of a store.

use std::collections::BTreeMap;
use std::io::Write;

use crate::digest::{Hasher, Sha256};
use crate::graph::content::Synthesis;
use crate::graph::ir::Graph;
use crate::units::BlockSize;

use super::blob::Blob;
use super::bytes::{Writer, wide};
use super::manifest::{Part, StoreInfo};
use super::open::Contents;
use super::read::Store;
use super::tree::TreeParts;

/// Makes a store, tree by tree; the order of the trees is part of it.
#[derive(Debug)]
pub(super) struct StoreWriter<W> {
    info: StoreInfo,
    sinks: [Sink<W>; 5],
    /// The number of each segment.
    numbers: BTreeMap<Sha256, u32>,
}

/// A file in the making.
#[derive(Debug)]
pub(super) struct Sink<W> {
    to: W,
    hasher: Hasher,
    length: u64,
}

impl Store {
    /// Makes a store of graphs in memory.
    pub fn of<'g>(graphs: impl IntoIterator<Item = &'g Graph>, synthesis: &Synthesis) -> Self {
        let mut writer = StoreWriter::new(synthesis, Part::ALL.map(|_| Vec::new()));
        for graph in graphs {
            writer.add(graph, synthesis).expect("a Vec takes every write");
        }
        let (info, files, manifest) = writer.finish();
        let [segments, index, programs, topology, trees] = files.map(Blob::Memory);
        let contents = Contents { segments, index, programs, topology, trees };
        contents.into_store(info, Sha256::of(&manifest))
    }
}

impl<W: Write> StoreWriter<W> {
    /// Starts a store; the sinks are those of [`Part::ALL`].
    pub(super) fn new(synthesis: &Synthesis, sinks: [W; 5]) -> Self {
        let sink = |to| Sink { to, hasher: Hasher::new(), length: 0 };
        let info = StoreInfo::of(synthesis);
        Self { info, sinks: sinks.map(sink), numbers: BTreeMap::new() }
    }

    /// Adds a tree.
    ///
    /// # Errors
    /// What the sinks answer.
    pub(super) fn add(&mut self, graph: &Graph, synthesis: &Synthesis) -> std::io::Result<()> {
        self.add_parts(&TreeParts::of(graph, synthesis))
    }

    /// Adds a tree that was made elsewhere.
    ///
    /// # Errors
    /// What the sinks answer.
    pub(super) fn add_parts(&mut self, tree: &TreeParts) -> std::io::Result<()> {
        let mut table = Vec::new();
        let mut named = 0;
        for (digest, bytes) in tree.segments.iter() {
            table.extend_from_slice(&self.segment(digest, bytes)?.to_le_bytes());
            named += 1;
        }
        let [.., programs, topology, trees] = &mut self.sinks;
        programs.write(&table)?;
        programs.write(&tree.programs)?;
        topology.write(&tree.topology)?;
        let mut entry = Writer::default();
        entry.text(&tree.id);
        entry.size(tree.nodes);
        entry.maybe(tree.block_size.map(|size| u64::from(BlockSize::get(size))));
        entry.size(named);
        entry.size(table.len() + tree.programs.len());
        entry.size(tree.topology.len());
        trees.write(&entry.0)?;
        self.info.trees += 1;
        self.info.counts.add(tree.counts);
        Ok(())
    }

    /// Returns the number of a segment, which is written where it is not there.
    fn segment(&mut self, digest: Sha256, bytes: &[u8]) -> std::io::Result<u32> {
        if let Some(number) = self.numbers.get(&digest) {
            return Ok(*number);
        }
        let number = u32::try_from(self.info.segments).map_err(std::io::Error::other)?;
        let [segments, index, ..] = &mut self.sinks;
        index.write(&segments.length.to_le_bytes())?;
        index.write(&wide(bytes.len()).to_le_bytes())?;
        index.write(digest.bytes())?;
        segments.write(bytes)?;
        self.numbers.insert(digest, number);
        self.info.segments += 1;
        Ok(number)
    }

    /// Returns what was made, the sinks, and the manifest.
    pub(super) fn finish(self) -> (StoreInfo, [W; 5], Vec<u8>) {
        let mut files = Vec::new();
        let mut parts = Part::ALL.iter();
        let sinks = self.sinks.map(|sink| {
            let part = parts.next().expect("a sink a file");
            files.push((*part, sink.length, sink.hasher.finish()));
            sink.to
        });
        let manifest = self.info.document(&files);
        (self.info, sinks, manifest)
    }
}

impl<W: Write> Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.update(bytes);
        self.length += wide(bytes.len());
        self.to.write_all(bytes)
    }
}
