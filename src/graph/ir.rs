//! The graph: nodes, edges, channels.

use crate::trace::HashScope;
use crate::units::{BlockSize, Nanos, Tokens};

use super::prompt::Prompt;

/// The index of a node in its graph, which is its ordinal: nodes are numbered by recorded arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub usize);

/// The index of a channel in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelIndex(pub usize);

/// One workflow: a root session with all sessions that descend from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Its name: that of the root session.
    pub id: String,
    /// What it was made from.
    pub source: GraphSource,
    /// Tokens that one block stands for; absent where prompts are not made of blocks.
    pub block_size: Option<BlockSize>,
    /// How far equal names of recorded blocks mean equal text.
    pub hash_scope: HashScope,
    /// The nodes, by ordinal.
    pub nodes: Vec<Node>,
    /// The edges, by target, then by source.
    pub edges: Vec<Edge>,
    /// The channels.
    pub channels: Vec<Channel>,
}

/// What a graph was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphSource {
    /// A Weka trace.
    Weka,
    /// A capture of Dynamo's.
    Dynamo,
    /// A graph in the native format.
    Native,
    /// Sessions with forks and spawns, one a line.
    DagJsonl,
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name, unique in the graph: `session:turn` where it was recorded.
    pub id: String,
    /// The turn of a conversation that it is.
    pub session: SessionTurn,
    /// The model that was asked; absent where whoever runs it chooses.
    pub model: Option<String>,
    /// Whether the answer is streamed.
    pub streaming: bool,
    /// The most tokens to ask for; absent where nothing limits the answer.
    pub max_tokens: Option<Tokens>,
    /// What was recorded of it.
    pub expected: Expected,
    /// When it was sent, from the start of the graph, idle gaps shortened.
    pub arrival: Nanos,
    /// The least time from the start of the graph to its start.
    pub min_start: Option<Nanos>,
    /// What it waits for: all of them.
    pub inputs: Vec<Input>,
    /// The channel that takes its answer.
    pub output: Option<ChannelIndex>,
    /// What it sends.
    pub prompt: Prompt,
    /// What else the request says.
    pub overrides: Overrides,
}

/// What a request says beside its messages, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The tools, as JSON.
    pub tools: Option<String>,
    /// Further headers: name and value.
    pub headers: Vec<(String, String)>,
    /// Further fields: name and JSON.
    pub body: Vec<(String, String)>,
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTurn {
    /// The conversation.
    pub session: String,
    /// The conversation that started it, also where the graph does not hold that one.
    pub parent: Option<String>,
    /// The index of the turn, from 0.
    pub turn: usize,
    /// Whether it is the last one.
    pub is_final: bool,
    /// The call that brought it about: the turn before, or the call that started its conversation.
    pub cause: Option<NodeIndex>,
}

/// What was recorded of a call. Absent is what the recording does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expected {
    /// Prompt tokens.
    pub input: Option<Tokens>,
    /// Output tokens.
    pub output: Option<Tokens>,
    /// Prompt tokens that were served from cache.
    pub cached: Option<Tokens>,
    /// Time to the first token.
    pub ttft: Option<Nanos>,
    /// Leading blocks of the prompt that an earlier call of the tree has sent: what a cache that forgets nothing serves.
    pub reusable_blocks: usize,
    /// Full blocks of the prompt.
    pub full_blocks: usize,
}

/// A channel and how many values of it a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The channel.
    pub channel: ChannelIndex,
    /// How many values.
    pub count: InputCount,
}

/// How many values of a channel a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputCount {
    /// This many, at least 1.
    Exactly(u64),
    /// One of every node that writes it.
    All,
}

/// A place that values pass through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ChannelKind,
    /// What becomes of a value when another comes.
    pub reducer: Reducer,
}

/// What the values of a channel are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKind {
    /// A text.
    Text,
    /// A list of messages.
    Messages,
}

/// What becomes of a value when another comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reducer {
    /// The new one stays.
    Overwrite,
    /// The new ones are appended.
    AddMessages,
}

/// What a node waits for in another, and for how long after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What is waited for.
    pub source: Endpoint,
    /// Who waits.
    pub target: Endpoint,
    /// How long.
    pub wait: Wait,
}

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The start of the graph.
    Start,
    /// A node.
    Node(NodeIndex),
    /// The end of the graph.
    End,
}

/// Which instants of the source an edge waits for, each with a delay. Those that are absent are not waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wait {
    /// After the source has ended.
    pub completion: Option<Nanos>,
    /// After all inputs are there; after the start of the graph for an edge from the start.
    pub ready: Option<Nanos>,
    /// After the source was sent.
    pub dispatch: Option<Nanos>,
    /// After the first token of the source; where it sends none, `dispatch` holds.
    pub first_token: Option<Nanos>,
}

impl Graph {
    /// Returns a node.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.0]
    }

    /// Returns the edges that lead to a node.
    pub fn edges_to(&self, target: NodeIndex) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.target == Endpoint::Node(target))
    }

    /// Returns the name of an end of an edge.
    pub fn name(&self, endpoint: Endpoint) -> &str {
        match endpoint {
            Endpoint::Start => "START",
            Endpoint::Node(index) => &self.node(index).id,
            Endpoint::End => "END",
        }
    }
}

impl Wait {
    /// Returns the wait for the end of the source.
    pub const fn completion(delay: Nanos) -> Self {
        Self { completion: Some(delay), ready: None, dispatch: None, first_token: None }
    }

    /// Returns the wait from the start of the graph.
    pub const fn start(delay: Nanos) -> Self {
        Self { completion: None, ready: Some(delay), dispatch: None, first_token: None }
    }

    /// Returns the wait for the dispatch of the source, and for its first token where it sends one.
    pub const fn dispatch(delay: Nanos, first_token: Option<Nanos>) -> Self {
        Self { completion: None, ready: None, dispatch: Some(delay), first_token }
    }
}
