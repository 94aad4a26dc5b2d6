//! What the calls of a graph wait for, without what they say.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{Endpoint, Graph, InputCount, Node, NodeIndex, Wait};
use crate::units::Nanos;

/// What the calls of a graph wait for, without what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topology {
    steps: Vec<Step>,
    /// For each call, those whose gate can open when something happens to it.
    dependents: Vec<Vec<NodeIndex>>,
}

/// What one call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The edges that lead to it: the source, the start of the graph where absent, and what is waited for.
    pub(crate) edges: Vec<(Option<NodeIndex>, Wait)>,
    /// The values that it waits for.
    pub(crate) inputs: Vec<Join>,
    /// The calls whose answers its prompt holds.
    pub(crate) slots: Vec<NodeIndex>,
    /// The least time from the start of the graph.
    pub(crate) min_start: Option<Nanos>,
    /// When it was sent in the recording, from the start of the graph.
    pub(crate) arrival: Nanos,
    /// The number of its conversation.
    pub(crate) session: usize,
}

/// Values of one channel that a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Join {
    /// The calls that write the channel.
    pub(crate) writers: Vec<NodeIndex>,
    /// How many of them must have ended.
    pub(crate) count: usize,
}

impl Topology {
    /// Returns what the calls of a graph wait for; `held` are the calls whose answers the prompt of a call holds.
    pub(crate) fn of(graph: &Graph, held: impl Fn(NodeIndex) -> BTreeSet<NodeIndex>) -> Self {
        let mut writers = vec![Vec::new(); graph.channels.len()];
        for (at, node) in graph.nodes.iter().enumerate() {
            if let Some(channel) = node.output {
                writers[channel.0].push(NodeIndex(at));
            }
        }
        let mut numbers = BTreeMap::new();
        let mut steps: Vec<Step> = Vec::with_capacity(graph.nodes.len());
        for (at, node) in graph.nodes.iter().enumerate() {
            let next = numbers.len();
            let session = *numbers.entry(node.session.session.as_str()).or_insert(next);
            let slots = held(NodeIndex(at)).into_iter().collect();
            steps.push(Step::of(node, (session, slots), &writers));
        }
        for edge in &graph.edges {
            let Endpoint::Node(target) = edge.target else { continue };
            let source = match edge.source {
                Endpoint::Start => None,
                Endpoint::Node(source) => Some(source),
                Endpoint::End => continue,
            };
            steps[target.0].edges.push((source, edge.wait));
        }
        Self::new(steps)
    }

    /// Returns calls that wait for one another.
    pub(in crate::replay::run) fn new(steps: Vec<Step>) -> Self {
        Self { dependents: dependents(&steps), steps }
    }

    /// Returns what a call waits for.
    pub(crate) fn step(&self, node: NodeIndex) -> &Step {
        &self.steps[node.0]
    }

    /// Returns every call with what it waits for.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (NodeIndex, &Step)> {
        self.steps.iter().enumerate().map(|(at, step)| (NodeIndex(at), step))
    }

    /// Returns the calls whose gate can open when something happens to one.
    pub(crate) fn dependents(&self, node: NodeIndex) -> &[NodeIndex] {
        &self.dependents[node.0]
    }

    /// Returns the calls whose answers each call holds.
    pub(crate) fn slots(&self) -> Vec<Vec<NodeIndex>> {
        self.steps.iter().map(|step| step.slots.clone()).collect()
    }

    /// Returns how many calls there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

impl Step {
    /// Returns what a call waits for beside its edges.
    fn of(
        node: &Node,
        (session, slots): (usize, Vec<NodeIndex>),
        writers: &[Vec<NodeIndex>],
    ) -> Self {
        let join = |input: &crate::graph::Input| {
            let writers = writers[input.channel.0].clone();
            let count = match input.count {
                InputCount::All => writers.len(),
                InputCount::Exactly(count) => usize::try_from(count).unwrap_or(usize::MAX),
            };
            Join { writers, count }
        };
        Self {
            edges: Vec::new(),
            inputs: node.inputs.iter().map(join).collect(),
            slots,
            min_start: node.min_start,
            arrival: node.arrival,
            session,
        }
    }
}

/// Returns for each call those that wait for anything of it.
fn dependents(steps: &[Step]) -> Vec<Vec<NodeIndex>> {
    let mut found = vec![BTreeSet::new(); steps.len()];
    for (at, step) in steps.iter().enumerate() {
        let edges = step.edges.iter().filter_map(|(source, _)| *source);
        let inputs = step.inputs.iter().flat_map(|join| join.writers.iter().copied());
        for source in edges.chain(inputs).chain(step.slots.iter().copied()) {
            found[source.0].insert(NodeIndex(at));
        }
    }
    found.into_iter().map(|targets| targets.into_iter().collect()).collect()
}
