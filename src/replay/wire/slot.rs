//! What a body holds and is known only when it is sent.

use std::borrow::Cow;

use crate::graph::NodeIndex;

/// A part of a body that an earlier call of the same instance answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WireSlot {
    /// The answer as a message, calls of tools included; left out where the call failed or said nothing.
    Answer(NodeIndex),
    /// The text of the answer within a message; nothing where the call failed.
    Text(NodeIndex),
}

impl WireSlot {
    /// Returns the call that fills it.
    pub const fn call(self) -> NodeIndex {
        match self {
            Self::Answer(of) | Self::Text(of) => of,
        }
    }

    /// Returns what stands for it in a plan.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Answer(NodeIndex(of)) => Cow::Owned(format!("<answer {of}>")),
            Self::Text(NodeIndex(of)) => Cow::Owned(format!("<text {of}>")),
        }
    }
}
