//! What a node sends: messages as spans, with slots for answers.

use crate::digest::canonical::write_text;
use crate::graph::ir::NodeIndex;

/// The messages of a node, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<'s> {
    messages: Vec<ProgramMessage<'s>>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramMessage<'s> {
    /// A message whose JSON is made of spans, one behind the other.
    Written {
        /// Whose words.
        role: &'s str,
        /// What it is made of; never empty.
        spans: Vec<Span<'s>>,
        /// The index of the first byte of its text in the first span, where its content is a text: what is put there stands before it.
        text_start: Option<usize>,
    },
    /// The answer of a node as a message; left out where there is none.
    Answer(NodeIndex),
}

/// A part of a message's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span<'s> {
    /// Bytes as they are stored.
    Static(&'s [u8]),
    /// The text of a node's answer, escaped, without quotes; nothing where there is none.
    Text(NodeIndex),
}

/// An answer that came.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The answer as a message, in JSON.
    pub message: &'a [u8],
    /// Its text, as it is.
    pub text: &'a str,
}

impl<'s> Program<'s> {
    /// Returns the program of messages.
    pub(super) const fn new(messages: Vec<ProgramMessage<'s>>) -> Self {
        Self { messages }
    }

    /// Returns the messages.
    pub fn messages(&self) -> &[ProgramMessage<'s>] {
        &self.messages
    }

    /// Returns the nodes whose answers it takes, by ordinal, each once.
    pub fn slots(&self) -> Vec<NodeIndex> {
        let mut slots = Vec::new();
        for message in &self.messages {
            match message {
                ProgramMessage::Answer(of) => slots.push(*of),
                ProgramMessage::Written { spans, .. } => {
                    slots.extend(spans.iter().filter_map(|span| match span {
                        Span::Text(of) => Some(*of),
                        Span::Static(_) => None,
                    }));
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Appends the messages as a JSON list. `answer` returns what a node has answered, `None` where it has failed or said nothing.
    pub fn write<'a>(&self, answer: impl Fn(NodeIndex) -> Option<Answer<'a>>, out: &mut Vec<u8>) {
        out.push(b'[');
        let mut is_first = true;
        for message in &self.messages {
            let answered = match message {
                ProgramMessage::Answer(of) => match answer(*of) {
                    None => continue,
                    answered @ Some(_) => answered,
                },
                ProgramMessage::Written { .. } => None,
            };
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            match (message, answered) {
                (ProgramMessage::Written { spans, .. }, _) => {
                    for span in spans {
                        span.write(&answer, out);
                    }
                }
                (ProgramMessage::Answer(_), answered) => {
                    out.extend(answered.into_iter().flat_map(|answered| answered.message));
                }
            }
        }
        out.push(b']');
    }
}

impl Span<'_> {
    /// Appends the bytes of a span.
    pub fn write<'a>(self, answer: &impl Fn(NodeIndex) -> Option<Answer<'a>>, out: &mut Vec<u8>) {
        match self {
            Self::Static(bytes) => out.extend_from_slice(bytes),
            Self::Text(of) => {
                let text = answer(of).map_or("", |answer| answer.text);
                out.extend_from_slice(escaped(text).as_bytes());
            }
        }
    }
}

/// Returns a text as it stands inside of JSON quotes.
pub(super) fn escaped(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    write_text(text, &mut quoted);
    quoted[1..quoted.len() - 1].to_owned()
}
