//! Edges of the topology.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Code;
use crate::graph::ir::{Edge, Endpoint, Input, InputCount, NodeIndex, Wait};
use crate::graph::validate::wait_fault;
use crate::scenario::scalar::nearest;
use crate::scenario::written::{Map, Node, Place};
use crate::units::Nanos;

use super::node::NodeDraft;
use super::reading::{Reading, get};

/// Fields of an edge.
const FIELDS: [&str; 6] = [
    "source",
    "target",
    "delay_after_predecessor_us",
    "min_start_delay_us",
    "delay_after_predecessor_start_us",
    "delay_after_predecessor_first_token_us",
];

/// More edges than this are a mistake: every input of a channel is one for each of its writers.
const EDGES_MAX: usize = 1_000_000;

/// An edge, and where it is written: at its node where it is not.
pub(super) type Placed = (Edge, Place);

/// Reads the edges, and adds those that inputs mean and those from the start and to the end where none is written.
pub(super) fn edges(nodes: &[NodeDraft], list: &[Node], reading: &mut Reading) -> Vec<Placed> {
    let numbered = nodes.iter().enumerate();
    let places: BTreeMap<&str, NodeIndex> =
        numbered.map(|(at, node)| (node.id.as_str(), NodeIndex(at))).collect();
    let with_place =
        |node: &Node| edge(node, &places, reading).map(|edge| (edge, node.place.clone()));
    let mut found: Vec<Placed> = list.iter().filter_map(with_place).collect();
    let is_bound = |edge: &Edge| edge.source == Endpoint::Start || edge.target == Endpoint::End;
    let bounds = found.iter().any(|(edge, _)| is_bound(edge));
    if !add_inputs(nodes, &mut found) {
        let place = &nodes[0].place;
        let message = format!("inputs wait for more than {EDGES_MAX} answers");
        reading.bag.push(place.problem(Code::GraphChannel, message, "nodes begin here"));
    }
    if !bounds {
        add_bounds(nodes, &mut found);
    }
    found.sort_by_key(|(edge, _)| (edge.target, edge.source));
    found
}

fn edge(node: &Node, places: &BTreeMap<&str, NodeIndex>, reading: &mut Reading) -> Option<Edge> {
    let map = reading.object(node, "an edge", &FIELDS)?;
    let source = end(node, map, "source", places, reading);
    let target = end(node, map, "target", places, reading);
    let mut time = |key: &str| reading.micros(get(map, key), &format!("`{key}` of an edge"));
    let completion = time("delay_after_predecessor_us");
    let ready = time("min_start_delay_us");
    let dispatch = time("delay_after_predecessor_start_us");
    let first_token = time("delay_after_predecessor_first_token_us");
    let (source, target) = (source?, target?);
    let is_anchored = dispatch.is_some() || first_token.is_some();
    let wait = match source {
        // The start ends when it begins.
        Endpoint::Start => Wait {
            completion: None,
            ready: ready.max(completion).or(Some(Nanos::ZERO)),
            dispatch,
            first_token,
        },
        Endpoint::Node(_) | Endpoint::End => {
            let completion =
                if is_anchored { completion } else { completion.or(Some(Nanos::ZERO)) };
            Wait { completion, ready, dispatch, first_token }
        }
    };
    let edge = Edge { source, target, wait };
    if let Some(fault) = wait_fault(&edge) {
        reading.refuse(node, Code::GraphWait, format!("the edge {fault}"));
    }
    Some(edge)
}

/// Returns the end of an edge that a field names.
fn end(
    edge: &Node,
    map: &Map,
    key: &str,
    places: &BTreeMap<&str, NodeIndex>,
    reading: &mut Reading,
) -> Option<Endpoint> {
    let Some(node) = get(map, key) else {
        reading.refuse(edge, Code::GraphField, format!("an edge has a `{key}`"));
        return None;
    };
    let name = reading.text(Some(node), &format!("`{key}` of an edge"))?;
    match name.as_str() {
        "START" => return Some(Endpoint::Start),
        "END" => return Some(Endpoint::End),
        _ => {}
    }
    let found = places.get(name.as_str()).map(|index| Endpoint::Node(*index));
    if found.is_none() {
        let message = format!("the edge has the `{key}` `{name}`, which is no node");
        let problem = node.place.problem(Code::GraphEdge, message, "no node");
        reading.bag.push(match nearest(&name, places.keys().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("ends of edges are nodes of `nodes`, `START` and `END`"),
        });
    }
    found
}

/// Adds an edge from each node whose answer an input waits for, where none leads from it; returns whether they are not too many.
fn add_inputs(nodes: &[NodeDraft], edges: &mut Vec<Placed>) -> bool {
    let mut known: BTreeSet<(Endpoint, Endpoint)> =
        edges.iter().map(|(edge, _)| (edge.source, edge.target)).collect();
    let writers = writers(nodes);
    for (at, node) in nodes.iter().enumerate() {
        let target = Endpoint::Node(NodeIndex(at));
        for writer in node.inputs.iter().flat_map(|input| waited_for(*input, &writers)) {
            let source = Endpoint::Node(*writer);
            if source != target && known.insert((source, target)) {
                let edge = Edge { source, target, wait: Wait::completion(Nanos::ZERO) };
                edges.push((edge, node.place.clone()));
            }
            if edges.len() > EDGES_MAX {
                return false;
            }
        }
    }
    true
}

/// Returns the nodes of which each must have answered before an input is there: all writers, or none where any of them will do.
fn waited_for(input: Input, writers: &BTreeMap<usize, Vec<NodeIndex>>) -> &[NodeIndex] {
    let writers = writers.get(&input.channel.0).map_or(&[][..], Vec::as_slice);
    match input.count {
        InputCount::All => writers,
        InputCount::Exactly(count) if usize::try_from(count) == Ok(writers.len()) => writers,
        InputCount::Exactly(_) => &[],
    }
}

/// Returns the nodes that write each channel.
pub(super) fn writers(nodes: &[NodeDraft]) -> BTreeMap<usize, Vec<NodeIndex>> {
    let mut writers: BTreeMap<usize, Vec<NodeIndex>> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        if let Some(channel) = node.output {
            writers.entry(channel.0).or_default().push(NodeIndex(at));
        }
    }
    writers
}

/// Adds an edge from the start to every node that waits for none, and one from every node that nobody waits for to the end.
fn add_bounds(nodes: &[NodeDraft], edges: &mut Vec<Placed>) {
    let (mut is_first, mut is_last) = (vec![true; nodes.len()], vec![true; nodes.len()]);
    for (edge, _) in edges.iter() {
        if let (Endpoint::Node(source), Endpoint::Node(target)) = (edge.source, edge.target) {
            is_last[source.0] = false;
            is_first[target.0] = false;
        }
    }
    for (at, draft) in nodes.iter().enumerate() {
        let node = Endpoint::Node(NodeIndex(at));
        if is_first[at] {
            let wait = Wait::start(Nanos::ZERO);
            edges.push((Edge { source: Endpoint::Start, target: node, wait }, draft.place.clone()));
        }
        if is_last[at] {
            let wait = Wait::default();
            edges.push((Edge { source: node, target: Endpoint::End, wait }, draft.place.clone()));
        }
    }
}
