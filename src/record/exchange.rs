//! One request over the wire and its answer, as the client saw them.

use crate::units::{Nanos, Tokens};

use super::ExchangeError;

/// One request over the wire and its answer, as the client saw them.
///
/// Every instant counts from the epoch of the run and is taken where bytes are read or written. They are in order: begun, connected,
/// sent, first byte, headers, events, end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// When the client took the request up.
    pub begun: Nanos,
    /// The connection that carried it; absent where none could be had.
    pub connection: Option<Connection>,
    /// When the request was given to a connection that stood: handshakes are before it. Absent where no connection stood.
    pub sent: Option<Nanos>,
    /// The read that brought the first byte of the answer.
    pub first_byte: Option<Nanos>,
    /// The read that completed the headers of the answer.
    pub headers: Option<Nanos>,
    /// Whether the answer came as a stream: of one that came whole, the event is no first token.
    pub delivery: Delivery,
    /// What came, in order of arrival; one a message of the stream, one for an answer that came whole.
    pub events: Vec<StreamEvent>,
    /// When the outcome was known.
    pub end: Nanos,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What the server counted, the last that it said.
    pub usage: Option<Usage>,
    /// Why the model stopped, in the server's word.
    pub finish_reason: Option<String>,
    /// What the model said: a later prompt may hold it.
    pub reply: Reply,
    /// How it ended.
    pub outcome: Result<(), ExchangeError>,
    /// Whether a pooled connection had gone stale and the request was sent again on a fresh one.
    pub is_retried: bool,
    /// Comments of the stream: servers send them to keep a silent connection open.
    pub keepalives: u64,
}

/// The connection that carried a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The version of HTTP that both sides agreed on.
    pub protocol: Protocol,
    /// What was spent on it; absent where an earlier request had opened it.
    pub handshake: Option<Handshake>,
}

/// The version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

/// What a fresh connection cost, part by part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handshake {
    /// Looking the name up; zero for addresses and sockets of the file system.
    pub resolve: Nanos,
    /// Until the transport stood.
    pub connect: Nanos,
    /// Asking a proxy for a tunnel; absent without one.
    pub tunnel: Option<Nanos>,
    /// TLS; absent without it.
    pub tls: Option<Nanos>,
}

/// How an answer came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Message by message.
    #[default]
    Streamed,
    /// In one piece.
    Whole,
}

/// A message of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEvent {
    /// The read that completed the message.
    pub at: Nanos,
    /// What it brought.
    pub channel: Channel,
    /// How many tokens it brought, where the server says: the growth of a usage that is sent with each message.
    pub tokens: Option<Tokens>,
    /// Bytes of text that it brought: content, reasoning and arguments of tool calls.
    pub bytes: u32,
}

/// What a message of an answer brought. Where it brought several, the first of this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// Text of the answer, a refusal too.
    Content,
    /// A part of a tool call.
    ToolCall,
    /// Text of the reasoning.
    Reasoning,
    /// Why the model stopped, and no output.
    Finish,
    /// Counts of tokens, and nothing else.
    Usage,
    /// The role or an empty delta: a beginning that holds no output.
    Role,
    /// The end of the stream.
    Done,
}

/// Tokens of a request as the server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub prompt: Option<Tokens>,
    /// Of the output, reasoning included.
    pub output: Option<Tokens>,
    /// Of the prompt, found in a cache.
    pub cached: Option<Tokens>,
    /// Of the output, reasoning.
    pub reasoning: Option<Tokens>,
}

/// What the model said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text of the answer.
    pub text: String,
    /// The text of the reasoning.
    pub reasoning: String,
    /// The tools that it called, by their index.
    pub tool_calls: Vec<ToolCall>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, JSON as text.
    pub arguments: String,
}

impl Exchange {
    /// Returns the arrivals of output, on any channel, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &StreamEvent> {
        self.events.iter().filter(|event| event.channel.is_output())
    }

    /// Returns whether a connection had to be opened for it.
    pub fn is_cold(&self) -> bool {
        self.connection.is_some_and(|connection| connection.handshake.is_some())
    }
}

impl Channel {
    /// Returns whether the message brought output of the model.
    pub const fn is_output(self) -> bool {
        match self {
            Self::Content | Self::ToolCall | Self::Reasoning => true,
            Self::Finish | Self::Usage | Self::Role | Self::Done => false,
        }
    }

    /// Returns the word of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::ToolCall => "tool_call",
            Self::Reasoning => "reasoning",
            Self::Finish => "finish",
            Self::Usage => "usage",
            Self::Role => "role",
            Self::Done => "done",
        }
    }
}

impl Delivery {
    /// Returns the word of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Streamed => "streamed",
            Self::Whole => "whole",
        }
    }
}

impl Protocol {
    /// Returns the word of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http2 => "h2",
        }
    }
}

impl Handshake {
    /// Returns the whole cost.
    pub fn total(self) -> Nanos {
        let parts = [
            self.resolve,
            self.connect,
            self.tunnel.unwrap_or_default(),
            self.tls.unwrap_or_default(),
        ];
        Nanos::new(parts.iter().map(|part| part.get()).sum())
    }
}
