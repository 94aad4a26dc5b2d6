//! Prompts to programs.
//!
//! A prompt of blocks is kept as it is related: the node that it goes on from, how many blocks it has of that one, and its own runs, each a
//! segment. A message is the start of a run, as much of it as the prompt keeps; the last one ends with the node's own filler.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::graph::blocks::BlockId;
use crate::graph::content::{Fillers, Scope, Synthesis, Texts};
use crate::graph::ir::{Graph, NodeIndex};
use crate::graph::prompt::{MessageRole, Piece, Prompt, Run, TextPart};
use crate::trace::HashScope;
use crate::units::{BlockSize, Tokens};

use super::bytes::{Writer, wide};
use super::manifest::StoreCounts;
use super::program::escaped;
use super::tree::Segments;

/// What a program is, by its first byte.
pub(super) const BLOCKS: u8 = 0;
/// One message of the user without blocks.
pub(super) const SAMPLED: u8 = 1;
/// Messages as somebody wrote them.
pub(super) const AUTHORED: u8 = 2;

/// What a piece of an authored prompt is, by its first byte.
pub(super) const RAW: u8 = 0;
/// An answer as a message.
pub(super) const ANSWER: u8 = 1;
/// A message of parts.
pub(super) const COMPOSED: u8 = 2;

/// The programs of a tree in the making.
#[derive(Debug)]
pub(super) struct Programs<'g> {
    graph: &'g Graph,
    synthesis: &'g Synthesis,
    texts: Texts<'g>,
    fillers: Fillers<'g>,
    segments: Segments,
    /// The segment of each run of each node so far.
    runs: Vec<Vec<usize>>,
    counts: StoreCounts,
    buffer: Vec<u8>,
}

/// A message, as far as its content is looked at.
#[derive(Deserialize)]
struct WithContent<'m> {
    #[serde(borrow, default)]
    content: Option<&'m RawValue>,
}

impl<'g> Programs<'g> {
    /// Prepares a tree.
    pub(super) fn new(graph: &'g Graph, synthesis: &'g Synthesis) -> Self {
        let scope = match graph.hash_scope {
            HashScope::Local => Scope::Tree(&graph.id),
            HashScope::Global => Scope::Corpus,
        };
        Self {
            graph,
            synthesis,
            texts: synthesis.texts(scope, &graph.id),
            fillers: synthesis.fillers(&graph.id),
            segments: Segments::default(),
            runs: Vec::with_capacity(graph.nodes.len()),
            counts: StoreCounts::default(),
            buffer: Vec::new(),
        }
    }

    /// Returns what was made.
    pub(super) fn finish(self) -> (Segments, StoreCounts) {
        (self.segments, self.counts)
    }

    /// Appends the program of the next node.
    pub(super) fn add(&mut self, index: usize, out: &mut Writer) {
        self.counts.nodes += 1;
        let node = &self.graph.nodes[index];
        match &node.prompt {
            Prompt::Blocks { parent, inherited, added, runs } => {
                out.0.push(BLOCKS);
                out.maybe_size(parent.map(|parent| parent.0));
                out.size(*inherited);
                let own = self.own_runs(added, runs);
                out.size(runs.len());
                for (run, segment) in runs.iter().zip(&own) {
                    out.flag(run.role == MessageRole::Assistant);
                    out.size(run.blocks);
                    out.size(*segment);
                }
                let filler = self.filler(index, inherited + added.len());
                out.maybe_size(filler);
                self.runs.push(own);
                self.prove_messages(NodeIndex(index), filler);
                return;
            }
            Prompt::Sampled(tokens) => {
                out.0.push(SAMPLED);
                let segment = self.filled(index, *tokens);
                let counted = self.synthesis.count(self.segments.get(segment));
                self.counts.prove(counted, *tokens);
                out.size(segment);
            }
            Prompt::Authored(pieces) => {
                out.0.push(AUTHORED);
                out.size(pieces.len());
                for piece in pieces {
                    self.piece(piece, out);
                }
            }
        }
        self.runs.push(Vec::new());
    }

    /// Returns the segments of a node's own runs.
    fn own_runs(&mut self, added: &[BlockId], runs: &[Run]) -> Vec<usize> {
        let size = self.block_size();
        let mut blocks = added.iter();
        let mut own = Vec::with_capacity(runs.len());
        for run in runs {
            let mut text = std::mem::take(&mut self.buffer);
            text.clear();
            for block in blocks.by_ref().take(run.blocks) {
                match block {
                    BlockId::Recorded(name) => self.texts.recorded(*name, size, &mut text),
                    BlockId::Virtual(name) => self.texts.made_up(*name, size, &mut text),
                }
            }
            own.push(self.segments.add(&text));
            self.buffer = text;
        }
        own
    }

