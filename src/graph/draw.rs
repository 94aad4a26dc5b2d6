//! Graphs as Graphviz, as Mermaid and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::digest::canonical::{Value, object};
use crate::units::{Nanos, Tokens};

use super::ir::{Edge, Endpoint, Graph, Node, NodeIndex};
use super::prompt::{Piece, Prompt};

/// A way to draw graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// For Graphviz.
    Dot,
    /// For Mermaid, as Markdown pages show it.
    Mermaid,
    /// Everything but the blocks, for programs.
    Json,
}

/// Draws graphs one by one: what comes before them, between them and after them.
#[derive(Debug)]
pub struct Drawer {
    drawing: Drawing,
    /// Graphs so far.
    count: u64,
}

impl Drawer {
    /// Returns one that has drawn nothing.
    pub const fn new(drawing: Drawing) -> Self {
        Self { drawing, count: 0 }
    }

    /// Returns what stands before a graph that was drawn with [`draw_one()`].
    pub fn before(&mut self) -> &'static str {
        let is_first = self.count == 0;
        self.count += 1;
        match (self.drawing, is_first) {
            (Drawing::Dot | Drawing::Mermaid, _) => "",
            (Drawing::Json, true) => "{\"graphs\":[",
            (Drawing::Json, false) => ",",
        }
    }

    /// Returns what stands behind the last graph.
    pub const fn end(self) -> &'static str {
        match (self.drawing, self.count) {
            (Drawing::Dot | Drawing::Mermaid, _) => "",
            (Drawing::Json, 0) => "{\"graphs\":[]}\n",
            (Drawing::Json, _) => "]}\n",
        }
    }
}

/// Draws one graph. The bytes depend on nothing else.
pub fn draw_one(graph: &Graph, drawing: Drawing) -> Vec<u8> {
    match drawing {
        Drawing::Dot => dot(graph).into_bytes(),
        Drawing::Mermaid => mermaid(graph).into_bytes(),
        Drawing::Json => json(graph).to_bytes(),
    }
}

/// Draws graphs, one after another. The bytes depend on nothing else.
pub fn draw(graphs: &[Graph], drawing: Drawing) -> Vec<u8> {
    let (mut drawer, mut drawn) = (Drawer::new(drawing), Vec::new());
    for graph in graphs {
        drawn.extend_from_slice(drawer.before().as_bytes());
        drawn.extend(draw_one(graph, drawing));
    }
    drawn.extend_from_slice(drawer.end().as_bytes());
    drawn
}

/// Returns the nodes of each session, sessions by name, turns in order.
fn sessions(graph: &Graph) -> BTreeMap<&str, Vec<NodeIndex>> {
    let mut sessions: BTreeMap<&str, Vec<NodeIndex>> = BTreeMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        sessions.entry(&node.session.session).or_default().push(NodeIndex(index));
    }
    for turns in sessions.values_mut() {
        turns.sort_by_key(|index| graph.node(*index).session.turn);
    }
    sessions
}

/// Returns a graph for Graphviz: a box a session, dashed edges from a dispatch.
fn dot(graph: &Graph) -> String {
    let mut text =
        format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(&graph.id));
    if graph.edges.iter().any(|edge| edge.source == Endpoint::Start) {
        text.push_str("  START [shape=circle];\n");
    }
    if graph.edges.iter().any(|edge| edge.target == Endpoint::End) {
        text.push_str("  END [shape=circle];\n");
    }
    for (number, (session, turns)) in sessions(graph).iter().enumerate() {
        line(&mut text, format_args!("  subgraph cluster_{number} {{ label={};", quoted(session)));
        for index in turns {
            let label = label(graph.node(*index), "\\n");
            line(&mut text, format_args!("    n{} [label={}];", index.0, quoted(&label)));
        }
        text.push_str("  }\n");
    }
    for edge in &graph.edges {
        let (source, target) = (short(edge.source), short(edge.target));
        let style = if edge.wait.dispatch.is_some() { " style=dashed" } else { "" };
        let label = quoted(&waits(edge));
        line(&mut text, format_args!("  {source} -> {target} [label={label}{style}];"));
    }
    text.push_str("}\n");
    text
}

/// Returns a graph for Mermaid: a box a session, dotted edges from a dispatch.
fn mermaid(graph: &Graph) -> String {
    let mut text = format!("---\ntitle: {}\n---\nflowchart LR\n", quoted(&graph.id));
    for (number, (session, turns)) in sessions(graph).iter().enumerate() {
        line(&mut text, format_args!("  subgraph s{number} [{}]", escaped(session)));
        for index in turns {
            let label = label(graph.node(*index), "<br>");
            line(&mut text, format_args!("    n{}[{}]", index.0, escaped(&label)));
        }
        text.push_str("  end\n");
    }
    for edge in &graph.edges {
        let (source, target) = (short(edge.source), short(edge.target));
        let arrow = if edge.wait.dispatch.is_some() { "-.->" } else { "-->" };
        line(&mut text, format_args!("  {source} {arrow}|{}| {target}", escaped(&waits(edge))));
    }
    text
}

/// Appends a line.
fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("a string takes every text");
}

