//! The recorded fixture, in both formats, against what an independent implementation lowers it to.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::graph::{Graph, IdleGapCap, NodeIndex, Prompt};
use crate::units::Nanos;

use super::support::{dynamo, fixture, graphs, seconds, weka};

/// Edges between siblings that the other implementation has and that are no causes: the sessions know nothing of one another.
const SIBLINGS: [(&str, &str); 3] =
    [("c-par2:0", "c-par1:2"), ("c-par1:1", "c-par2:1"), ("c-par1:2", "c-par2:2")];

const CAPS: [(&str, IdleGapCap); 3] = [
    ("lowering_full.json.gz", IdleGapCap::DEFAULT),
    ("lowering_cap1.json.gz", IdleGapCap::At(Nanos::new(1_000_000_000))),
    ("lowering_nocap.json.gz", IdleGapCap::None),
];

fn expected(name: &str) -> Value {
    serde_json::from_slice(&fixture(name)).expect("JSON")
}

/// Returns nanoseconds of microseconds that another program kept as a float.
fn nanos(microseconds: &Value) -> Option<Nanos> {
    let microseconds = microseconds.as_f64()?;
    Some(Nanos::from_ms((microseconds / 1e3 * 1e3).round() / 1e3).expect("a time"))
}

#[test]
fn nodes_are_those_of_an_independent_implementation() {
    for (name, cap) in CAPS {
        let expected = expected(name);
        let trees = expected["trees"].as_object().expect("trees");
        let graphs = graphs(&dynamo(&fixture("capture.jsonl.gz")), cap);
        assert_eq!(graphs.len(), trees.len());
        for graph in &graphs {
            let nodes = trees[&graph.id]["nodes"].as_object().expect("nodes");
            assert_eq!(graph.nodes.len(), nodes.len());
            for index in 0..graph.nodes.len() {
                let id = &graph.nodes[index].id;
                assert_eq!(described(graph, NodeIndex(index)), wanted(&nodes[id]), "{name} {id}");
            }
        }
    }
}

/// Returns what a node is, as the other implementation says it.
fn described(graph: &Graph, index: NodeIndex) -> Value {
    let node = graph.node(index);
    let tokens = |tokens: Option<crate::units::Tokens>| tokens.map_or(0, crate::units::Tokens::get);
    let size = u64::from(graph.block_size.expect("a block size").get());
    let messages: Vec<Value> = graph
        .messages(index)
        .iter()
        .map(|message| {
            let blocks: Vec<usize> = (message.start..message.end).collect();
            let count = u64::try_from(blocks.len()).expect("few");
            match node.prompt {
                Prompt::Sampled(input) => {
                    serde_json::json!([message.role.name(), input.get(), null])
                }
                Prompt::Blocks { .. } | Prompt::Authored(_) => {
                    serde_json::json!([message.role.name(), count * size, blocks])
                }
            }
        })
        .collect();
    let parent = match &node.prompt {
        Prompt::Blocks { parent, .. } => *parent,
        Prompt::Sampled(_) | Prompt::Authored(_) => None,
    };
    serde_json::json!({
        "ordinal": index.0,
        "arrival": node.arrival.get(),
        "model": node.model,
        "streaming": node.streaming,
        "max_tokens": tokens(node.max_tokens),
        "expected": [tokens(node.expected.input), tokens(node.expected.output), tokens(node.expected.cached)],
        "content_parent": parent.map(|parent| &graph.node(parent).id),
        "causal_parent": node.session.cause.map(|cause| &graph.node(cause).id),
        "messages": messages,
        "prefix_cache": [node.expected.reusable_blocks, node.expected.full_blocks],
        "session": node.session.session,
        "parent_session": node.session.parent,
        "final": node.session.is_final,
    })
}

