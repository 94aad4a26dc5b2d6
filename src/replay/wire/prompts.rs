//! Where the text of prompts comes from.

use crate::graph::NodeIndex;
use crate::graph::store::{ProgramMessage, Span, Store};

/// Where the text of prompts comes from: the messages of each call, as JSON that is spliced and never written anew.
pub(crate) trait Prompts: std::fmt::Debug + Send + Sync {
    /// Returns the messages of a call.
    fn messages(&self, tree: usize, node: NodeIndex) -> Vec<Line<'_>>;
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line<'s> {
    /// A message whose JSON is made of parts, one behind the other.
    Written {
        /// Whose words.
        role: &'s str,
        /// What it is made of; never empty.
        parts: Vec<LinePart<'s>>,
        /// The index of the first byte of its text in the first part, where its content is a text.
        text_start: Option<usize>,
    },
    /// The answer of a call as a message; left out where there is none.
    Answer(NodeIndex),
}

/// A part of a message's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinePart<'s> {
    /// Bytes as they are stored.
    Stored(&'s [u8]),
    /// The text of a call's answer, escaped, without quotes; nothing where there is none.
    Words(NodeIndex),
}

impl Prompts for Store {
    fn messages(&self, tree: usize, node: NodeIndex) -> Vec<Line<'_>> {
        let program = self.program(tree, node);
        program.messages().iter().map(Line::from).collect()
    }
}

impl<'s> From<&ProgramMessage<'s>> for Line<'s> {
    fn from(message: &ProgramMessage<'s>) -> Self {
        match message {
            ProgramMessage::Answer(of) => Self::Answer(*of),
            ProgramMessage::Written { role, spans, text_start } => {
                let part = |span: &Span<'s>| match span {
                    Span::Static(bytes) => LinePart::Stored(bytes),
                    Span::Text(of) => LinePart::Words(*of),
                };
                let parts = spans.iter().map(part).collect();
                Self::Written { role, parts, text_start: *text_start }
            }
        }
    }
}
