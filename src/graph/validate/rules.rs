//! The rules in their order.

use crate::diag::{Bag, Code, Problem};

use crate::graph::ir::Graph;

use super::{channels, edges, reach};

/// Returns everything that is wrong with a graph, in the order of the rules.
///
/// Rules about meaning are judged only where the structure holds.
pub fn validate(graph: &Graph) -> Bag {
    let mut bag = Bag::new();
    names(graph, &mut bag);
    edges::ends(graph, &mut bag);
    channels::indices(graph, &mut bag);
    if bag.has_errors() {
        return bag;
    }
    edges::waits(graph, &mut bag);
    edges::gates(graph, &mut bag);
    channels::writers(graph, &mut bag);
    channels::inputs(graph, &mut bag);
    reach::cycles(graph, &mut bag);
    reach::unreachable(graph, &mut bag);
    bag
}

/// Names of nodes and channels: each once, none of those that mean something else.
fn names(graph: &Graph, bag: &mut Bag) {
    let mut ids: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    for id in &ids {
        if matches!(*id, "START" | "END" | "") || id.starts_with("_aiperf") {
            let message = format!("a node may not be called `{id}`");
            bag.push(problem(graph, Code::GraphName, &message));
        }
    }
    ids.sort_unstable();
    let mut channels: Vec<&str> = graph.channels.iter().map(|c| c.name.as_str()).collect();
    channels.sort_unstable();
    for (what, names) in [("nodes", ids), ("channels", channels)] {
        for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
            let message = format!("two {what} are called `{}`", pair[0]);
            bag.push(problem(graph, Code::GraphName, &message));
        }
    }
}

/// Returns a problem of a graph.
pub(super) fn problem(graph: &Graph, code: Code, message: &str) -> Problem {
    Problem::new(code, format!("graph `{}`: {}", graph.id, message))
}