/// Returns a name that means nothing but itself.
fn short(endpoint: Endpoint) -> String {
    match endpoint {
        Endpoint::Start => "START".to_owned(),
        Endpoint::Node(index) => format!("n{}", index.0),
        Endpoint::End => "END".to_owned(),
    }
}

/// Returns a node's name with its tokens.
fn label(node: &Node, newline: &str) -> String {
    let input = node.expected.input.map_or("?".to_owned(), |tokens| tokens.get().to_string());
    let output = node.max_tokens.map_or("?".to_owned(), |tokens| tokens.get().to_string());
    if matches!(node.prompt, Prompt::Authored(_)) {
        return format!("{}{newline}up to {output}", node.id);
    }
    format!("{}{newline}{input} + {output}", node.id)
}

/// Returns what an edge waits for.
fn waits(edge: &Edge) -> String {
    let wait = &edge.wait;
    let parts = [
        ("", wait.completion),
        ("ready ", wait.ready.filter(|ready| *ready > Nanos::ZERO)),
        ("sent ", wait.dispatch),
        ("first token ", wait.first_token),
    ];
    let parts =
        parts.iter().filter_map(|(of, delay)| Some(format!("{of}+{}", milliseconds((*delay)?))));
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns a time in milliseconds, every digit of it.
fn milliseconds(time: Nanos) -> String {
    let (whole, rest) = (time.get() / 1_000_000, time.get() % 1_000_000);
    if rest == 0 {
        return format!("{whole} ms");
    }
    format!("{whole}.{} ms", format!("{rest:06}").trim_end_matches('0'))
}

/// Returns a text in quotes, as Graphviz reads it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

/// Returns a text in quotes, as Mermaid reads it.
fn escaped(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "#quot;"))
}

/// Returns a graph as one value.
fn json(graph: &Graph) -> Value {
    let nodes = (0..graph.nodes.len()).map(|index| node_json(graph, NodeIndex(index))).collect();
    let edges = graph.edges.iter().map(|edge| edge_json(graph, edge)).collect();
    let size = graph.block_size.map(|size| Value::count(u64::from(size.get())));
    object([
        ("block_size", size.unwrap_or(Value::Null)),
        ("edges", Value::List(edges)),
        ("id", Value::text(&graph.id)),
        ("nodes", Value::List(nodes)),
    ])
}

fn node_json(graph: &Graph, index: NodeIndex) -> Value {
    let node = graph.node(index);
    let tokens = |tokens: Option<Tokens>| tokens.map_or(Value::Null, Value::from);
    let text = |text: Option<&String>| text.map_or(Value::Null, Value::text);
    let count = |count: usize| Value::count(u64::try_from(count).unwrap_or(u64::MAX));
    let inputs = node.inputs.iter().map(|input| Value::text(&graph.channels[input.channel.0].name));
    let by_blocks = graph.messages(index).into_iter().map(|message| {
        object([
            ("blocks", count(message.end - message.start)),
            ("role", Value::text(message.role.name())),
        ])
    });
    let pieces: &[Piece] = match &node.prompt {
        Prompt::Authored(pieces) => pieces,
        Prompt::Blocks { .. } | Prompt::Sampled(_) => &[],
    };
    let authored = pieces.iter().map(|piece| match piece {
        Piece::Raw { role, .. } => object([("role", Value::text(role))]),
        Piece::Composed { role, .. } => {
            let answers = piece.answers();
            let names = answers.iter().map(|of| Value::text(&graph.node(*of).id));
            object([("answers_in", Value::List(names.collect())), ("role", Value::text(role))])
        }
        Piece::Answer(of) => object([
            ("answer_of", Value::text(&graph.node(*of).id)),
            ("role", Value::text("assistant")),
        ]),
    });
    let messages = by_blocks.chain(authored);
    object([
        ("arrival_ns", Value::from(node.arrival)),
        ("cached_tokens", tokens(node.expected.cached)),
        ("full_blocks", count(node.expected.full_blocks)),
        ("id", Value::text(&node.id)),
        ("input_tokens", tokens(node.expected.input)),
        ("inputs", Value::List(inputs.collect())),
        ("is_final", Value::Bool(node.session.is_final)),
        ("max_tokens", tokens(node.max_tokens)),
        ("messages", Value::List(messages.collect())),
        ("model", text(node.model.as_ref())),
        ("ordinal", count(index.0)),
        ("output_tokens", tokens(node.expected.output)),
        ("parent_session", text(node.session.parent.as_ref())),
        ("reusable_blocks", count(node.expected.reusable_blocks)),
        ("session", Value::text(&node.session.session)),
        ("streaming", Value::Bool(node.streaming)),
        ("turn", count(node.session.turn)),
    ])
}

fn edge_json(graph: &Graph, edge: &Edge) -> Value {
    let time = |time: Option<Nanos>| time.map_or(Value::Null, Value::from);
    object([
        ("after_completion_ns", time(edge.wait.completion)),
        ("after_dispatch_ns", time(edge.wait.dispatch)),
        ("after_first_token_ns", time(edge.wait.first_token)),
        ("after_ready_ns", time(edge.wait.ready)),
        ("source", Value::text(graph.name(edge.source))),
        ("target", Value::text(graph.name(edge.target))),
    ])
}
