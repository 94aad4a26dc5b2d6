//! What a node sends.

use crate::units::Tokens;

use super::blocks::BlockId;
use super::ir::{Graph, NodeIndex};

/// What a node sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// Blocks: those of another node's prompt up to a point, then its own.
    Blocks {
        /// The node whose prompt it goes on from.
        parent: Option<NodeIndex>,
        /// How many blocks it has of that one.
        inherited: usize,
        /// Its own blocks.
        added: Vec<BlockId>,
        /// Whose words its own blocks are; they fill them.
        runs: Vec<Run>,
    },
    /// One message of the user of that many tokens, like no other.
    Sampled(Tokens),
    /// Messages as somebody wrote them, and answers as they come.
    Authored(Vec<Piece>),
}

/// A part of an authored prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A message as it is written.
    Raw {
        /// Whose words.
        role: String,
        /// The message as JSON.
        json: String,
    },
    /// The answer of a node, as a message.
    Answer(NodeIndex),
    /// A message whose text is put together when it is sent.
    Composed {
        /// Whose words.
        role: String,
        /// Its text, in order.
        parts: Vec<TextPart>,
    },
}

/// A part of the text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart {
    /// As somebody wrote it.
    Written(String),
    /// The text of a node's answer; nothing where it failed.
    Answer(NodeIndex),
}

/// Blocks in a row that are one message, or the end of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Whose words.
    pub role: MessageRole,
    /// How many blocks, at least 1.
    pub blocks: usize,
}

/// Whose words a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user's.
    User,
    /// The model's.
    Assistant,
}

/// A message of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Whose words.
    pub role: MessageRole,
    /// The index of its first block.
    pub start: usize,
    /// The index behind its last block; equal to `start` where it is no blocks.
    pub end: usize,
}

impl MessageRole {
    /// Returns the word of requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Piece {
    /// Returns the nodes whose answers it takes, in order.
    pub fn answers(&self) -> Vec<NodeIndex> {
        match self {
            Self::Raw { .. } => Vec::new(),
            Self::Answer(of) => vec![*of],
            Self::Composed { parts, .. } => {
                let answers = parts.iter().filter_map(|part| match part {
                    TextPart::Answer(of) => Some(*of),
                    TextPart::Written(_) => None,
                });
                answers.collect()
            }
        }
    }

    /// Returns the nodes whose answers it takes, in order, to be changed.
    pub fn answers_mut(&mut self) -> Vec<&mut NodeIndex> {
        match self {
            Self::Raw { .. } => Vec::new(),
            Self::Answer(of) => vec![of],
            Self::Composed { parts, .. } => {
                let answers = parts.iter_mut().filter_map(|part| match part {
                    TextPart::Answer(of) => Some(of),
                    TextPart::Written(_) => None,
                });
                answers.collect()
            }
        }
    }
}

impl Prompt {
    /// Returns the nodes whose answers it takes, by ordinal, each once.
    pub fn slots(&self) -> Vec<NodeIndex> {
        let Self::Authored(pieces) = self else { return Vec::new() };
        let mut slots: Vec<NodeIndex> = pieces.iter().flat_map(Piece::answers).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

impl Graph {
    /// Returns the messages of a node's prompt by blocks. A sampled prompt is one message without blocks; an authored one has none here.
    pub fn messages(&self, index: NodeIndex) -> Vec<Message> {
        let mut messages = Vec::new();
        for (owner, end) in self.prompt_lineage(index) {
            let Prompt::Blocks { inherited, runs, .. } = &self.node(owner).prompt else {
                let role = MessageRole::User;
                messages.push(Message { role, start: 0, end: 0 });
                continue;
            };
            let mut start = *inherited;
            for run in runs {
                let until = (start + run.blocks).min(end);
                if start < until {
                    messages.push(Message { role: run.role, start, end: until });
                }
                start = until;
            }
        }
        messages
    }

    /// Returns the blocks of a node's prompt; none where it is not made of blocks.
    pub fn blocks(&self, index: NodeIndex) -> Vec<BlockId> {
        let mut blocks = Vec::new();
        for (owner, end) in self.prompt_lineage(index) {
            if let Prompt::Blocks { inherited, added, .. } = &self.node(owner).prompt {
                blocks.extend(added.iter().take(end - inherited));
            }
        }
        blocks
    }

    /// Returns the nodes whose blocks make up a prompt, the first first, each with the index behind the last block of it that counts.
    fn prompt_lineage(&self, index: NodeIndex) -> Vec<(NodeIndex, usize)> {
        let mut lineage = Vec::new();
        let (mut at, mut end) = (Some(index), usize::MAX);
        while let Some(node) = at {
            at = match &self.node(node).prompt {
                Prompt::Blocks { parent, inherited, added, .. } => {
                    end = end.min(inherited + added.len());
                    if *inherited < end || lineage.is_empty() {
                        lineage.push((node, end));
                    }
                    end = end.min(*inherited);
                    *parent
                }
                Prompt::Sampled(_) => {
                    lineage.push((node, 0));
                    None
                }
                Prompt::Authored(_) => None,
            };
        }
        lineage.reverse();
        lineage
    }
}
