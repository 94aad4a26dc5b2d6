//! A recorded tree to a graph.

use crate::diag::{agreed, counted};
use crate::graph::ir::{
    Channel, ChannelIndex, ChannelKind, Edge, Endpoint, Expected, Graph, GraphSource, Input,
    InputCount, Node, NodeIndex, Overrides, Reducer, SessionTurn, Wait,
};
use crate::graph::prompt::Prompt;
use crate::trace::{RecordedSource, RecordedTree};
use crate::units::{Nanos, Tokens};

use super::calls::{Call, Calls, later};
use super::causality::{Causality, Cause};
use super::prompts::{Tagged, tagged};
use super::warp::{IdleGapCap, Warp};

/// How trees are lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowerOptions {
    /// The longest idle gap that is kept.
    pub idle_gap_cap: IdleGapCap,
}

/// What lowering gave a meaning that the recording does not state. Only counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LowerCounts {
    /// Calls that ask for one token because the recording says 0, or nothing.
    pub least_output: u64,
    /// Calls whose blocks were made up.
    pub made_up_blocks: u64,
    /// Calls without a duration: they end when they start.
    pub without_duration: u64,
}

impl LowerCounts {
    /// Adds what another tree was given.
    pub fn add(&mut self, other: Self) {
        self.least_output += other.least_output;
        self.made_up_blocks += other.made_up_blocks;
        self.without_duration += other.without_duration;
    }

    /// Returns a sentence for each thing that was given a meaning.
    pub fn notes(&self) -> Vec<String> {
        let notes = [
            (
                self.least_output,
                "asks for one token: its recorded output is 0 or absent",
                "ask for one token: their recorded output is 0 or absent",
            ),
            (
                self.made_up_blocks,
                "names no blocks: they are made up, shared within its session",
                "name no blocks: theirs are made up, shared within their session",
            ),
            (
                self.without_duration,
                "has no duration: it ends when it starts",
                "have no duration: they end when they start",
            ),
        ];
        let said = notes.iter().filter(|(count, ..)| *count > 0);
        let note = |(count, one, many): &(u64, &str, &str)| {
            format!("{} {}", counted(count, "call"), agreed(count, one, many))
        };
        said.map(note).collect()
    }
}

/// A tree on its way to a graph. Calls are in the order of their starts, nodes in that of their ordinals.
struct Lowering<'t> {
    tree: &'t RecordedTree,
    calls: Calls<'t>,
    warp: Warp,
    /// The node of each call.
    nodes: Vec<NodeIndex>,
    counts: LowerCounts,
}

/// Lowers a recorded tree to a graph.
pub fn lower(tree: &RecordedTree, options: LowerOptions) -> (Graph, LowerCounts) {
    let calls = Calls::of(tree);
    let intervals = calls.list.iter().map(|call| (call.start, call.end));
    let warp = Warp::of(intervals, options.idle_gap_cap);
    let order = ordinals(tree, &calls, &warp);
    let mut nodes = vec![NodeIndex(0); order.len()];
    for (ordinal, call) in order.iter().enumerate() {
        nodes[*call] = NodeIndex(ordinal);
    }
    let mut lowering = Lowering { tree, calls, warp, nodes, counts: LowerCounts::default() };
    let graph = lowering.graph(&order);
    (graph, lowering.counts)
}

/// Returns the calls in the order of their nodes: by warped start, then by name, turns by number.
fn ordinals(tree: &RecordedTree, calls: &Calls<'_>, warp: &Warp) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calls.list.len()).collect();
    order.sort_by(|left, right| {
        let [left, right] = [left, right].map(|index| &calls.list[*index]);
        let name = |call: &Call<'_>| tree.sessions[call.session].id.bytes();
        // As the names `session:turn` compare, but for the number.
        let named = || name(left).chain([b':']).cmp(name(right).chain([b':']));
        let warped = warp.at(left.start).cmp(&warp.at(right.start));
        warped.then_with(named).then(left.turn.cmp(&right.turn))
    });
    order
}

