//! Every rule, on a graph that breaks it alone.

use crate::diag::Code;
use crate::graph::{
    ChannelIndex, Edge, Endpoint, Graph, IdleGapCap, Input, InputCount, NodeIndex, Wait, validate,
};
use crate::units::Nanos;

use super::support::{call, graphs, trace, weka};

/// Returns a right graph of three calls in a row.
fn right() -> Graph {
    let entries = [call(0.0, 1.0, &[1]), call(2.0, 1.0, &[1, 2]), call(4.0, 1.0, &[1, 2, 3])];
    graphs(&weka(trace(&entries).as_bytes()), IdleGapCap::None).pop().expect("a trace")
}

/// Returns the codes and messages of a graph that was changed.
fn broken(change: impl FnOnce(&mut Graph)) -> Vec<(Code, String)> {
    let mut graph = right();
    change(&mut graph);
    let found = validate(&graph).into_sorted();
    found.iter().map(|problem| (problem.code(), problem.message().to_owned())).collect()
}

fn edge(source: Endpoint, target: usize, wait: Wait) -> Edge {
    Edge { source, target: Endpoint::Node(NodeIndex(target)), wait }
}

#[test]
fn a_lowered_graph_is_right() {
    assert_eq!(broken(|_| {}), []);
}

/// Asserts that one rule alone is broken.
fn only(found: &[(Code, String)], code: Code, part: &str) {
    assert!(found.iter().all(|(is, _)| *is == code) && !found.is_empty(), "{found:?}");
    assert!(found[0].1.contains(part), "{found:?}");
}

fn node(index: usize) -> Endpoint {
    Endpoint::Node(NodeIndex(index))
}

#[test]
fn names_and_ends_have_rules() {
    let zero = Nanos::ZERO;
    only(&broken(|graph| graph.nodes[1].id = "START".to_owned()), Code::GraphName, "`START`");
    only(&broken(|graph| graph.nodes[1].id = "r:0".to_owned()), Code::GraphName, "two nodes");
    only(
        &broken(|graph| graph.channels[1].name = "r:0_out".to_owned()),
        Code::GraphName,
        "two channels",
    );
    only(
        &broken(|graph| graph.edges.push(edge(node(9), 1, Wait::completion(zero)))),
        Code::GraphEdge,
        "no node",
    );
    only(
        &broken(|graph| graph.edges.push(edge(Endpoint::End, 1, Wait::completion(zero)))),
        Code::GraphEdge,
        "leaves the end",
    );
}

#[test]
fn waits_have_rules() {
    let zero = Nanos::ZERO;
    only(
        &broken(|graph| graph.edges[1].wait.dispatch = Some(zero)),
        Code::GraphWait,
        "the end and for the dispatch",
    );
    only(
        &broken(|graph| graph.edges[0].wait.dispatch = Some(zero)),
        Code::GraphWait,
        "of the start",
    );
    only(
        &broken(|graph| graph.edges[1].wait = Wait { first_token: Some(zero), ..Wait::default() }),
        Code::GraphWait,
        "does not say",
    );
    only(
        &broken(|graph| graph.edges[1].wait.first_token = Some(zero)),
        Code::GraphWait,
        "the end and for the first token",
    );
    only(
        &broken(|graph| graph.edges.push(edge(node(0), 2, Wait::dispatch(zero, None)))),
        Code::GraphWait,
        "may have one",
    );
}

#[test]
fn channels_and_paths_have_rules() {
    let zero = Nanos::ZERO;
    only(
        &broken(|graph| graph.nodes[1].output = Some(ChannelIndex(7))),
        Code::GraphChannel,
        "not there",
    );
    only(
        &broken(|graph| graph.nodes[1].output = Some(ChannelIndex(2))),
        Code::GraphChannel,
        "`r:2_out` keeps its last value",
    );
    let twice = Input { channel: ChannelIndex(0), count: InputCount::Exactly(2) };
    only(
        &broken(|graph| graph.nodes[1].inputs = vec![twice]),
        Code::GraphChannel,
        "waits for 2 values",
    );
    only(
        &broken(|graph| graph.edges.push(edge(node(2), 1, Wait::completion(zero)))),
        Code::GraphCycle,
        "-> ",
    );
    only(
        &broken(|graph| graph.edges.retain(|edge| edge.target != node(1))),
        Code::GraphUnreachable,
        "`r:1`",
    );
}

#[test]
fn a_cycle_is_named_from_node_to_node() {
    let found = broken(|graph| graph.edges.push(edge(node(2), 1, Wait::completion(Nanos::ZERO))));
    assert_eq!(found[0].1, "graph `r`: nodes wait for one another: `r:1` -> `r:2` -> `r:1`");
}
