//! A topology and its traces to graphs.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Bag, Code};
use crate::graph::ir::{
    Channel, ChannelKind, Edge, Endpoint, Graph, GraphSource, Node, NodeIndex, SessionTurn, Wait,
};
use crate::graph::prompt::{Piece, Prompt};
use crate::graph::validate::findings;
use crate::scenario::scalar::nearest;
use crate::scenario::written::{Data, Node as Written};
use crate::trace::HashScope;
use crate::units::Nanos;

use super::channels::{Seed, prompts};
use super::node::NodeDraft;
use super::order::Order;
use super::prompt::{Item, Names, items, plain};
use super::reading::Reading;
use super::topology::Topology;
use super::trace::Trace;

/// The node of a graph that is one prompt.
const ONLY_NODE: &str = "call";

/// The most calls and edges that the traces of a file may make together. Each trace has those of the topology, so that short files make large graphs.
const PARTS_MAX: usize = 1_000_000;

/// Returns the graph of each trace, and warnings about the topology.
///
/// # Errors
/// What is wrong with the topology as a whole, or with what a trace makes of it.
pub(super) fn graphs(
    topology: &Topology,
    traces: &[Trace],
    mut reading: Reading,
) -> Result<(Vec<Graph>, Bag), Bag> {
    check_traces(topology, traces, &mut reading);
    let shape = graph((topology, None), &[], traces.first().map_or("", |trace| &trace.id));
    for finding in findings(&shape) {
        let place = topology.place(finding.subject);
        reading.bag.push(place.problem(finding.code, finding.message, "here"));
    }
    if reading.bag.has_errors() {
        return Err(reading.bag);
    }
    check_size(&shape, traces, &mut reading)?;
    let order = Order::of(&shape);
    let mut graphs = Vec::with_capacity(traces.len());
    for trace in traces {
        let before = reading.bag.has_errors();
        graphs.extend(of_trace(topology, &order, trace, &mut reading));
        // What is wrong in one trace because of the topology is wrong in all of them.
        if reading.bag.has_errors() && !before {
            break;
        }
    }
    if reading.bag.has_errors() { Err(reading.bag) } else { Ok((graphs, reading.bag)) }
}

/// Traces have names of their own, and say nothing of nodes and channels that are not there.
fn check_traces(topology: &Topology, traces: &[Trace], reading: &mut Reading) {
    let mut ids = BTreeSet::new();
    let nodes: BTreeSet<&str> = topology.nodes.iter().map(|node| node.id.as_str()).collect();
    for trace in traces {
        if !ids.insert(trace.id.as_str()) {
            let message = format!("two traces are called `{}`", trace.id);
            reading.bag.push(trace.place.problem(Code::GraphName, message, "again here"));
        }
        for (node, place) in trace.answers.iter().filter(|(node, _)| !nodes.contains(node.as_str()))
        {
            let message = format!("`replay_outputs` names `{node}`, which is no node");
            reading.bag.push(place.problem(Code::GraphEdge, message, "no node"));
        }
    }
}

/// All graphs together are in memory.
fn check_size(shape: &Graph, traces: &[Trace], reading: &mut Reading) -> Result<(), Bag> {
    let each = shape.nodes.len() + shape.edges.len();
    let Some(over) = PARTS_MAX.checked_div(each).and_then(|most| traces.get(most)) else {
        return Ok(());
    };
    let message = format!(
        "{} traces of {each} calls and edges are more than {PARTS_MAX} in one file",
        traces.len()
    );
    let problem = over.place.problem(Code::GraphInput, message, "one too many");
    reading.bag.push(problem.help("divide the traces among several files"));
    Err(std::mem::take(&mut reading.bag))
}

/// Returns the graph of a trace.
fn of_trace(
    topology: &Topology,
    order: &Order,
    trace: &Trace,
    reading: &mut Reading,
) -> Option<Graph> {
    match (&trace.messages, topology.nodes.is_empty()) {
        (Some(messages), true) => return only_prompt(topology, trace, messages, reading),
        (Some(messages), false) => {
            let message = "`messages` of a trace is the prompt of a graph without nodes, and this one has some";
            reading.refuse(messages, Code::GraphRecords, message);
        }
        (None, true) => {
            let message = "the graph has no nodes and the trace no `messages`: nothing is asked";
            reading.bag.push(trace.place.problem(Code::GraphRecords, message, "this trace"));
        }
        (None, false) => {}
    }
    let seeds = seeds(topology, trace, reading);
    let prompts = prompts(topology, order, &seeds, reading);
    (!reading.bag.has_errors()).then(|| graph((topology, Some(order)), &prompts, &trace.id))
}

