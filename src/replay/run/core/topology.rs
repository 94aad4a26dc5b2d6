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
    /// Bytes of its body, as far as they are planned: answers that it holds are not.
    pub(crate) bytes: u64,
}

/// What is planned of the body of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StepBody {
    /// The calls whose answers it holds.
    pub(crate) slots: BTreeSet<NodeIndex>,
    /// Its bytes without them.
    pub(crate) bytes: u64,
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
    /// Returns what the calls of a graph wait for; `planned` tells of the body of a call.
    pub(crate) fn of(graph: &Graph, planned: impl Fn(NodeIndex) -> StepBody) -> Self {
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
            steps.push(Step::of(node, session, planned(NodeIndex(at)), &writers));
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
    fn of(node: &Node, session: usize, body: StepBody, writers: &[Vec<NodeIndex>]) -> Self {
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
            slots: body.slots.into_iter().collect(),
            min_start: node.min_start,
            arrival: node.arrival,
            session,
            bytes: body.bytes,
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
