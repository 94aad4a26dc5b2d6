//! Sessions to graphs.

use std::collections::{BTreeMap, VecDeque};

use crate::diag::{Bag, Code, Problem};
use crate::graph::ir::{
    Channel, ChannelIndex, ChannelKind, Edge, Endpoint, Expected, Graph, GraphSource, Input,
    InputCount, Node, NodeIndex, Overrides, Reducer, SessionTurn, Wait,
};
use crate::graph::prompt::{Piece, Prompt};
use crate::graph::validate::findings;
use crate::trace::HashScope;
use crate::units::{Nanos, Tokens};

use super::record::{MessageRecord, TurnRecord};
use super::sessions::Sessions;

/// More nodes than this are a mistake: spawns of spawns multiply.
const NODES_MAX: usize = 1_000_000;

/// A session as part of a graph.
#[derive(Debug)]
struct Instance {
    session: usize,
    /// What its first turn waits for.
    after: Endpoint,
    /// What its first turn goes on from: nothing for a spawn.
    said: Said,
    /// The name of the session that started it.
    parent: Option<String>,
    /// The node that waits for its last turn.
    join: Option<NodeIndex>,
}

/// What a turn goes on from.
#[derive(Debug, Clone, Default)]
struct Said {
    /// Messages and answers, in order.
    lineage: Vec<Piece>,
    /// The tools, as JSON.
    tools: Option<String>,
}

/// A graph in the making; nodes are in the order in which they were found.
#[derive(Debug, Default)]
struct Expansion {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    instances: BTreeMap<usize, usize>,
    open: VecDeque<Instance>,
}

/// Reads sessions with forks and spawns and returns a graph for each session that nobody refers to, in the order of the file.
///
/// `name` is what messages call the file.
///
/// # Errors
/// Everything that is wrong with the text, with its line: `graph::input`; what is wrong with a graph, at the line of the session
/// that it is about: codes `graph::*`.
pub fn read_dag(name: &str, text: &str) -> Result<Vec<Graph>, Bag> {
    let sessions = Sessions::read(name, text)?;
    let (mut graphs, mut wrong) = (Vec::new(), Bag::new());
    for root in sessions.roots() {
        let graph = expand(&sessions, root)?;
        for finding in findings(&graph) {
            let turn = finding.at(&graph).map(|node| &graph.node(node).session);
            let name = turn.map_or(graph.id.as_str(), |turn| turn.session.as_str());
            wrong.push(sessions.problem(original(name), finding.code, finding.message));
        }
        graphs.push(graph);
    }
    if wrong.has_errors() { Err(wrong) } else { Ok(graphs) }
}

/// Returns the name that the file has for a session, which may be spawned several times.
fn original(name: &str) -> &str {
    name.split_once('#').map_or(name, |(name, _)| name)
}

/// Returns the graph of a root.
fn expand(sessions: &Sessions, root: usize) -> Result<Graph, Bag> {
    let mut expansion = Expansion::default();
    expansion.open.push_back(Instance {
        session: root,
        after: Endpoint::Start,
        said: Said::default(),
        parent: None,
        join: None,
    });
    while let Some(instance) = expansion.open.pop_front() {
        expansion.add(sessions, instance);
        if expansion.nodes.len() > NODES_MAX {
            let id = &sessions.records[root].session_id;
            let message = format!("the graph `{id}` has more than {NODES_MAX} nodes");
            return Err(Problem::new(Code::GraphInput, message).into());
        }
    }
    Ok(expansion.graph(&sessions.records[root].session_id))
}

impl Instance {
    /// Returns a session that starts afresh.
    fn afresh(session: usize, after: Endpoint, join: Option<NodeIndex>, parent: &str) -> Self {
        let parent = Some(parent.to_owned());
        Self { session, after, said: Said::default(), parent, join }
    }
}

impl Expansion {
    /// Adds the turns of a session, and what they start to the open ones.
    fn add(&mut self, sessions: &Sessions, instance: Instance) {
        let record = &sessions.records[instance.session];
        let number = self.instances.entry(instance.session).or_default();
        let name = match *number {
            0 => record.session_id.clone(),
            again => format!("{}#{again}", record.session_id),
        };
        *number += 1;
        let first = self.nodes.len();
        let node_of = |turn: usize| NodeIndex(first + turn);
        for child in &record.pre_session_spawns {
            self.open.push_back(Instance::afresh(
                sessions.index[child],
                Endpoint::Start,
                None,
                &name,
            ));
        }
        let mut said = instance.said;
        let mut after = instance.after;
        for (turn, what) in record.turns.iter().enumerate() {
            said.lineage.extend(what.messages.iter().map(|raw| message(raw.get())));
            if let Some(stated) = &what.tools {
                said.tools = Some(stated.get().to_owned());
            }
            let session = SessionTurn {
                session: name.clone(),
                parent: instance.parent.clone(),
                turn,
                is_final: turn + 1 == record.turns.len(),
                cause: node(after),
            };
            self.push(what, session, after, &said);
            after = Endpoint::Node(node_of(turn));
            said.lineage.push(Piece::Answer(node_of(turn)));
            for fork in &what.forks {
                self.open.push_back(Instance {
                    session: sessions.index[&fork.child],
                    after,
                    said: said.clone(),
                    parent: Some(name.clone()),
                    join: None,
                });
            }
            for spawn in &what.spawns {
                let join = spawn.join_at.unwrap_or(turn + 1);
                let join = (join < record.turns.len()).then(|| node_of(join));
                for child in &spawn.children {
                    self.open.push_back(Instance::afresh(
                        sessions.index[child],
                        after,
                        join,
                        &name,
                    ));
                }
            }
        }
        if let Some(target) = instance.join {
            self.edge(after, Endpoint::Node(target), Wait::completion(Nanos::ZERO));
        }
    }