/// Returns what the other implementation says of a node.
fn wanted(node: &Value) -> Value {
    let headers = &node["recorded_headers"];
    let messages: Vec<Value> = node["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| serde_json::json!([message["role"], message["tokens"], message["blocks"]]))
        .collect();
    serde_json::json!({
        "ordinal": node["ordinal"],
        "arrival": node["arrival_offset_us"].as_u64().expect("a time") * 1000,
        "model": node["model"],
        "streaming": node["streaming"],
        "max_tokens": node["max_tokens"],
        "expected": node["expected"],
        "content_parent": node["content_parent"],
        "causal_parent": node["causal_parent"],
        "messages": messages,
        "prefix_cache": node["prefix_cache"],
        "session": headers["x-dynamo-session-id"],
        "parent_session": headers["x-dynamo-parent-session-id"],
        "final": headers["x-dynamo-session-final"] == "true",
    })
}

/// Source, target, and what is waited for: end, start of the graph, dispatch, first token.
type Waits = BTreeMap<(String, String), [Option<Nanos>; 4]>;

fn edges_of(graph: &Graph) -> Waits {
    let ends = |edge: &crate::graph::Edge| {
        (graph.name(edge.source).to_owned(), graph.name(edge.target).to_owned())
    };
    let waits = |edge: &crate::graph::Edge| {
        let wait = &edge.wait;
        [wait.completion, wait.ready, wait.dispatch, wait.first_token]
    };
    graph.edges.iter().map(|edge| (ends(edge), waits(edge))).collect()
}

#[test]
fn edges_are_those_of_an_independent_implementation_but_for_joins_of_siblings() {
    for (name, cap) in CAPS {
        let expected = expected(name);
        for graph in graphs(&dynamo(&fixture("capture.jsonl.gz")), cap) {
            let listed = expected["trees"][&graph.id]["edges"].as_array().expect("edges");
            let text = |value: &Value| value.as_str().expect("a name").to_owned();
            let mut wanted: Waits = listed
                .iter()
                .map(|edge| {
                    let waits = [
                        "delay_after_predecessor_us",
                        "min_start_delay_us",
                        "delay_after_predecessor_start_us",
                        "delay_after_predecessor_first_token_us",
                    ];
                    (
                        (text(&edge["source"]), text(&edge["target"])),
                        waits.map(|key| nanos(&edge[key])),
                    )
                })
                .collect();
            let mut found = edges_of(&graph);
            if graph.id == "root-c" {
                for (source, target) in SIBLINGS {
                    let sibling = (source.to_owned(), target.to_owned());
                    assert!(wanted.remove(&sibling).is_some() && !found.contains_key(&sibling));
                }
                // Without its sibling the turn before is what it waited for last: 1.8 s to 2.0 s.
                let turn = ("c-par2:0".to_owned(), "c-par2:1".to_owned());
                let wait = |ns| [Some(Nanos::new(ns)), None, None, None];
                assert_eq!(wanted.insert(turn.clone(), wait(200_000_000)), Some(wait(0)));
                assert_eq!(found.get(&turn), Some(&wait(200_000_000)));
                // And their parent waits for both, where the other implementation has one through the other.
                let join = ("c-par1:2".to_owned(), "root-c:2".to_owned());
                assert_eq!(wanted.insert(join, wait(0)), None);
            }
            assert_eq!(found.len(), wanted.len(), "{name} {}", graph.id);
            for (ends, waits) in &wanted {
                assert_eq!(found.remove(ends).as_ref(), Some(waits), "{name} {ends:?}");
            }
        }
    }
}

/// Returns a graph without what only names it: what wrote it, and how the recording names blocks and how far the names go.
pub(super) fn anonymous(mut graph: Graph) -> Graph {
    graph.source = crate::graph::GraphSource::Native;
    graph.hash_scope = crate::trace::HashScope::Global;
    let mut numbers = BTreeMap::new();
    for node in &mut graph.nodes {
        // A Dynamo capture counts what its engine served from cache, a Weka trace says nothing of it.
        node.expected.cached = None;
        if let Prompt::Blocks { added, .. } = &mut node.prompt {
            for block in added {
                let next =
                    crate::graph::BlockId::Virtual(u64::try_from(numbers.len()).expect("few"));
                *block = *numbers.entry(*block).or_insert(next);
            }
        }
    }
    graph
}

#[test]
fn one_recording_is_one_graph_whichever_format_it_is_written_in() {
    for cap in [IdleGapCap::DEFAULT, seconds(1), seconds(0), IdleGapCap::None] {
        let from_dynamo = graphs(&dynamo(&fixture("capture.jsonl.gz")), cap);
        let from_weka = graphs(&weka(&fixture("weka.jsonl.gz")), cap);
        assert_eq!(from_dynamo.len(), 3);
        for (left, right) in from_dynamo.into_iter().zip(from_weka) {
            assert_eq!(left.source, crate::graph::GraphSource::Dynamo);
            assert_eq!(right.source, crate::graph::GraphSource::Weka);
            assert_eq!(anonymous(left), anonymous(right));
        }
    }
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let text = String::from_utf8(fixture("capture.jsonl.gz")).expect("UTF-8");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    let reversed = dynamo(lines.join("\n").as_bytes());
    assert_eq!(
        graphs(&reversed, IdleGapCap::DEFAULT),
        graphs(&dynamo(text.as_bytes()), IdleGapCap::DEFAULT)
    );
}

#[test]
fn drawings_of_one_graph_are_the_same_bytes_and_name_every_node() {
    use crate::graph::{Drawing, draw};
    let graphs = graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT);
    for drawing in [Drawing::Dot, Drawing::Mermaid, Drawing::Json] {
        let text = String::from_utf8(draw(&graphs, drawing)).expect("UTF-8");
        assert_eq!(text.as_bytes(), draw(&graphs.clone(), drawing));
        for node in graphs.iter().flat_map(|graph| &graph.nodes) {
            assert!(text.contains(&node.id), "{drawing:?} {}", node.id);
        }
    }
    let dot = String::from_utf8(draw(&graphs, Drawing::Dot)).expect("UTF-8");
    assert!(
        dot.contains("n1 -> n3 [label=\"sent +500 ms, first token +100 ms\" style=dashed];"),
        "{dot}"
    );
}
