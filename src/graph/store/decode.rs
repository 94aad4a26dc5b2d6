//! Bytes to a graph without its prompts.

use crate::graph::ir::{
    Channel, ChannelIndex, ChannelKind, Edge, Endpoint, Expected, Graph, GraphSource, Input,
    InputCount, Node, NodeIndex, Overrides, Reducer, SessionTurn, Wait,
};
use crate::graph::prompt::{Piece, Prompt};
use crate::trace::HashScope;
use crate::units::{BlockSize, Nanos, Tokens};

use super::bytes::Reader;

/// A graph on its way back.
struct Topology<'b> {
    texts: Vec<&'b str>,
    body: Reader<'b>,
}

/// Returns the graph of bytes that [`super::encode::topology`] made. Its prompts are the answers that they take, and nothing else.
pub(super) fn topology(bytes: &[u8]) -> Graph {
    let mut body = Reader(bytes);
    let texts = body.list(Reader::text);
    Topology { texts, body }.graph()
}

impl Topology<'_> {
    fn graph(mut self) -> Graph {
        let id = self.text();
        let source = match self.body.byte() {
            0 => GraphSource::Weka,
            1 => GraphSource::Dynamo,
            2 => GraphSource::Native,
            3 => GraphSource::DagJsonl,
            other => panic!("bug: a graph of source {other}"),
        };
        let block_size = self.body.maybe().map(|size| {
            let size = u32::try_from(size).ok().and_then(BlockSize::new);
            size.expect("written from a block size")
        });
        let hash_scope = if self.body.flag() { HashScope::Global } else { HashScope::Local };
        let nodes = (0..self.body.size()).map(|_| self.node()).collect();
        let edges = (0..self.body.size()).map(|_| self.edge()).collect();
        let channels = (0..self.body.size()).map(|_| self.channel()).collect();
        Graph { id, source, block_size, hash_scope, nodes, edges, channels }
    }

    fn node(&mut self) -> Node {
        Node {
            id: self.text(),
            session: self.session(),
            model: self.maybe_text(),
            streaming: self.body.flag(),
            max_tokens: self.tokens(),
            expected: Expected {
                input: self.tokens(),
                output: self.tokens(),
                cached: self.tokens(),
                ttft: self.time(),
                reusable_blocks: self.body.size(),
                full_blocks: self.body.size(),
            },
            arrival: Nanos::new(self.body.count()),
            min_start: self.time(),
            inputs: self.body.list(|body| Input {
                channel: ChannelIndex(body.size()),
                count: body.maybe().map_or(InputCount::All, InputCount::Exactly),
            }),
            output: self.body.maybe_size().map(ChannelIndex),
            prompt: Prompt::Authored(self.body.list(|body| Piece::Answer(NodeIndex(body.size())))),
            overrides: Overrides {
                tools: self.maybe_text(),
                headers: (0..self.body.size()).map(|_| (self.text(), self.text())).collect(),
                body: (0..self.body.size()).map(|_| (self.text(), self.text())).collect(),
            },
        }
    }

    fn session(&mut self) -> SessionTurn {
        SessionTurn {
            session: self.text(),
            parent: self.maybe_text(),
            turn: self.body.size(),
            is_final: self.body.flag(),
            cause: self.body.maybe_size().map(NodeIndex),
        }
    }

    fn edge(&mut self) -> Edge {
        let mut endpoint = || match self.body.size() {
            0 => Endpoint::Start,
            1 => Endpoint::End,
            node => Endpoint::Node(NodeIndex(node - 2)),
        };
        let (source, target) = (endpoint(), endpoint());
        let wait = Wait {
            completion: self.time(),
            ready: self.time(),
            dispatch: self.time(),
            first_token: self.time(),
        };
        Edge { source, target, wait }
    }

    fn channel(&mut self) -> Channel {
        Channel {
            name: self.text(),
            kind: if self.body.flag() { ChannelKind::Messages } else { ChannelKind::Text },
            reducer: if self.body.flag() { Reducer::AddMessages } else { Reducer::Overwrite },
        }
    }

    fn tokens(&mut self) -> Option<Tokens> {
        self.body.maybe().map(Tokens::new)
    }

    fn time(&mut self) -> Option<Nanos> {
        self.body.maybe().map(Nanos::new)
    }

    fn text(&mut self) -> String {
        let number = self.body.size();
        self.texts[number].to_owned()
    }

    fn maybe_text(&mut self) -> Option<String> {
        self.body.flag().then(|| self.text())
    }
}
