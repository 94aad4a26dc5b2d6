//! Which node has ended before which is sent.

use crate::graph::ir::{Endpoint, Graph, NodeIndex};

/// The nodes that come before each, one bit a pair.
#[derive(Debug)]
pub(super) struct Order {
    /// Those that have ended before it is sent.
    ended: Vec<Bits>,
    /// Those that have been sent before it is.
    sent: Vec<Bits>,
    /// The nodes, each after all that lead to it.
    pub(super) sequence: Vec<NodeIndex>,
    /// The place of each node in it.
    pub(super) positions: Vec<usize>,
}

/// A set of nodes.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn add(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn holds(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| *own |= more);
    }
}

impl Order {
    /// Returns the order of a graph without cycles.
    pub(super) fn of(graph: &Graph) -> Self {
        let count = graph.nodes.len();
        let mut waiting = vec![0_usize; count];
        let mut next: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
        for edge in &graph.edges {
            if let (Endpoint::Node(source), Endpoint::Node(target)) = (edge.source, edge.target) {
                waiting[target.0] += 1;
                next[source.0].push((target.0, edge.wait.completion.is_some()));
            }
        }
        let mut order = Self {
            ended: vec![Bits::none(count); count],
            sent: vec![Bits::none(count); count],
            sequence: Vec::with_capacity(count),
            positions: vec![0; count],
        };
        let mut open: Vec<usize> = (0..count).rev().filter(|at| waiting[*at] == 0).collect();
        while let Some(at) = open.pop() {
            order.positions[at] = order.sequence.len();
            order.sequence.push(NodeIndex(at));
            for (target, waits_for_end) in next[at].iter().copied() {
                order.follow(at, target, waits_for_end);
                waiting[target] -= 1;
                if waiting[target] == 0 {
                    open.push(target);
                }
            }
        }
        order
    }

    /// Adds what an edge says.
    fn follow(&mut self, source: usize, target: usize, waits_for_end: bool) {
        let (ended, sent) = (self.ended[source].clone(), self.sent[source].clone());
        self.ended[target].add_all(&ended);
        self.sent[target].add_all(&sent);
        self.sent[target].add(source);
        if waits_for_end {
            self.ended[target].add(source);
        }
    }

    /// Returns whether a node has ended whenever another is sent.
    pub(super) fn has_ended(&self, node: NodeIndex, before: NodeIndex) -> bool {
        self.ended[before.0].holds(node.0)
    }

    /// Returns whether a node has been sent whenever another is.
    pub(super) fn was_sent(&self, node: NodeIndex, before: NodeIndex) -> bool {
        self.sent[before.0].holds(node.0)
    }
}
