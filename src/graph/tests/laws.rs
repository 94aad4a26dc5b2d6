//! Laws of lowering on random trees.

use proptest::prelude::*;

use crate::graph::{Edge, Endpoint, Graph, IdleGapCap, NodeIndex, lower, validate};
use crate::trace::RecordedTree;
use crate::units::Nanos;

use super::support::{agent, call, seconds, trace, weka};

/// A session with what it started: gaps and durations in tenths of a second, and lengths of prompts.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) calls: Vec<(u8, u8, u8)>,
    children: Vec<(usize, bool, Shape)>,
}

/// Returns shapes of trees.
pub(super) fn shapes() -> impl Strategy<Value = Shape> {
    let calls = || prop::collection::vec((0_u8..30, 0_u8..30, 0_u8..5), 1..5);
    let leaf = calls().prop_map(|calls| Shape { calls, children: Vec::new() });
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let children = prop::collection::vec((0_usize..4, any::<bool>(), inner), 0..3);
        (calls(), children).prop_map(|(calls, children)| Shape { calls, children })
    })
}

/// Writes a shape as the entries of a Weka trace that start at a time.
pub(super) fn entries(shape: &Shape, from: u32, names: &mut u32) -> Vec<String> {
    let mut written: Vec<(u32, String)> = Vec::new();
    let mut at = from;
    let mut starts = Vec::new();
    for (gap, duration, blocks) in &shape.calls {
        at += u32::from(*gap);
        starts.push(at);
        let blocks: Vec<u64> =
            (0..u64::from(*blocks)).map(|block| block + u64::from(*gap % 2) * 100).collect();
        written.push((at, call(f64::from(at) / 10.0, f64::from(*duration) / 10.0, &blocks)));
    }
    for (after, background, child) in &shape.children {
        let start = starts[*after % starts.len()] + u32::from(*background);
        *names += 1;
        let name = format!("s{names}");
        let status = if *background { "async_launched" } else { "completed" };
        let inner = entries(child, start, names);
        written.push((start, agent(f64::from(start) / 10.0, &name, status, &inner)));
    }
    written.sort_by_key(|(start, _)| *start);
    written.into_iter().map(|(_, entry)| entry).collect()
}

fn tree(shape: &Shape) -> RecordedTree {
    let text = trace(&entries(shape, 0, &mut 0));
    weka(text.as_bytes()).pop().expect("a trace")
}

/// Returns session, start and end of a node as recorded.
fn recorded(tree: &RecordedTree, graph: &Graph, index: NodeIndex) -> (usize, Nanos, Nanos) {
    let turn = &graph.node(index).session;
    let session =
        tree.sessions.iter().position(|session| session.id == turn.session).expect("there");
    let request = &tree.sessions[session].requests[turn.turn];
    let end = request.start.get() + request.duration.map_or(0, Nanos::get);
    (session, request.start, Nanos::new(end))
}

/// Returns whether a call of one session can be what a call of another waited for, as the page says it.
fn may_cause(tree: &RecordedTree, from: usize, to: usize) -> bool {
    let background = |at: usize| {
        let mode = |at: usize| tree.sessions[at].spawn.as_ref().map(|spawn| spawn.mode);
        tree.lineage(at).filter(|at| mode(*at) == Some(crate::trace::SpawnMode::Background)).count()
    };
    let is_above = tree.lineage(to).any(|at| at == from);
    let is_below = tree.lineage(from).any(|at| at == to) && background(from) == background(to);
    is_above || is_below
}

/// Returns what a node waits for, found by comparing every pair.
fn naive(tree: &RecordedTree, graph: &Graph, target: NodeIndex) -> Vec<NodeIndex> {
    let of = |index: NodeIndex| recorded(tree, graph, index);
    let key = |index: NodeIndex| {
        let (session, start, end) = of(index);
        let cause = |at: &NodeIndex| graph.node(*at).session.cause;
        let together = std::iter::successors(cause(&index), cause);
        let depth = together.take_while(|cause| of(*cause).1 == start).count();
        (start, depth, end, tree.sessions[session].id.clone(), graph.node(index).session.turn)
    };
    let (session, start, _) = of(target);
    let all = (0..graph.nodes.len()).map(NodeIndex);
    let candidates: Vec<NodeIndex> = all
        .filter(|other| {
            let (from, _, end) = of(*other);
            key(*other) < key(target) && end <= start && may_cause(tree, from, session)
        })
        .collect();
    let is_covered = |one: &NodeIndex| {
        let (from, _, end) = of(*one);
        candidates.iter().any(|later| {
            let (to, start, _) = of(*later);
            key(*later) > key(*one) && end <= start && may_cause(tree, from, to)
        })
    };
    candidates.iter().filter(|one| !is_covered(one)).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_call_waits_for_what_comparing_every_pair_says(shape in shapes()) {
        let tree = tree(&shape);
        let (graph, _) = lower(&tree, crate::graph::LowerOptions { idle_gap_cap: IdleGapCap::None });
        for index in (0..graph.nodes.len()).map(NodeIndex) {
            let edges: Vec<&Edge> = graph.edges_to(index).collect();
            if edges.iter().any(|edge| edge.wait.dispatch.is_some()) {
                prop_assert_eq!(edges.len(), 1);
                continue;
            }
            let mut found: Vec<NodeIndex> = edges
                .iter()
                .filter_map(|edge| match edge.source {
                    Endpoint::Node(index) => Some(index),
                    Endpoint::Start | Endpoint::End => None,
                })
                .collect();
            found.sort_unstable();
            prop_assert_eq!(found, naive(&tree, &graph, index), "{}", &graph.node(index).id);
        }
    }

    #[test]
    fn a_lowered_graph_is_right_and_when_every_answer_comes_as_recorded_nothing_starts_too_late(shape in shapes()) {
        let tree = tree(&shape);
        for cap in [IdleGapCap::None, seconds(1), seconds(0)] {
            let (graph, _) = lower(&tree, crate::graph::LowerOptions { idle_gap_cap: cap });
            let found: Vec<String> =
                validate(&graph).into_sorted().iter().map(ToString::to_string).collect();
            prop_assert_eq!(found, [""; 0]);
            for (ordinal, node) in graph.nodes.iter().enumerate() {
                let start = graph
                    .edges_to(NodeIndex(ordinal))
                    .map(|edge| starts(&tree, &graph, edge))
                    .max();
                prop_assert_eq!(start, Some(node.arrival.get()), "{} at {:?}", &node.id, cap);
            }
        }
    }
}

/// Returns when an edge lets its target start if its source arrives and takes as long as recorded.
fn starts(tree: &RecordedTree, graph: &Graph, edge: &Edge) -> u64 {
    let wait = &edge.wait;
    match edge.source {
        Endpoint::Node(source) => {
            let (_, start, end) = recorded(tree, graph, source);
            let arrival = graph.node(source).arrival.get();
            match (wait.completion, wait.dispatch) {
                (Some(delay), _) => arrival + (end.get() - start.get()) + delay.get(),
                (None, Some(delay)) => arrival + delay.get(),
                (None, None) => arrival,
            }
        }
        Endpoint::Start | Endpoint::End => wait.ready.map_or(0, Nanos::get),
    }
}
