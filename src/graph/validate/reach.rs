//! Rules about paths.

use crate::diag::Code;
use crate::graph::ir::{Endpoint, Graph, NodeIndex};

use super::edges::{node, nodes};
use super::finding::Finding;

/// No node waits for itself, over any number of others. Names one cycle, from its first node on.
pub(super) fn cycles(graph: &Graph, found: &mut Vec<Finding>) {
    let mut waiting = vec![0_usize; graph.nodes.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (source, target) in graph.edges.iter().filter_map(nodes) {
        waiting[target.0] += 1;
        next[source.0].push(target.0);
    }
    let mut open: Vec<usize> = (0..waiting.len()).filter(|node| waiting[*node] == 0).collect();
    while let Some(done) = open.pop() {
        for target in &next[done] {
            waiting[*target] -= 1;
            if waiting[*target] == 0 {
                open.push(*target);
            }
        }
    }
    // Every node that is left waits for another one that is left: walking back never ends.
    let Some(first) = waiting.iter().position(|count| *count > 0) else { return };
    let cycle = cycle(graph, &waiting, first);
    let names: Vec<String> =
        cycle.iter().map(|at| format!("`{}`", graph.node(NodeIndex(*at)).id)).collect();
    let message = format!("nodes wait for one another: {}", names.join(" -> "));
    found.push(Finding::node(Code::GraphCycle, cycle[0], message));
}

/// Returns a cycle among the nodes that still wait, closed.
fn cycle(graph: &Graph, waiting: &[usize], from: usize) -> Vec<usize> {
    let mut before = vec![None; waiting.len()];
    for (source, target) in graph.edges.iter().filter_map(nodes) {
        if waiting[source.0] > 0 && before[target.0].is_none() {
            before[target.0] = Some(source.0);
        }
    }
    let mut walked = vec![from];
    loop {
        let at = walked[walked.len() - 1];
        let Some(source) = before[at] else { return walked };
        if let Some(seen) = walked.iter().position(|node| *node == source) {
            let mut found: Vec<usize> = walked[seen..].iter().rev().copied().collect();
            found.insert(0, source);
            return found;
        }
        walked.push(source);
    }
}

/// Every node can be reached from the start. A graph without edges from the start starts nowhere.
pub(super) fn unreachable(graph: &Graph, found: &mut Vec<Finding>) {
    let mut reached = vec![false; graph.nodes.len()];
    let mut next: Vec<Vec<NodeIndex>> = vec![Vec::new(); graph.nodes.len()];
    let mut open = Vec::new();
    for edge in &graph.edges {
        let Some(target) = node(edge.target) else { continue };
        match edge.source {
            Endpoint::Start => open.push(target),
            Endpoint::Node(source) => next[source.0].push(target),
            Endpoint::End => {}
        }
    }
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at.0], true) {
            open.extend(&next[at.0]);
        }
    }
    for at in (0..reached.len()).filter(|at| !reached[*at]) {
        let message = format!("`{}` cannot be reached from the start", graph.nodes[at].id);
        found.push(Finding::node(Code::GraphUnreachable, at, message));
    }
}
