//! One recorded request, what it waited for, and the tools between requests.

use crate::units::{Nanos, Tokens};
use crate::workload::{EdgeRelation, EdgeTrigger};

use super::Place;

/// One recorded request. Times are counted from the zero of its tree: see [`super::RecordedTree::zero`].
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// The request's own name; Weka has none.
    pub id: Option<String>,
    /// Its place in the list that holds it, from 0, markers of sub-agents counted.
    pub entry: usize,
    /// When it was sent.
    pub start: Nanos,
    /// How long it took; absent where the file does not say.
    pub duration: Option<Nanos>,
    /// When it ended, where the file says that apart from the duration.
    pub ended: Option<Nanos>,
    /// From its start to its first token.
    pub ttft: Option<Nanos>,
    /// Whether its answer was streamed, as far as the file says.
    pub streamed: Option<bool>,
    /// The model that it asked for.
    pub model: Option<String>,
    /// Prompt tokens; absent where the file does not say.
    pub input: Option<Tokens>,
    /// Output tokens; 0 is a request that only fills the cache.
    pub output: Option<Tokens>,
    /// Prompt tokens that were served from cache.
    pub cached: Option<Tokens>,
    /// The names of the prompt's blocks; absent where the file has none, as opposed to an empty list.
    pub hashes: Option<Vec<u64>>,
    /// Think time before the request, as recorded.
    pub think_time: Option<Nanos>,
    /// Why it ended.
    pub stop: Option<String>,
    /// What kinds of input it had.
    pub input_types: Vec<String>,
    /// What kinds of output it had.
    pub output_types: Vec<String>,
    /// Requests that it states to have waited for.
    pub edges: Vec<RecordedEdge>,
    /// Where it is written.
    pub place: Place,
}

/// A request that another one states to have waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEdge {
    /// The request that was waited for.
    pub request_id: String,
    /// What the dependency means.
    pub relation: EdgeRelation,
    /// Which instant of it was waited for.
    pub trigger: EdgeTrigger,
}

/// A tool that a session ran, as far as it joins requests and sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTool {
    /// The session that ran it.
    pub session_id: String,
    /// Its name.
    pub call_id: String,
    /// What kind it is.
    pub class: String,
    /// When it started, in Unix time; absent where the file does not say.
    pub start: Option<Nanos>,
    /// When it ended, in Unix time.
    pub end: Nanos,
    /// The request whose answer called it.
    pub source_request: Option<String>,
    /// The request that took its result.
    pub consumer_request: Option<String>,
    /// The session that it started.
    pub child_session: Option<String>,
    /// Whether its session waited for it; absent where the file does not say.
    pub mode: Option<ToolMode>,
    /// Where it is written.
    pub place: Place,
}

/// Whether a session waited for its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolMode {
    /// It did.
    Blocking,
    /// It went on.
    Background,
}
