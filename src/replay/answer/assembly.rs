//! What an answer adds up to.

use crate::record::{Channel, ExchangeError, Reply, StreamEvent, ToolCall, Usage};
use crate::units::{Nanos, Tokens};

use super::fault;

/// What an answer has added up to so far.
#[derive(Debug, Default)]
pub struct Assembly {
    /// What came, in order of arrival.
    pub events: Vec<StreamEvent>,
    /// What the server counted, the last that it said.
    pub usage: Option<Usage>,
    /// Why the model stopped, in the server's word.
    pub finish_reason: Option<String>,
    /// What the model said in its first choice.
    pub reply: Reply,
    /// The first error that it told.
    pub failure: Option<ExchangeError>,
    /// Whether its last message came.
    pub is_done: bool,
    /// Output tokens that counts beside output have told of.
    counted: Tokens,
    /// The server's index of each tool call of the reply.
    calls: Vec<u64>,
}

/// What one message brought.
#[derive(Debug, Default)]
pub(super) struct Brought {
    /// Bytes of text of the answer.
    pub(super) content: usize,
    /// Bytes of text of the reasoning.
    pub(super) reasoning: usize,
    /// Bytes of arguments of tool calls.
    pub(super) arguments: usize,
    /// Whether a tool was called, or a call went on.
    pub(super) is_call: bool,
    /// Whether the model stopped.
    pub(super) is_finish: bool,
    /// What the server counted.
    pub(super) usage: Option<Usage>,
    /// Whether it is the last.
    pub(super) is_done: bool,
}

/// Whether text belongs to the reply: a later prompt holds the first choice alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// The first.
    First,
    /// Another.
    Other,
}

/// A part of a tool call: what the server says of it in one message.
#[derive(Debug, Default)]
pub(super) struct CallPart {
    /// The server's index of the call.
    pub(super) index: u64,
    /// Its id, once.
    pub(super) id: Option<String>,
    /// The tool, once.
    pub(super) name: Option<String>,
    /// The next piece of its arguments.
    pub(super) arguments: Option<String>,
}

impl Brought {
    /// Takes text of the answer.
    pub(super) fn content(&mut self, into: &mut Assembly, choice: Choice, text: &str) {
        self.content += text.len();
        if choice == Choice::First {
            into.reply.text.push_str(text);
        }
    }

    /// Takes text of the reasoning.
    pub(super) fn reasoning(&mut self, into: &mut Assembly, choice: Choice, text: &str) {
        self.reasoning += text.len();
        if choice == Choice::First {
            into.reply.reasoning.push_str(text);
        }
    }

    /// Takes a part of a tool call.
    pub(super) fn call(&mut self, into: &mut Assembly, choice: Choice, part: CallPart) {
        self.is_call = true;
        self.arguments += part.arguments.as_ref().map_or(0, String::len);
        if choice == Choice::First {
            into.call(part);
        }
    }

    /// Returns what it counts as.
    const fn channel(&self) -> Channel {
        if self.content > 0 {
            Channel::Content
        } else if self.is_call {
            Channel::ToolCall
        } else if self.reasoning > 0 {
            Channel::Reasoning
        } else if self.is_done {
            Channel::Done
        } else if self.is_finish {
            Channel::Finish
        } else if self.usage.is_some() {
            Channel::Usage
        } else {
            Channel::Role
        }
    }
}

impl Assembly {
    /// Records a message.
    pub(super) fn record(&mut self, at: Nanos, brought: &Brought) {
        let channel = brought.channel();
        let tokens = if channel.is_output() { self.growth(brought.usage) } else { None };
        self.usage = brought.usage.or(self.usage);
        self.is_done |= brought.is_done;
        let bytes = brought.content + brought.reasoning + brought.arguments;
        let bytes = u32::try_from(bytes).expect("a message is shorter than the cap of a line");
        self.events.push(StreamEvent { at, channel, tokens, bytes });
    }

    /// Records the last word of a stream, `[DONE]`.
    pub(super) fn done(&mut self, at: Nanos) {
        self.record(at, &Brought { is_done: true, ..Brought::default() });
    }

    /// Takes the reason to finish; servers say `abort` and `error` of what they gave up.
    pub(super) fn finish(&mut self, reason: String, choice: Choice) {
        if matches!(reason.as_str(), "abort" | "error") {
            self.fail(fault::fault(format!("finish reason `{reason}`"), None));
        }
        if choice == Choice::First {
            self.finish_reason = Some(reason);
        }
    }

    /// Takes an error; the first one stands.
    pub(super) fn fail(&mut self, error: ExchangeError) {
        self.failure.get_or_insert(error);
    }

    /// Returns the arrival of the first output, where one came.
    pub fn first_output(&self) -> Option<Nanos> {
        self.events.iter().find(|event| event.channel.is_output()).map(|event| event.at)
    }

    /// Returns whether nothing came that is output. A model that stops at once and has its tokens counted has answered.
    pub(super) fn is_empty(&self) -> bool {
        let counted = self.usage.and_then(|usage| usage.output).unwrap_or_default();
        let stopped = self.finish_reason.is_some() && counted > Tokens::ZERO;
        self.first_output().is_none() && !stopped
    }

    /// Returns by how much a count that came with output has grown.
    fn growth(&mut self, usage: Option<Usage>) -> Option<Tokens> {
        let output = usage?.output?;
        let grown = output.saturating_sub(self.counted);
        self.counted = self.counted.max(output);
        Some(grown)
    }

    /// Adds a part to its call.
    fn call(&mut self, part: CallPart) {
        let known = self.calls.iter().position(|index| *index == part.index);
        let at = known.unwrap_or_else(|| {
            self.calls.push(part.index);
            self.reply.tool_calls.push(ToolCall::default());
            self.calls.len() - 1
        });
        let call = &mut self.reply.tool_calls[at];
        call.id = part.id.filter(|id| !id.is_empty()).unwrap_or(std::mem::take(&mut call.id));
        call.name.push_str(part.name.as_deref().unwrap_or_default());
        call.arguments.push_str(part.arguments.as_deref().unwrap_or_default());
    }
}
