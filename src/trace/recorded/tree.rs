//! A root session with all that descends from it.

use crate::units::{BlockSize, Nanos};

use super::{Place, RecordedRequest, RecordedTool};

/// A root session with all sessions that descend from it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTree {
    /// What wrote it: rules of lowering differ in details.
    pub source: RecordedSource,
    /// What the times of its requests are counted from: 0 for Weka, the first start of the tree in Unix time for a capture.
    pub zero: Nanos,
    /// Tokens that one hash stands for; the same in a whole recording. Absent where no request names blocks.
    pub block_size: Option<BlockSize>,
    /// How far equal hashes mean equal text.
    pub hash_scope: HashScope,
    /// Models that the file declares, in order.
    pub models: Vec<String>,
    /// The sessions: the root first, then as the recording lists them (a capture: by name), each after its parent.
    pub sessions: Vec<RecordedSession>,
    /// Tools that its sessions ran, by their end.
    pub tools: Vec<RecordedTool>,
    /// Where it starts.
    pub place: Place,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSession {
    /// Its name: Weka's trace id or agent id, a capture's session id.
    pub id: String,
    /// The parent that it states, also where the recording does not hold that one.
    pub parent_id: Option<String>,
    /// The index of its parent in the tree; absent for the root.
    pub parent: Option<usize>,
    /// How a sub-agent was started, where the recording marks that.
    pub spawn: Option<RecordedSpawn>,
    /// Its requests in order: as the list has them for Weka, by end, then as read, for a capture.
    pub requests: Vec<RecordedRequest>,
}

/// The marker of a sub-agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSpawn {
    /// When it was started, from the tree's zero.
    pub at: Nanos,
    /// Its place in the list that holds it, from 0, requests counted.
    pub entry: usize,
    /// The nearest request before the marker, in its own list or else in the lists around: session and request.
    pub after: Option<(usize, usize)>,
    /// Whether its parent waited for it.
    pub mode: SpawnMode,
    /// What kind of agent it is.
    pub kind: Option<String>,
    /// How long it took.
    pub duration: Option<Nanos>,
    /// Where it is written.
    pub place: Place,
}

/// Whether a parent waited for its sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnMode {
    /// It did: status `completed`.
    Blocking,
    /// It went on: status `async_launched`.
    Background,
}

/// What wrote a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedSource {
    /// Weka's traces of coding agents.
    Weka,
    /// Dynamo's request trace.
    Dynamo,
}

/// How far equal hashes mean equal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashScope {
    /// Within a tree.
    Local,
    /// Within the whole recording.
    Global,
}

impl RecordedTree {
    /// Returns the name of the root session, which is the tree's.
    pub fn id(&self) -> &str {
        self.sessions.first().map_or("", |root| &root.id)
    }

    /// Returns every request with its session's index, session by session.
    pub fn requests(&self) -> impl Iterator<Item = (usize, &RecordedRequest)> {
        self.sessions.iter().enumerate().flat_map(|(index, session)| {
            session.requests.iter().map(move |request| (index, request))
        })
    }

    /// Returns the sessions from the one at `index` up to the root: itself, its parent, and so on.
    pub fn lineage(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |at| self.sessions[*at].parent)
    }
}

impl HashScope {
    /// Returns the word of trace files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
        }
    }
}

impl SpawnMode {
    /// Returns the status by which Weka's traces say it.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Blocking => "completed",
            Self::Background => "async_launched",
        }
    }
}
