//! Rules about edges.

use crate::diag::{Bag, Code};
use crate::graph::ir::{Edge, Endpoint, Graph, NodeIndex};

use super::problem;

/// Both ends of an edge exist, and an edge leads from the start or a node to a node or the end.
pub(super) fn ends(graph: &Graph, bag: &mut Bag) {
    for edge in &graph.edges {
        let exists = |endpoint: Endpoint| match endpoint {
            Endpoint::Start | Endpoint::End => true,
            Endpoint::Node(index) => index.0 < graph.nodes.len(),
        };
        let message = if !exists(edge.source) || !exists(edge.target) {
            "an edge has an end that is no node"
        } else if edge.source == Endpoint::End || edge.target == Endpoint::Start {
            "an edge leaves the end or leads to the start"
        } else {
            continue;
        };
        bag.push(problem(graph, Code::GraphEdge, message));
    }
}

/// What an edge waits for is one thing: an end, or a dispatch with or without its first token.
pub(super) fn waits(graph: &Graph, bag: &mut Bag) {
    for edge in &graph.edges {
        let wait = &edge.wait;
        let from_start = edge.source == Endpoint::Start;
        let message = if wait.completion.is_some() && wait.dispatch.is_some() {
            "waits for the end and for the dispatch of its source"
        } else if from_start && (wait.dispatch.is_some() || wait.first_token.is_some()) {
            "waits for the dispatch or the first token of the start"
        } else if wait.first_token.is_some() && wait.completion.is_some() {
            "waits for the end and for the first token of its source"
        } else if wait.first_token.is_some() && wait.dispatch.is_none() {
            "waits for a first token and does not say for how long after the dispatch where none comes"
        } else {
            continue;
        };
        let (source, target) = (graph.name(edge.source), graph.name(edge.target));
        let message = format!("the edge `{source}` -> `{target}` {message}");
        bag.push(problem(graph, Code::GraphWait, &message));
    }
}

/// A node that waits for a dispatch waits for nothing else: it is scheduled when its source is sent.
pub(super) fn gates(graph: &Graph, bag: &mut Bag) {
    let anchored = graph.edges.iter().filter(|edge| edge.wait.dispatch.is_some());
    let targets = anchored.filter_map(|edge| node(edge.target));
    for target in targets {
        let count = graph.edges_to(target).count();
        if count > 1 {
            let id = &graph.node(target).id;
            let message =
                format!("`{id}` waits for a dispatch and has {count} edges; it may have one");
            bag.push(problem(graph, Code::GraphWait, &message));
        }
    }
}

/// Returns the node of an end.
pub(super) fn node(endpoint: Endpoint) -> Option<NodeIndex> {
    match endpoint {
        Endpoint::Node(index) => Some(index),
        Endpoint::Start | Endpoint::End => None,
    }
}

/// Returns both nodes of an edge between nodes.
pub(super) fn nodes(edge: &Edge) -> Option<(NodeIndex, NodeIndex)> {
    Some((node(edge.source)?, node(edge.target)?))
}
