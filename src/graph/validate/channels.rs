//! Rules about channels.

use crate::diag::{Code, agreed, counted};
use crate::graph::ir::{ChannelIndex, Graph, InputCount, Node, Reducer};

use super::finding::Finding;

/// Every channel that a node reads or writes exists.
pub(super) fn indices(graph: &Graph, found: &mut Vec<Finding>) {
    let exists = |channel: &ChannelIndex| channel.0 < graph.channels.len();
    for (at, node) in graph.nodes.iter().enumerate() {
        let read = node.inputs.iter().map(|input| &input.channel);
        if !read.chain(&node.output).all(exists) {
            let message = format!("`{}` reads or writes a channel that is not there", node.id);
            found.push(Finding::node(Code::GraphChannel, at, message));
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
pub(super) fn writers(graph: &Graph, found: &mut Vec<Finding>) {
    let written = graph.channels.iter().zip(writers_of(graph)).enumerate();
    for (at, (channel, writers)) in written {
        if channel.reducer == Reducer::Overwrite && writers.len() > 1 {
            let names: Vec<String> = writers.iter().map(|node| format!("`{}`", node.id)).collect();
            let message = format!(
                "the channel `{}` keeps its last value, and {} write it",
                channel.name,
                names.join(", ")
            );
            found.push(Finding::channel(Code::GraphChannel, at, message));
        }
    }
}

/// What a node waits for can come: somebody writes the channel, as often as it is waited for.
pub(super) fn inputs(graph: &Graph, found: &mut Vec<Finding>) {
    let writers = writers_of(graph);
    for (at, node) in graph.nodes.iter().enumerate() {
        for input in &node.inputs {
            let written = u64::try_from(writers[input.channel.0].len()).unwrap_or(u64::MAX);
            let wanted = match input.count {
                InputCount::Exactly(count) => count,
                InputCount::All => 1,
            };
            if wanted == 0 || written < wanted {
                let channel = &graph.channels[input.channel.0].name;
                let message = format!(
                    "`{}` waits for {} of `{channel}`, which {} {}",
                    node.id,
                    counted(wanted, "value"),
                    counted(written, "node"),
                    agreed(written, "writes", "write")
                );
                found.push(Finding::node(Code::GraphChannel, at, message));
            }
        }
    }
}
