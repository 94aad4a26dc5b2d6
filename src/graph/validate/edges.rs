//! Rules about edges.

use crate::diag::Code;
use crate::graph::ir::{Edge, Endpoint, Graph, NodeIndex};

use super::finding::Finding;

/// Both ends of an edge exist, and an edge leads from the start or a node to a node or the end.
pub(super) fn ends(graph: &Graph, found: &mut Vec<Finding>) {
    for (at, edge) in graph.edges.iter().enumerate() {
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
        found.push(Finding::edge(Code::GraphEdge, at, message));
    }
}

/// What an edge waits for is one thing: an end, or a dispatch with or without its first token.
pub(super) fn waits(graph: &Graph, found: &mut Vec<Finding>) {
    for (at, edge) in graph.edges.iter().enumerate() {
        let Some(fault) = wait_fault(edge) else { continue };
        let (source, target) = (graph.name(edge.source), graph.name(edge.target));
        let message = format!("the edge `{source}` -> `{target}` {fault}");
        found.push(Finding::edge(Code::GraphWait, at, message));
    }
}

/// Returns how what an edge waits for contradicts itself.
pub(in crate::graph) fn wait_fault(edge: &Edge) -> Option<&'static str> {
    let wait = &edge.wait;
    let from_start = edge.source == Endpoint::Start;
    if wait.completion.is_some() && wait.dispatch.is_some() {
        Some("waits for the end and for the dispatch of its source")
    } else if from_start && (wait.dispatch.is_some() || wait.first_token.is_some()) {
        Some("waits for the dispatch or the first token of the start")
    } else if wait.first_token.is_some() && wait.completion.is_some() {
        Some("waits for the end and for the first token of its source")
    } else if wait.first_token.is_some() && wait.dispatch.is_none() {
        Some(
            "waits for a first token and does not say for how long after the dispatch where none comes",
        )
    } else {
        None
    }
}

/// A node that waits for a dispatch waits for nothing else: it is scheduled when its source is sent.
pub(super) fn gates(graph: &Graph, found: &mut Vec<Finding>) {
    let mut counts = vec![0_usize; graph.nodes.len()];
    let mut is_anchored = vec![false; graph.nodes.len()];
    for edge in &graph.edges {
        let Some(target) = node(edge.target) else { continue };
        counts[target.0] += 1;
        is_anchored[target.0] |= edge.wait.dispatch.is_some();
    }
    for (at, count) in
        counts.iter().enumerate().filter(|(at, count)| is_anchored[*at] && **count > 1)
    {
        let id = &graph.node(NodeIndex(at)).id;
        let message = format!("`{id}` waits for a dispatch and has {count} edges; it may have one");
        found.push(Finding::node(Code::GraphWait, at, message));
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
