//! The rules in their order.

use crate::diag::{Bag, Code};
use crate::graph::ir::{Graph, GraphSource, Node};

use super::finding::Finding;
use super::{channels, edges, reach};

/// Returns everything that is wrong with a graph, in the order of the rules.
///
/// Rules about meaning are judged only where the structure holds.
pub fn validate(graph: &Graph) -> Bag {
    let mut bag = Bag::new();
    for finding in findings(graph) {
        bag.push(finding.problem(graph));
    }
    bag
}

/// Returns everything that is wrong with a graph and with which part of it, in the order of the rules.
pub(in crate::graph) fn findings(graph: &Graph) -> Vec<Finding> {
    let mut found = Vec::new();
    names(graph, &mut found);
    sessions(graph, &mut found);
    edges::ends(graph, &mut found);
    channels::indices(graph, &mut found);
    if !found.is_empty() {
        return found;
    }
    edges::waits(graph, &mut found);
    edges::gates(graph, &mut found);
    channels::writers(graph, &mut found);
    channels::inputs(graph, &mut found);
    reach::cycles(graph, &mut found);
    reach::unreachable(graph, &mut found);
    cache(graph, &mut found);
    found
}

/// No more of a prompt can come from a cache than there is. One warning a graph.
fn cache(graph: &Graph, found: &mut Vec<Finding>) {
    let is_beyond = |node: &Node| {
        let expected = &node.expected;
        expected.cached.zip(expected.input).is_some_and(|(cached, input)| cached > input)
    };
    let mut beyond = graph.nodes.iter().enumerate().filter(|(_, node)| is_beyond(node));
    if let Some((at, first)) = beyond.next() {
        let others = match beyond.count() {
            0 => "expects more tokens from a cache than its prompt has".to_owned(),
            more => {
                format!(
                    "and {more} other nodes expect more tokens from a cache than their prompts have"
                )
            }
        };
        found.push(Finding::node(Code::GraphCache, at, format!("`{}` {others}", first.id)));
    }
}

/// Names of nodes and channels: each once, none of those that mean something else.
fn names(graph: &Graph, found: &mut Vec<Finding>) {
    for (at, node) in graph.nodes.iter().enumerate() {
        let id = node.id.as_str();
        if matches!(id, "START" | "END" | "") || id.starts_with("_aiperf") {
            let message = format!("a node may not be called `{id}`");
            found.push(Finding::node(Code::GraphName, at, message));
        }
    }
    for (at, id) in repeated(graph.nodes.iter().map(|node| node.id.as_str())) {
        found.push(Finding::node(Code::GraphName, at, format!("two nodes are called `{id}`")));
    }
    for (at, name) in repeated(graph.channels.iter().map(|channel| channel.name.as_str())) {
        let message = format!("two channels are called `{name}`");
        found.push(Finding::channel(Code::GraphName, at, message));
    }
}

/// Nodes of recordings are called `session:turn`, so no name of a session holds a `:` or is empty.
fn sessions(graph: &Graph, found: &mut Vec<Finding>) {
    if !matches!(graph.source, GraphSource::Weka | GraphSource::Dynamo) {
        return;
    }
    let first = graph.nodes.iter().enumerate().filter(|(_, node)| node.session.turn == 0);
    for (at, name) in first.map(|(at, node)| (at, &node.session.session)) {
        if name.is_empty() || name.contains(':') {
            let message =
                format!("a session is called `{name}`: it may not be empty or hold a `:`");
            found.push(Finding::node(Code::GraphName, at, message));
        }
    }
}

/// Returns the names that stand before, each with its place.
fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Vec<(usize, &'n str)> {
    let mut sorted: Vec<(&str, usize)> = names.enumerate().map(|(at, name)| (name, at)).collect();
    sorted.sort_unstable();
    let pairs = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    pairs.map(|pair| (pair[1].1, pair[1].0)).collect()
}
