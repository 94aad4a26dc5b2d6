//! A store that was made: trees, programs, segments.

use crate::digest::Sha256;
use crate::graph::ir::{Graph, NodeIndex};
use crate::graph::prompt::MessageRole;
use crate::units::BlockSize;

use super::blob::Blob;
use super::bytes::Reader;
use super::content::{ANSWER, AUTHORED, BLOCKS, COMPOSED, RAW, SAMPLED, opening};
use super::decode;
use super::manifest::StoreInfo;
use super::program::{Program, ProgramMessage, Span};

/// Bytes of an entry of the index of segments: offset, length, digest.
pub(super) const INDEX_ENTRY: usize = 8 + 8 + 32;

/// The end of a synthesised message.
const CLOSING: &[u8] = b"\"}";

/// The graphs of a corpus and what their nodes send. Made or opened, it never changes.
#[derive(Debug)]
pub struct Store {
    pub(super) info: StoreInfo,
    pub(super) digest: Sha256,
    pub(super) segments: Blob,
    pub(super) index: Blob,
    pub(super) programs: Blob,
    pub(super) topology: Blob,
    pub(super) trees: Vec<TreeEntry>,
    /// The openings of synthesised messages, by role.
    pub(super) openings: [String; 2],
}

/// Where a tree is.
#[derive(Debug, Clone)]
pub(super) struct TreeEntry {
    pub(super) id: String,
    pub(super) nodes: usize,
    /// Tokens of a block, where it has blocks.
    pub(super) block_size: Option<BlockSize>,
    pub(super) topology: std::ops::Range<usize>,
    /// Its table of segments, its table of programs, and its programs.
    pub(super) programs: std::ops::Range<usize>,
    /// How many segments it names.
    pub(super) segments: usize,
}

/// The start of a run that a prompt has.
struct Kept {
    role: MessageRole,
    segment: usize,
    blocks: usize,
}

/// One node's own part of a prompt of blocks.
struct Own {
    parent: Option<usize>,
    inherited: usize,
    runs: Vec<Kept>,
    filler: Option<usize>,
}

impl Store {
    /// Returns the digest of the whole: the same graphs under the same seed and tokenizer have the same.
    pub const fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Returns what it was made from and what was made.
    pub const fn info(&self) -> &StoreInfo {
        &self.info
    }

    /// Returns how many trees it holds; they are in the order in which they were added.
    pub fn tree_count(&self) -> usize {
        self.trees.len()
    }

    /// Returns the name of a tree.
    pub fn tree_id(&self, tree: usize) -> &str {
        &self.trees[tree].id
    }

    /// Returns how many nodes a tree has.
    pub fn node_count(&self, tree: usize) -> usize {
        self.trees[tree].nodes
    }

    /// Returns the graph of a tree; its prompts are the answers that they take ([`crate::graph::Prompt::slots`]), and nothing else.
    pub fn graph(&self, tree: usize) -> Graph {
        decode::topology(&self.topology.bytes()[self.trees[tree].topology.clone()])
    }

    /// Returns the graphs of all trees, as [`Store::graph`].
    pub fn graphs(&self) -> impl Iterator<Item = Graph> {
        (0..self.tree_count()).map(|tree| self.graph(tree))
    }

