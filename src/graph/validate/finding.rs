//! What is wrong, and with which part of a graph.

use crate::diag::{Code, Problem};
use crate::graph::ir::{ChannelIndex, Endpoint, Graph, NodeIndex};

/// The part of a graph that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::graph) enum Subject {
    /// A node.
    Node(NodeIndex),
    /// An edge, by its place among the edges.
    Edge(usize),
    /// A channel.
    Channel(ChannelIndex),
}

/// What is wrong with a part of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::graph) struct Finding {
    /// The rule.
    pub(in crate::graph) code: Code,
    /// What is wrong.
    pub(in crate::graph) subject: Subject,
    /// How, in a sentence.
    pub(in crate::graph) message: String,
}

impl Finding {
    /// Returns a finding about a node.
    pub(super) fn node(code: Code, at: usize, message: String) -> Self {
        Self { code, subject: Subject::Node(NodeIndex(at)), message }
    }

    /// Returns a finding about an edge.
    pub(super) fn edge(code: Code, at: usize, message: impl Into<String>) -> Self {
        Self { code, subject: Subject::Edge(at), message: message.into() }
    }

    /// Returns a finding about a channel.
    pub(super) fn channel(code: Code, at: usize, message: String) -> Self {
        Self { code, subject: Subject::Channel(ChannelIndex(at)), message }
    }

    /// Returns the node at which the part stands: where an edge leads or comes from, the first that writes a channel.
    pub(in crate::graph) fn at(&self, graph: &Graph) -> Option<NodeIndex> {
        let found = match self.subject {
            Subject::Node(index) => Some(index),
            Subject::Edge(at) => {
                let edge = graph.edges.get(at)?;
                [edge.target, edge.source].into_iter().find_map(|endpoint| match endpoint {
                    Endpoint::Node(index) if index.0 < graph.nodes.len() => Some(index),
                    Endpoint::Node(_) | Endpoint::Start | Endpoint::End => None,
                })
            }
            Subject::Channel(channel) => {
                graph.nodes.iter().position(|node| node.output == Some(channel)).map(NodeIndex)
            }
        };
        found.filter(|index| index.0 < graph.nodes.len())
    }

    /// Returns the finding as a problem of a graph that nobody wrote down.
    pub(super) fn problem(&self, graph: &Graph) -> Problem {
        Problem::new(self.code, format!("graph `{}`: {}", graph.id, self.message))
    }
}
