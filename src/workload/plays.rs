//! Recorded plays: requests that wait for one another, as simulation runs them.

/// What the rows of a corpus wait for: row n of the corpus is node n.
///
/// Nodes are sorted by the names of their requests: ties of time fall by that order. Source: spec/SIMULATION.md §9.4.
#[derive(Debug, Clone, PartialEq)]
pub struct Plays {
    nodes: Vec<PlayNode>,
    all: Vec<Play>,
    /// The digest of all that the recording says, by which cuts of plays are drawn; where that was asked for.
    digest: Option<String>,
}

/// What one request waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayNode {
    /// The play that it is of.
    pub play: usize,
    /// The model that was asked when it was recorded.
    pub model: String,
    /// The earliest start in milliseconds, on the clock of the recording.
    pub not_before_ms: f64,
    /// When it was sent and, where known, when it ended, in milliseconds on the clock of the recording.
    pub recorded_ms: (f64, Option<f64>),
    /// The requests that it waits for.
    pub waits: Vec<PlayEdge>,
}

/// A request that another one waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayEdge {
    /// Its node.
    pub node: usize,
    /// Which instant of it is waited for.
    pub trigger: EdgeTrigger,
    /// What the dependency means.
    pub relation: EdgeRelation,
    /// How long after that instant, in milliseconds.
    pub delay_ms: f64,
}

/// Requests that belong together: they wait for one another and for nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Play {
    /// Its name.
    pub id: String,
    /// Its nodes, ascending.
    pub nodes: Vec<usize>,
    /// Those of them that wait for nothing.
    pub roots: Vec<usize>,
}

/// What a dependency means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeRelation {
    /// The next turn of a conversation.
    Sequence,
    /// The first turn of a conversation that another one started.
    Spawn,
    /// A turn that used what a spawned conversation said.
    Join,
    /// An order that was recorded and has no known cause.
    ReplayBarrier,
}

/// Which instant of a request another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeTrigger {
    /// When it is sent.
    Dispatch,
    /// When it has ended.
    Completion,
}

impl Plays {
    /// Returns plays; `nodes` and `plays` must name each other.
    pub fn new(nodes: Vec<PlayNode>, plays: Vec<Play>) -> Self {
        Self { nodes, all: plays, digest: None }
    }

    /// Returns them with these nodes.
    #[must_use]
    pub fn with_nodes(self, nodes: Vec<PlayNode>) -> Self {
        Self { nodes, ..self }
    }

    /// Returns them with the digest of their recording.
    #[must_use]
    pub fn with_digest(self, digest: Option<String>) -> Self {
        Self { digest, ..self }
    }

    /// Returns the digest of the recording, where it was taken: 64 hexadecimal digits.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Returns the nodes, one for each row of the corpus.
    pub fn nodes(&self) -> &[PlayNode] {
        &self.nodes
    }

    /// Returns the plays in the order in which lanes take them.
    pub fn plays(&self) -> &[Play] {
        &self.all
    }

    /// Returns the one root of a node's play, where it has one.
    pub fn root(&self, node: usize) -> Option<usize> {
        match &*self.all[self.nodes[node].play].roots {
            [root] => Some(*root),
            _ => None,
        }
    }

    /// Returns the request that spawned a node's, where one did: the first by name.
    pub fn parent(&self, node: usize) -> Option<usize> {
        let spawns = |edge: &&PlayEdge| edge.relation == EdgeRelation::Spawn;
        self.nodes[node].waits.iter().filter(spawns).map(|edge| edge.node).min()
    }
}

impl EdgeRelation {
    /// Every relation.
    pub const ALL: &'static [Self] =
        &[Self::Sequence, Self::Spawn, Self::Join, Self::ReplayBarrier];

    /// Returns the word of trace files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Spawn => "spawn",
            Self::Join => "join",
            Self::ReplayBarrier => "replay_barrier",
        }
    }
}

impl EdgeTrigger {
    /// Every trigger.
    pub const ALL: &'static [Self] = &[Self::Dispatch, Self::Completion];

    /// Returns the word of trace files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Completion => "completion",
        }
    }
}