    /// Adds the node of a turn and the edge to it.
    fn push(&mut self, turn: &TurnRecord, session: SessionTurn, after: Endpoint, said: &Said) {
        let index = NodeIndex(self.nodes.len());
        let delay = Nanos::from_ms(turn.delay).expect("checked as the session was read");
        let wait = match after {
            Endpoint::Start | Endpoint::End => Wait::start(delay),
            Endpoint::Node(_) => Wait::completion(delay),
        };
        let extra = turn.extra.iter().map(|(key, raw)| (key.clone(), raw.get().to_owned()));
        self.nodes.push(Node {
            id: format!("{}:{}", session.session, session.turn),
            session,
            model: turn.model.clone(),
            streaming: true,
            max_tokens: turn.max_tokens.map(Tokens::new),
            expected: Expected::default(),
            arrival: Nanos::ZERO,
            min_start: None,
            inputs: Vec::new(),
            output: Some(ChannelIndex(index.0)),
            prompt: Prompt::Authored(said.lineage.clone()),
            overrides: Overrides {
                tools: said.tools.clone(),
                headers: Vec::new(),
                body: extra.collect(),
            },
        });
        self.edge(after, Endpoint::Node(index), wait);
    }

    fn edge(&mut self, source: Endpoint, target: Endpoint, wait: Wait) {
        self.edges.push(Edge { source, target, wait });
    }

    /// Numbers the nodes by their names and closes the graph.
    fn graph(mut self, id: &str) -> Graph {
        let leaves: Vec<usize> = {
            let mut is_leaf = vec![true; self.nodes.len()];
            for source in self.edges.iter().filter_map(|edge| node(edge.source)) {
                is_leaf[source.0] = false;
            }
            (0..self.nodes.len()).filter(|at| is_leaf[*at]).collect()
        };
        for leaf in leaves {
            self.edge(Endpoint::Node(NodeIndex(leaf)), Endpoint::End, Wait::default());
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|at| {
            let session = &self.nodes[*at].session;
            (format!("{}:", session.session), session.turn)
        });
        let mut places = vec![NodeIndex(0); order.len()];
        for (place, at) in order.iter().enumerate() {
            places[*at] = NodeIndex(place);
        }
        let mut nodes: Vec<Node> = self.nodes;
        nodes.sort_by_key(|node| (format!("{}:", node.session.session), node.session.turn));
        let moved = |endpoint: Endpoint| match endpoint {
            Endpoint::Node(index) => Endpoint::Node(places[index.0]),
            Endpoint::Start | Endpoint::End => endpoint,
        };
        let mut edges: Vec<Edge> = self
            .edges
            .iter()
            .map(|edge| Edge { source: moved(edge.source), target: moved(edge.target), ..*edge })
            .collect();
        edges.sort_by_key(|edge| (edge.target, edge.source));
        for (at, node) in nodes.iter_mut().enumerate() {
            renumber(node, NodeIndex(at), &places, &edges);
        }
        let channels = nodes.iter().map(|node| Channel {
            name: format!("{}_out", node.id),
            kind: ChannelKind::Text,
            reducer: Reducer::Overwrite,
        });
        let channels = channels.collect();
        let source = GraphSource::DagJsonl;
        let (id, hash_scope) = (id.to_owned(), HashScope::Global);
        Graph { id, source, block_size: None, hash_scope, nodes, edges, channels }
    }
}

/// Gives a node the numbers of its graph, and the inputs that its edges and its prompt mean.
fn renumber(node: &mut Node, at: NodeIndex, places: &[NodeIndex], edges: &[Edge]) {
    node.output = Some(ChannelIndex(at.0));
    node.session.cause = node.session.cause.map(|cause| places[cause.0]);
    let first = edges.partition_point(|edge| edge.target < Endpoint::Node(at));
    let to = edges[first..].iter().take_while(|edge| edge.target == Endpoint::Node(at));
    let mut read: Vec<NodeIndex> = to.filter_map(|edge| self::node(edge.source)).collect();
    if let Prompt::Authored(pieces) = &mut node.prompt {
        for of in pieces.iter_mut().flat_map(Piece::answers_mut) {
            *of = places[of.0];
            read.push(*of);
        }
    }
    read.sort_unstable();
    read.dedup();
    let input =
        |of: &NodeIndex| Input { channel: ChannelIndex(of.0), count: InputCount::Exactly(1) };
    node.inputs = read.iter().map(input).collect();
}

/// Returns a message as it is written.
fn message(raw: &str) -> Piece {
    let read: Result<MessageRecord, _> = serde_json::from_str(raw);
    let role = read.expect("checked as the session was read").role;
    Piece::Raw { role, json: raw.to_owned() }
}

/// Returns the node of an end.
fn node(endpoint: Endpoint) -> Option<NodeIndex> {
    match endpoint {
        Endpoint::Node(index) => Some(index),
        Endpoint::Start | Endpoint::End => None,
    }
}