    /// Returns the segment of what a prompt has behind its last full block, if anything.
    fn filler(&mut self, index: usize, blocks: usize) -> Option<usize> {
        let full = wide(blocks) * u64::from(self.block_size().get());
        let input = self.graph.nodes[index].expected.input?;
        let rest = input.saturating_sub(Tokens::new(full));
        (rest > Tokens::ZERO).then(|| self.filled(index, rest))
    }

    fn filled(&mut self, index: usize, tokens: Tokens) -> usize {
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        self.fillers.append(NodeIndex(index), tokens, &mut text);
        let segment = self.segments.add(&text);
        self.buffer = text;
        segment
    }

    fn block_size(&self) -> BlockSize {
        self.graph.block_size.expect("bug: a prompt of blocks in a graph without a block size")
    }

    /// Appends a piece of an authored prompt.
    fn piece(&mut self, piece: &Piece, out: &mut Writer) {
        match piece {
            Piece::Raw { role, json } => {
                out.0.push(RAW);
                out.size(self.segments.add(role.as_bytes()));
                out.size(self.segments.add(json.as_bytes()));
                out.maybe_size(text_start(json));
            }
            Piece::Answer(of) => {
                out.0.push(ANSWER);
                out.size(of.0);
            }
            Piece::Composed { role, parts } => {
                out.0.push(COMPOSED);
                out.size(self.segments.add(role.as_bytes()));
                let opening = opening(role);
                out.size(self.segments.add(opening.as_bytes()));
                out.size(parts.len());
                for part in parts {
                    match part {
                        TextPart::Written(text) => {
                            out.flag(false);
                            out.size(self.segments.add(escaped(text).as_bytes()));
                        }
                        TextPart::Answer(of) => {
                            out.flag(true);
                            out.size(of.0);
                        }
                    }
                }
            }
        }
    }

    /// Proves the messages of a prompt that no prompt before it has had: its own, the one that it cuts, and its last with the filler.
    fn prove_messages(&mut self, index: NodeIndex, filler: Option<usize>) {
        let Prompt::Blocks { inherited, added, runs, .. } = &self.graph.node(index).prompt else {
            return;
        };
        for (run, segment) in runs.iter().zip(self.runs[index.0].clone()) {
            self.prove(segment, run.blocks, None);
        }
        if let Some((segment, kept, of)) =
            self.last_message(index, *inherited).filter(|_| *inherited > 0)
            && kept < of
        {
            self.prove(segment, kept, None);
        }
        let last = self.last_message(index, inherited + added.len());
        if let (Some((segment, kept, _)), Some(filler)) = (last, filler) {
            self.prove(segment, kept, Some(filler));
        }
    }

    /// Returns the message that ends with the block before `end` of a prompt: its segment, how many blocks of that, and of how many.
    fn last_message(&self, index: NodeIndex, end: usize) -> Option<(usize, usize, usize)> {
        let last = end.checked_sub(1)?;
        let mut at = index;
        loop {
            let Prompt::Blocks { parent, inherited, runs, .. } = &self.graph.node(at).prompt else {
                return None;
            };
            if let Some(parent) = parent.filter(|_| last < *inherited) {
                at = parent;
                continue;
            }
            let mut start = *inherited;
            for (run, segment) in runs.iter().zip(&self.runs[at.0]) {
                if last < start + run.blocks {
                    return Some((*segment, end - start, run.blocks));
                }
                start += run.blocks;
            }
            return None;
        }
    }

    /// Proves that the first blocks of a segment, with a filler behind them, are as many tokens as they stand for.
    fn prove(&mut self, segment: usize, blocks: usize, filler: Option<usize>) {
        let words = self.block_size().get();
        let width = self.synthesis.vocabulary().width();
        let bytes = blocks * usize::try_from(words).expect("32 bits") * width;
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        text.extend_from_slice(&self.segments.get(segment)[..bytes]);
        if let Some(filler) = filler {
            text.extend_from_slice(self.segments.get(filler));
        }
        let tokens = Tokens::new(wide(text.len() / width));
        self.counts.prove(self.synthesis.count(&text), tokens);
        self.buffer = text;
    }
}

/// Returns the JSON of a message up to its text.
pub(super) fn opening(role: &str) -> String {
    format!("{{\"role\":\"{}\",\"content\":\"", escaped(role))
}

/// Returns the index of the first byte of a message's text, where its content is a text.
fn text_start(json: &str) -> Option<usize> {
    let message: WithContent<'_> = serde_json::from_str(json).ok()?;
    let content = message.content?.get();
    let start = content.as_ptr().addr() - json.as_ptr().addr();
    content.starts_with('"').then_some(start + 1)
}
