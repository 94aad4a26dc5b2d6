//! Rules about channels.

use crate::diag::{Bag, Code};
use crate::graph::ir::{ChannelIndex, Graph, InputCount, Node, Reducer};

use super::problem;

/// Every channel that a node reads or writes exists.
pub(super) fn indices(graph: &Graph, bag: &mut Bag) {
    let exists = |channel: &ChannelIndex| channel.0 < graph.channels.len();
    for node in &graph.nodes {
        let read = node.inputs.iter().map(|input| &input.channel);
        if !read.chain(&node.output).all(exists) {
            let message = format!("`{}` reads or writes a channel that is not there", node.id);
            bag.push(problem(graph, Code::GraphChannel, &message));
        }
    }
}

/// Returns the nodes that write each channel.
fn writers_of(graph: &Graph) -> Vec<Vec<&Node>> {
    let mut writers = vec![Vec::new(); graph.channels.len()];
    for node in &graph.nodes {
        if let Some(channel) = node.output {
            writers[channel.0].push(node);
        }
    }
    writers
}

/// A channel that keeps its last value has one writer: with several, the order of answers would decide.
pub(super) fn writers(graph: &Graph, bag: &mut Bag) {
    for (channel, writers) in graph.channels.iter().zip(writers_of(graph)) {
        if channel.reducer == Reducer::Overwrite && writers.len() > 1 {
            let names: Vec<String> = writers.iter().map(|node| format!("`{}`", node.id)).collect();
            let message = format!(
                "the channel `{}` keeps its last value, and {} write it",
                channel.name,
                names.join(", ")
            );
            bag.push(problem(graph, Code::GraphChannel, &message));
        }
    }
}

/// What a node waits for can come: somebody writes the channel, as often as it is waited for.
pub(super) fn inputs(graph: &Graph, bag: &mut Bag) {
    let writers = writers_of(graph);
    for node in &graph.nodes {
        for input in &node.inputs {
            let written = u64::try_from(writers[input.channel.0].len()).unwrap_or(u64::MAX);
            let wanted = match input.count {
                InputCount::Exactly(count) => count,
                InputCount::All => 1,
            };
            if wanted == 0 || written < wanted {
                let channel = &graph.channels[input.channel.0].name;
                let message = format!(
                    "`{}` waits for {wanted} values of `{channel}`, which {written} nodes write",
                    node.id
                );
                bag.push(problem(graph, Code::GraphChannel, &message));
            }
        }
    }
}