/// Returns the graph of a trace that is one prompt.
fn only_prompt(
    topology: &Topology,
    trace: &Trace,
    messages: &Written,
    reading: &mut Reading,
) -> Option<Graph> {
    let items = items(Some(messages), &Names::new(), reading);
    let pieces = items.iter().filter_map(|(item, _)| match item {
        Item::Message { role, json } => Some(Piece::Raw { role: role.clone(), json: json.clone() }),
        Item::Mixed { .. } | Item::Splice(_) => None, // no channel is there to be read: refused
    });
    let pieces: Vec<Piece> = pieces.collect();
    let node = NodeDraft::saying(ONLY_NODE, &trace.place, Vec::new());
    let (start, end) = (Endpoint::Start, Endpoint::End);
    let only = Endpoint::Node(NodeIndex(0));
    let edges = vec![
        Edge { source: start, target: only, wait: Wait::start(Nanos::ZERO) },
        Edge { source: only, target: end, wait: Wait::default() },
    ];
    let one = Topology {
        place: topology.place.clone(),
        system: topology.system.clone(),
        channels: topology.channels.clone(),
        channel_places: Vec::new(),
        nodes: vec![node],
        edges,
        edge_places: Vec::new(),
    };
    (!reading.bag.has_errors()).then(|| graph((&one, None), &[pieces], &trace.id))
}

/// Returns what channels hold at the start of a trace.
fn seeds(topology: &Topology, trace: &Trace, reading: &mut Reading) -> BTreeMap<usize, Seed> {
    let mut seeds = BTreeMap::new();
    for (name, value) in &trace.seeds {
        let names = || topology.channels.iter().map(|channel| channel.name.as_str());
        let Some(at) = names().position(|known| known == name) else {
            let message = format!("`initial_state` names `{name}`, which is no channel");
            let problem = value.place.problem(Code::GraphChannel, message, "not in `state`");
            reading.bag.push(match nearest(name, names()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
            continue;
        };
        seeds.extend(seed(&topology.channels[at], value, reading).map(|seed| (at, seed)));
    }
    seeds
}

fn seed(channel: &Channel, value: &Written, reading: &mut Reading) -> Option<Seed> {
    let what = format!("what `{}` holds at the start", channel.name);
    if channel.kind == ChannelKind::Text {
        return reading.text(Some(value), &what).map(Seed::Text);
    }
    if !matches!(value.data, Data::List(_)) {
        let message = format!("{what} is a list of messages, found {}", value.describe());
        reading.refuse(value, Code::GraphField, message);
        return None;
    }
    let items = items(Some(value), &Names::new(), reading);
    let messages = items.into_iter().filter_map(|(item, _)| match item {
        Item::Message { role, json } => Some(Piece::Raw { role, json }),
        Item::Mixed { .. } | Item::Splice(_) => None, // reads a channel: refused
    });
    Some(Seed::Messages(messages.collect()))
}

/// Returns the graph of a topology with what each node says.
///
/// Its calls are turns of one session, in an order in which each comes after all that lead to it; one that is sent only when all others
/// have ended is the last. Without an order they are turns by their numbers.
fn graph(
    (topology, order): (&Topology, Option<&Order>),
    prompts: &[Vec<Piece>],
    id: &str,
) -> Graph {
    let count = topology.nodes.len();
    let place = |at: usize| order.map_or(at, |order| order.positions[at]);
    let is_last = |at: usize| {
        let has_ended = |other: usize| {
            order.is_none_or(|order| order.has_ended(NodeIndex(other), NodeIndex(at)))
        };
        place(at) + 1 == count && (0..count).all(|other| other == at || has_ended(other))
    };
    let mut causes = vec![None; count];
    for edge in &topology.edges {
        if let (Endpoint::Node(source), Endpoint::Node(target)) = (edge.source, edge.target) {
            causes[target.0].get_or_insert(source);
        }
    }
    let nodes = topology.nodes.iter().enumerate().map(|(at, draft)| {
        let mut pieces = Vec::new();
        if let Some(system) = &topology.system {
            let json = plain("system", system);
            pieces.push(Piece::Raw { role: "system".to_owned(), json });
        }
        pieces.extend(prompts.get(at).into_iter().flatten().cloned());
        let cause = causes[at];
        let turn = SessionTurn {
            session: id.to_owned(),
            parent: None,
            turn: place(at),
            is_final: is_last(at),
            cause,
        };
        node(draft, turn, pieces)
    });
    Graph {
        id: id.to_owned(),
        source: GraphSource::Native,
        block_size: None,
        hash_scope: HashScope::Global,
        nodes: nodes.collect(),
        edges: topology.edges.clone(),
        channels: topology.channels.clone(),
    }
}

fn node(draft: &NodeDraft, session: SessionTurn, pieces: Vec<Piece>) -> Node {
    Node {
        id: draft.id.clone(),
        session,
        model: draft.model.clone(),
        streaming: draft.streaming,
        max_tokens: draft.max_tokens,
        expected: draft.expected,
        arrival: draft.arrival,
        min_start: draft.min_start,
        inputs: draft.inputs.clone(),
        output: draft.output,
        prompt: Prompt::Authored(pieces),
        overrides: draft.overrides.clone(),
    }
}