    /// Returns what a node sends.
    pub fn program(&self, tree: usize, node: NodeIndex) -> Program<'_> {
        let mut own = self.own(tree, node.0);
        match own.byte() {
            BLOCKS => Program::new(self.of_blocks(tree, &read_own(&mut own))),
            SAMPLED => {
                let filler = self.segment(tree, own.size());
                Program::new(vec![self.synthesised(MessageRole::User, &[], Some(filler))])
            }
            AUTHORED => Program::new(own.list(|own| self.authored(tree, own))),
            other => panic!("bug: a program of kind {other}"),
        }
    }

    /// Returns the messages of a prompt of blocks.
    fn of_blocks(&self, tree: usize, own: &Own) -> Vec<ProgramMessage<'_>> {
        let size = self.trees[tree].block_size.expect("bug: blocks in a tree without a block size");
        let block = usize::try_from(size.get()).expect("32 bits") * self.info.width;
        let kept = self.lineage(tree, own);
        let count = kept.len();
        let message = |(at, run): (usize, &Kept)| {
            let text = &self.segment(tree, run.segment)[..run.blocks * block];
            let filler = own.filler.filter(|_| at + 1 == count);
            let filler = filler.map(|filler| self.segment(tree, filler));
            self.synthesised(run.role, text, filler)
        };
        kept.iter().enumerate().map(message).collect()
    }

    /// Returns the runs of a prompt from its first block on, those of the nodes that it goes on from among them.
    fn lineage(&self, tree: usize, own: &Own) -> Vec<Kept> {
        let keep = |own: &Own, end: usize| {
            let mut start = own.inherited;
            let mut kept = Vec::new();
            for run in &own.runs {
                let blocks = run.blocks.min(end.saturating_sub(start));
                if blocks > 0 {
                    kept.push(Kept { role: run.role, segment: run.segment, blocks });
                }
                start += run.blocks;
            }
            kept
        };
        let mut parts = vec![keep(own, usize::MAX)];
        let (mut at, mut end) = (own.parent, own.inherited);
        while let Some(parent) = at.filter(|_| end > 0) {
            let mut bytes = self.own(tree, parent);
            assert_eq!(bytes.byte(), BLOCKS, "bug: blocks of a node that has none");
            let own = read_own(&mut bytes);
            parts.push(keep(&own, end));
            end = end.min(own.inherited);
            at = own.parent;
        }
        parts.into_iter().rev().flatten().collect()
    }

    /// Returns a message of words.
    fn synthesised<'s>(
        &'s self,
        role: MessageRole,
        text: &'s [u8],
        filler: Option<&'s [u8]>,
    ) -> ProgramMessage<'s> {
        let opening = match role {
            MessageRole::User => &self.openings[0],
            MessageRole::Assistant => &self.openings[1],
        };
        let texts = [Some(text), filler].into_iter().flatten().filter(|text| !text.is_empty());
        let spans = std::iter::once(opening.as_bytes()).chain(texts).chain([CLOSING]);
        ProgramMessage::Written {
            role: role.name(),
            spans: spans.map(Span::Static).collect(),
            text_start: Some(opening.len()),
        }
    }

    /// Returns the next piece of an authored prompt.
    fn authored(&self, tree: usize, own: &mut Reader<'_>) -> ProgramMessage<'_> {
        match own.byte() {
            RAW => {
                let role = text(self.segment(tree, own.size()));
                let spans = vec![Span::Static(self.segment(tree, own.size()))];
                ProgramMessage::Written { role, spans, text_start: own.maybe_size() }
            }
            ANSWER => ProgramMessage::Answer(NodeIndex(own.size())),
            COMPOSED => {
                let role = text(self.segment(tree, own.size()));
                let opening = self.segment(tree, own.size());
                let mut spans = vec![Span::Static(opening)];
                spans.extend(own.list(|own| {
                    if own.flag() {
                        Span::Text(NodeIndex(own.size()))
                    } else {
                        Span::Static(self.segment(tree, own.size()))
                    }
                }));
                spans.push(Span::Static(CLOSING));
                ProgramMessage::Written { role, spans, text_start: Some(opening.len()) }
            }
            other => panic!("bug: a piece of kind {other}"),
        }
    }

    /// Returns the bytes of a node's own program.
    fn own(&self, tree: usize, node: usize) -> Reader<'_> {
        let entry = &self.trees[tree];
        assert!(node < entry.nodes, "bug: node {node} of {}", entry.nodes);
        let bytes = &self.programs.bytes()[entry.programs.clone()];
        let starts = &bytes[entry.segments * 4..];
        let programs = &starts[entry.nodes * 4..];
        Reader(&programs[small(starts, node)..])
    }

    /// Returns the bytes of a segment that a tree names.
    fn segment(&self, tree: usize, number: usize) -> &[u8] {
        let entry = &self.trees[tree];
        assert!(number < entry.segments, "bug: segment {number} of {}", entry.segments);
        let bytes = &self.programs.bytes()[entry.programs.clone()];
        self.stored(small(bytes, number)).1
    }

    /// Returns the digest and the bytes of a segment.
    pub(super) fn stored(&self, number: usize) -> (&[u8], &[u8]) {
        let entry = &self.index.bytes()[number * INDEX_ENTRY..][..INDEX_ENTRY];
        let part = |at: usize| {
            let mut bytes = [0_u8; 8];
            bytes.copy_from_slice(&entry[at..at + 8]);
            usize::try_from(u64::from_le_bytes(bytes)).expect("files are below the address space")
        };
        (&entry[16..], &self.segments.bytes()[part(0)..][..part(8)])
    }
}

/// Returns the openings of synthesised messages.
pub(super) fn openings() -> [String; 2] {
    [MessageRole::User, MessageRole::Assistant].map(|role| opening(role.name()))
}

/// Reads a node's own part of a prompt of blocks.
fn read_own(own: &mut Reader<'_>) -> Own {
    Own {
        parent: own.maybe_size(),
        inherited: own.size(),
        runs: own.list(|own| Kept {
            role: if own.flag() { MessageRole::Assistant } else { MessageRole::User },
            blocks: own.size(),
            segment: own.size(),
        }),
        filler: own.maybe_size(),
    }
}

/// Returns the number at an index of a table of 32-bit numbers.
fn small(table: &[u8], at: usize) -> usize {
    let mut bytes = [0_u8; 4];
    bytes.copy_from_slice(&table[at * 4..][..4]);
    usize::try_from(u32::from_le_bytes(bytes)).expect("32 bits")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("written from a text")
}
