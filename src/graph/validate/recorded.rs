//! Findings at the records of which a graph was made.

use crate::diag::Bag;
use crate::graph::ir::Graph;
use crate::trace::{RecordedRequest, RecordedTree};

use super::finding::Finding;
use super::rules::findings;

/// Returns everything that is wrong with the graph of a recorded tree, each at the record that it is about.
pub fn validate_recorded(tree: &RecordedTree, graph: &Graph) -> Bag {
    let mut bag = Bag::new();
    for finding in findings(graph) {
        let place = record(tree, graph, &finding).map_or(&tree.place, |record| &record.place);
        let message = format!("graph `{}`: {}", graph.id, finding.message);
        bag.push(place.problem(finding.code, message, "recorded here"));
    }
    bag
}

/// Returns the record of the node that a finding is about.
fn record<'t>(
    tree: &'t RecordedTree,
    graph: &Graph,
    finding: &Finding,
) -> Option<&'t RecordedRequest> {
    let turn = &graph.node(finding.at(graph)?).session;
    let session = tree.sessions.iter().find(|session| session.id == turn.session)?;
    session.requests.get(turn.turn)
}