impl Lowering<'_> {
    /// Builds the graph.
    fn graph(&mut self, order: &[usize]) -> Graph {
        let causality = Causality::of(&self.calls);
        let causes: Vec<Cause> =
            (0..self.calls.list.len()).map(|index| causality.cause(index)).collect();
        let prompts = tagged(&self.calls);
        let mut edges: Vec<Edge> =
            causes.iter().enumerate().flat_map(|(index, cause)| self.edges(index, cause)).collect();
        edges.sort_by_key(|edge| (edge.target, edge.source));
        let nodes: Vec<Node> = order
            .iter()
            .map(|index| self.node(*index, &causes[*index], &prompts[*index]))
            .collect();
        let channel = |node: &Node| Channel {
            name: format!("{}_out", node.id),
            kind: ChannelKind::Text,
            reducer: Reducer::Overwrite,
        };
        Graph {
            id: self.tree.id().to_owned(),
            source: match self.tree.source {
                RecordedSource::Weka => GraphSource::Weka,
                RecordedSource::Dynamo => GraphSource::Dynamo,
            },
            block_size: Some(self.calls.block_size),
            hash_scope: self.tree.hash_scope,
            channels: nodes.iter().map(channel).collect(),
            nodes,
            edges,
        }
    }

    /// Returns the edges to a call.
    fn edges(&self, index: usize, cause: &Cause) -> Vec<Edge> {
        let target = Endpoint::Node(self.nodes[index]);
        let call = &self.calls.list[index];
        let start = self.warp.at(call.start);
        let source = |call: usize| Endpoint::Node(self.nodes[call]);
        match cause {
            Cause::Start => {
                vec![Edge { source: Endpoint::Start, target, wait: Wait::start(start) }]
            }
            Cause::Dispatch(by) => {
                let delay =
                    start.since(self.warp.at(self.calls.list[*by].start)).unwrap_or_default();
                let ttft = self.calls.list[*by].request.ttft;
                let raw = call.start.since(self.calls.list[*by].start).unwrap_or_default();
                // Its first token had come: that is what the call may have waited for.
                let first_token = ttft
                    .filter(|ttft| raw >= *ttft)
                    .map(|ttft| delay.since(ttft).unwrap_or_default());
                vec![Edge { source: source(*by), target, wait: Wait::dispatch(delay, first_token) }]
            }
            Cause::Ends(ended) => {
                let binding = self.binding(ended);
                let delay = |call: usize| {
                    let gap = start.since(self.warped_end(call)).unwrap_or_default();
                    if call == binding { gap } else { Nanos::ZERO }
                };
                let edge = |call: &usize| Edge {
                    source: source(*call),
                    target,
                    wait: Wait::completion(delay(*call)),
                };
                ended.iter().map(edge).collect()
            }
        }
    }

    /// Returns the call among several that ended last, the first of equals.
    fn binding(&self, ended: &[usize]) -> usize {
        let latest = ended.iter().map(|call| self.warped_end(*call)).max();
        let found = ended.iter().find(|call| Some(self.warped_end(**call)) == latest);
        *found.expect("a call that waits for ends waits for one at least")
    }

    /// Returns when a call ended, idle gaps shortened: a call's own time is never cut.
    fn warped_end(&self, index: usize) -> Nanos {
        let call = &self.calls.list[index];
        later(self.warp.at(call.start), call.end.since(call.start).unwrap_or_default())
    }

    /// Builds the node of a call.
    fn node(&mut self, index: usize, cause: &Cause, prompt: &Tagged) -> Node {
        self.count(index);
        let call = &self.calls.list[index];
        let session = &self.tree.sessions[call.session];
        let output = call.request.output.filter(|output| output.get() > 0);
        let inputs = match cause {
            Cause::Start | Cause::Dispatch(_) => Vec::new(),
            Cause::Ends(ended) => ended.iter().map(|call| self.input(*call)).collect(),
        };
        Node {
            id: format!("{}:{}", session.id, call.turn),
            session: SessionTurn {
                session: session.id.clone(),
                parent: session.parent_id.clone(),
                turn: call.turn,
                is_final: call.turn + 1 == session.requests.len(),
                cause: call.cause.map(|call| self.nodes[call]),
            },
            model: call.request.model.clone(),
            streaming: call.request.streamed.unwrap_or(call.request.ttft.is_some()),
            max_tokens: Some(output.unwrap_or(Tokens::new(1))),
            expected: Expected {
                input: call.request.input,
                output: call.request.output,
                cached: call.request.cached,
                ttft: call.request.ttft,
                reusable_blocks: prompt.lineage.known,
                full_blocks: call.blocks.len(),
            },
            arrival: self.warp.at(call.start),
            min_start: None,
            inputs,
            output: Some(ChannelIndex(self.nodes[index].0)),
            prompt: self.prompt(index, prompt),
            overrides: Overrides::default(),
        }
    }

    /// Returns the input that stands for the answer of a call.
    fn input(&self, call: usize) -> Input {
        Input { channel: ChannelIndex(self.nodes[call].0), count: InputCount::Exactly(1) }
    }

    /// Returns what a call sends. The rest of a prompt behind its full blocks is left out; a prompt without a full block is all rest.
    fn prompt(&self, index: usize, prompt: &Tagged) -> Prompt {
        let call = &self.calls.list[index];
        if call.blocks.len() == 0 {
            return Prompt::Sampled(call.input);
        }
        let inherited = prompt.lineage.inherited;
        Prompt::Blocks {
            parent: prompt.lineage.parent.map(|call| self.nodes[call]),
            inherited,
            added: (inherited..call.blocks.len()).map(|block| call.blocks.at(block)).collect(),
            runs: prompt.runs.clone(),
        }
    }

    /// Counts what a call was given.
    fn count(&mut self, index: usize) {
        let request = self.calls.list[index].request;
        let is_least = request.output.is_none_or(|output| output.get() == 0);
        self.counts.least_output += u64::from(is_least);
        self.counts.made_up_blocks += u64::from(request.hashes.is_none());
        let is_instant = request.duration.is_none() && request.ended.is_none();
        self.counts.without_duration += u64::from(is_instant);
    }
}
