//! A graph without its prompts to bytes.

use std::collections::BTreeMap;

use crate::graph::ir::{
    Channel, ChannelKind, Edge, Endpoint, Expected, Graph, GraphSource, Input, InputCount, Node,
    Overrides, Reducer, SessionTurn, Wait,
};
use crate::trace::HashScope;
use crate::units::{Nanos, Tokens};

use super::bytes::Writer;

/// A graph on its way to bytes. Texts come first, each once, and are named by their number.
#[derive(Debug, Default)]
struct Topology<'g> {
    numbers: BTreeMap<&'g str, usize>,
    texts: Vec<&'g str>,
    body: Writer,
}

/// Returns a graph without its prompts as bytes.
pub(super) fn topology(graph: &Graph) -> Vec<u8> {
    let mut to = Topology::default();
    to.graph(graph);
    let mut out = Writer::default();
    out.size(to.texts.len());
    for text in &to.texts {
        out.text(text);
    }
    out.0.append(&mut to.body.0);
    out.0
}

impl<'g> Topology<'g> {
    fn graph(&mut self, graph: &'g Graph) {
        let Graph { id, source, block_size, hash_scope, nodes, edges, channels } = graph;
        self.text(id);
        self.body.0.push(match source {
            GraphSource::Weka => 0,
            GraphSource::Dynamo => 1,
            GraphSource::Native => 2,
            GraphSource::DagJsonl => 3,
        });
        self.body.maybe(block_size.map(|size| u64::from(size.get())));
        self.body.flag(*hash_scope == HashScope::Global);
        self.body.size(nodes.len());
        for node in nodes {
            self.node(node);
        }
        self.body.size(edges.len());
        for edge in edges {
            self.edge(edge);
        }
        self.body.size(channels.len());
        for Channel { name, kind, reducer } in channels {
            self.text(name);
            self.body.flag(*kind == ChannelKind::Messages);
            self.body.flag(*reducer == Reducer::AddMessages);
        }
    }

    fn node(&mut self, node: &'g Node) {
        // Every field has its name here, so that none which is added is forgotten. Of the prompt the answers that it takes are told: what is
        // waited for. The rest is kept elsewhere.
        let Node {
            id,
            session,
            model,
            streaming,
            max_tokens,
            expected,
            arrival,
            min_start,
            inputs,
            output,
            prompt,
            overrides,
        } = node;
        self.text(id);
        self.session(session);
        self.maybe_text(model.as_deref());
        self.body.flag(*streaming);
        self.tokens(*max_tokens);
        let Expected { input, output: answer, cached, ttft, reusable_blocks, full_blocks } =
            expected;
        for tokens in [input, answer, cached] {
            self.tokens(*tokens);
        }
        self.time(*ttft);
        self.body.size(*reusable_blocks);
        self.body.size(*full_blocks);
        self.body.count(arrival.get());
        self.time(*min_start);
        self.body.size(inputs.len());
        for Input { channel, count } in inputs {
            self.body.size(channel.0);
            self.body.maybe(match count {
                InputCount::Exactly(count) => Some(*count),
                InputCount::All => None,
            });
        }
        self.body.maybe_size(output.map(|channel| channel.0));
        let slots = prompt.slots();
        self.body.size(slots.len());
        for slot in slots {
            self.body.size(slot.0);
        }
        let Overrides { tools, headers, body } = overrides;
        self.maybe_text(tools.as_deref());
        for pairs in [headers, body] {
            self.body.size(pairs.len());
            for (name, value) in pairs {
                self.text(name);
                self.text(value);
            }
        }
    }

    fn session(&mut self, turn: &'g SessionTurn) {
        let SessionTurn { session, parent, turn, is_final, cause } = turn;
        self.text(session);
        self.maybe_text(parent.as_deref());
        self.body.size(*turn);
        self.body.flag(*is_final);
        self.body.maybe_size(cause.map(|node| node.0));
    }

    fn edge(&mut self, edge: &Edge) {
        let Edge { source, target, wait } = edge;
        for endpoint in [source, target] {
            match endpoint {
                Endpoint::Start => self.body.count(0),
                Endpoint::End => self.body.count(1),
                Endpoint::Node(node) => self.body.size(node.0 + 2),
            }
        }
        let Wait { completion, ready, dispatch, first_token } = wait;
        for time in [completion, ready, dispatch, first_token] {
            self.time(*time);
        }
    }

    fn tokens(&mut self, tokens: Option<Tokens>) {
        self.body.maybe(tokens.map(Tokens::get));
    }

    fn time(&mut self, time: Option<Nanos>) {
        self.body.maybe(time.map(Nanos::get));
    }

    fn text(&mut self, text: &'g str) {
        let number = *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        self.body.size(number);
    }

    fn maybe_text(&mut self, text: Option<&'g str>) {
        self.body.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }
}
