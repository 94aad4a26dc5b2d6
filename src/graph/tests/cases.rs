//! Cases of spec/REPLAY.md §10 and §11 about recordings and their graphs, by their numbers; docs/graph.md lists where each is tested.

use proptest::prelude::*;

use crate::graph::{Graph, GraphSource, IdleGapCap, read_native};
use crate::trace::HashScope;

use super::support::{agent, dynamo, edges, graphs, seconds, weka};

/// A session that can be written in both formats: calls in milliseconds (start, duration, blocks), and sub-agents by the call after
/// which they were started.
#[derive(Debug, Clone)]
struct Session {
    id: String,
    calls: Vec<(u32, u32, Vec<u64>)>,
    children: Vec<(usize, Session)>,
}

impl Session {
    fn new(id: &str, calls: &[(u32, u32, &[u64])]) -> Self {
        let calls = calls.iter().map(|(at, took, blocks)| (*at, *took, blocks.to_vec())).collect();
        Self { id: id.to_owned(), calls, children: Vec::new() }
    }

    /// Adds a sub-agent after a call.
    fn with(mut self, after: usize, child: Self) -> Self {
        self.children.push((after, child));
        self
    }

    /// Returns the session as the entries of a Weka trace, every prompt two tokens longer than its blocks.
    fn entries(&self) -> Vec<String> {
        let seconds = |ms: u32| f64::from(ms) / 1000.0;
        let mut entries = Vec::new();
        for (index, (at, took, blocks)) in self.calls.iter().enumerate() {
            let tokens = blocks.len() * 16 + 2;
            entries.push(format!(
                r#"{{"t":{},"type":"n","model":"m","in":{tokens},"out":8,"hash_ids":{blocks:?},"api_time":{}}}"#,
                seconds(*at),
                seconds(*took)
            ));
            for (_, child) in self.children.iter().filter(|(after, _)| *after == index) {
                entries.push(agent(
                    seconds(child.calls[0].0),
                    &child.id,
                    "completed",
                    &child.entries(),
                ));
            }
        }
        entries
    }

    /// Returns the session as a line of a Weka corpus.
    fn weka(&self) -> String {
        format!(
            r#"{{"id":"{}","models":["m"],"block_size":16,"hash_id_scope":"global","requests":[{}]}}"#,
            self.id,
            self.entries().join(",")
        )
    }

    /// Adds the session as lines of a Dynamo capture; the last block of a prompt, which two tokens begin, has a name as well.
    fn add_lines(&self, parent: Option<&str>, lines: &mut Vec<String>) {
        let link = parent.map_or(String::new(), |id| format!(r#","parent_trajectory_id":"{id}""#));
        for (at, took, blocks) in &self.calls {
            let (id, start, end) = (&self.id, at + 1000, at + took + 1000);
            let tokens = blocks.len() * 16 + 2;
            let hashes = [blocks.as_slice(), &[900 + u64::from(*at)]].concat();
            lines.push(format!(
                r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{end},"agent_context":{{"session_id":"{id}"{link}}},"request":{{"request_id":"{id}-{at}","model":"m","input_tokens":{tokens},"output_tokens":8,"request_received_ms":{start},"total_time_ms":{took}.0,"replay":{{"trace_block_size":16,"input_length":{tokens},"input_sequence_hashes":{hashes:?}}}}}}}"#
            ));
        }
        for (_, child) in &self.children {
            child.add_lines(Some(&self.id), lines);
        }
    }
}

/// Returns the lines of sessions as one capture.
fn capture(sessions: &[Session]) -> Vec<String> {
    let mut lines = Vec::new();
    for session in sessions {
        session.add_lines(None, &mut lines);
    }
    lines
}

/// Returns the graphs of a capture and of a Weka corpus of the same sessions, without what only says which format it was.
fn both(sessions: &[Session], cap: IdleGapCap) -> [Vec<Graph>; 2] {
    let corpus: Vec<String> = sessions.iter().map(Session::weka).collect();
    let of_weka = weka(corpus.join("\n").as_bytes());
    let of_dynamo = dynamo(capture(sessions).join("\n").as_bytes());
    [of_dynamo, of_weka].map(|trees| {
        let mut found = graphs(&trees, cap);
        for graph in &mut found {
            assert_eq!(graph.hash_scope, HashScope::Global);
            graph.source = GraphSource::Native;
        }
        found
    })
}

fn ids(graph: &Graph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.id.as_str()).collect()
}

#[test]
fn case_13_a_grandchild_and_siblings_have_the_same_names_in_both_formats() {
    let grandchild = Session::new("agent_002", &[(1600, 300, &[5])]);
    let child = Session::new("agent_001", &[(1200, 800, &[4])]).with(0, grandchild);
    let sibling = Session::new("agent_003", &[(1400, 900, &[6])]);
    let root = Session::new("parity", &[(0, 1000, &[1]), (3000, 500, &[1, 2])]);
    let root = root.with(0, child).with(0, sibling);
    let [of_dynamo, of_weka] = both(&[root], IdleGapCap::DEFAULT);
    assert_eq!(
        ids(&of_dynamo[0]),
        ["parity:0", "agent_001:0", "agent_003:0", "agent_002:0", "parity:1"]
    );
    assert_eq!(of_dynamo, of_weka);
}

#[test]
fn case_14_two_trees_of_a_capture_are_two_traces_of_a_corpus_with_the_same_blocks() {
    let one = Session::new("one", &[(0, 100, &[1, 2]), (500, 100, &[1, 2, 3])]);
    let two = Session::new("two", &[(200, 100, &[1, 2]), (900, 100, &[1, 2, 4])]);
    let [of_dynamo, of_weka] = both(&[one, two], IdleGapCap::DEFAULT);
    let names: Vec<&str> = of_dynamo.iter().map(|graph| graph.id.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    // A capture counts from the start of each tree, a Weka trace from its own zero.
    let from = |graph: &Graph| graph.nodes[0].arrival.get();
    assert_eq!((from(&of_dynamo[1]), from(&of_weka[1])), (0, 200_000_000));
    let prompts = |graphs: &[Graph]| {
        let nodes = graphs.iter().flat_map(|graph| &graph.nodes);
        nodes.map(|node| (node.id.clone(), node.prompt.clone())).collect::<Vec<_>>()
    };
    assert_eq!(prompts(&of_dynamo), prompts(&of_weka));
    assert_eq!(of_dynamo[0], of_weka[0]);
}

/// Leading blocks that an earlier call had, of all, by call.
fn served(sessions: &[Session], reversed: bool) -> Vec<(String, usize, usize)> {
    let mut lines = capture(sessions);
    if reversed {
        lines.reverse();
    }
    let graphs = graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT);
    let node = |node: &crate::graph::Node| {
        (node.id.clone(), node.expected.reusable_blocks, node.expected.full_blocks)
    };
    graphs[0].nodes.iter().map(node).collect()
}

fn named(found: &[(&str, usize, usize)]) -> Vec<(String, usize, usize)> {
    found.iter().map(|(id, reused, all)| ((*id).to_owned(), *reused, *all)).collect()
}

#[test]
fn case_19_what_is_served_follows_the_times_and_not_the_order_of_lines() {
    let root = Session::new("a", &[(0, 100, &[1, 2]), (1000, 100, &[1, 2, 3])]);
    let expected = named(&[("a:0", 0, 2), ("a:1", 2, 3)]);
    assert_eq!(served(std::slice::from_ref(&root), false), expected);
    assert_eq!(served(&[root], true), expected);
}

#[test]
fn case_20_of_calls_of_one_instant_the_name_says_which_comes_first() {
    let of = |root: &str, child: &str| {
        let child = Session::new(child, &[(0, 100, &[1, 2, 3])]);
        served(&[Session::new(root, &[(0, 100, &[1, 2])]).with(0, child)], false)
    };
    assert_eq!(of("a", "b"), named(&[("a:0", 0, 2), ("b:0", 2, 3)]));
    assert_eq!(of("b", "a"), named(&[("a:0", 0, 3), ("b:0", 2, 2)]));
}

/// §11: the other lane finds records in compact JSON alone when it builds in parallel.
#[test]
fn defect_records_are_found_however_their_json_is_written() {
    let child = Session::new("b", &[(200, 100, &[7])]);
    let root = Session::new("a", &[(0, 100, &[1, 2]), (1000, 100, &[1, 2, 3])]).with(0, child);
    let lines = capture(&[root]);
    let compact = graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT);
    let spaced = |line: &String| line.replace("\":", "\" :\t").replace(",\"", " , \"");
    let turned = |line: &String| {
        // The hashes stand before the names of the session and of the request.
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let part = |key: &str| format!(r#""{key}":{}"#, value[key]);
        let keys = ["request", "agent_context", "event_time_unix_ms", "event_type", "schema"];
        format!("{{{}}}", keys.map(part).join(","))
    };
    let mixed = [spaced(&lines[0]), lines[1].clone(), turned(&lines[2])].join("\n");
    assert_eq!(graphs(&dynamo(mixed.as_bytes()), IdleGapCap::DEFAULT), compact);
}

/// An orphan that a pin lets through is a root, and still tells the parent that it names.
#[test]
fn an_orphan_is_a_graph_of_its_own_that_keeps_the_name_of_its_parent() {
    use crate::trace::{RecordedOptions, Strictness, TraceInput, read_dynamo};
    let mut lines = Vec::new();
    Session::new("lost", &[(0, 100, &[1])]).add_lines(Some("gone"), &mut lines);
    let input = [TraceInput::bytes("c.jsonl", lines.join("\n").as_bytes())];
    let options = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let mut trees = Vec::new();
    read_dynamo(&input, options, &mut |tree| trees.push(tree)).expect("let through");
    let found = graphs(&trees, IdleGapCap::DEFAULT);
    assert_eq!((found.len(), found[0].id.as_str()), (1, "lost"));
    assert_eq!(edges(&found[0]), ["START -> lost:0 @0"]);
    let turn = &found[0].nodes[0].session;
    assert_eq!((turn.parent.as_deref(), turn.cause), (Some("gone"), None));
}

/// One call starts three at once, and the next waits for all: the last to end binds.
#[test]
fn a_diamond_with_a_fan_out_is_the_same_recorded_and_authored() {
    let kid = |id: &str, took: u32| Session::new(id, &[(1000, took, &[7])]);
    let root = Session::new("r", &[(0, 1000, &[1]), (3500, 500, &[1, 2])]);
    let root = root.with(0, kid("a", 1000)).with(0, kid("b", 2000)).with(0, kid("c", 500));
    let expected = [
        "START -> r:0 @0",
        "r:0 -> a:0 +0",
        "r:0 -> b:0 +0",
        "r:0 -> c:0 +0",
        "a:0 -> r:1 +0",
        "b:0 -> r:1 +500",
        "c:0 -> r:1 +0",
    ];
    let [of_dynamo, of_weka] = both(&[root], IdleGapCap::DEFAULT);
    assert_eq!(edges(&of_dynamo[0]), expected);
    assert_eq!(of_dynamo, of_weka);
    let text = "graph:
  version: '2.0'
  nodes:
    'r:0': {arrival_offset_us: 0}
    'a:0': {arrival_offset_us: 1000000}
    'b:0': {arrival_offset_us: 1000000}
    'c:0': {arrival_offset_us: 1000000}
    'r:1': {arrival_offset_us: 3500000}
  edges:
    - {source: START, target: 'r:0'}
    - {source: 'r:0', target: 'a:0'}
    - {source: 'r:0', target: 'b:0'}
    - {source: 'r:0', target: 'c:0'}
    - {source: 'a:0', target: 'r:1'}
    - {source: 'b:0', target: 'r:1', delay_after_predecessor_us: 500000}
    - {source: 'c:0', target: 'r:1'}
traces: [{id: r}]
";
    let (authored, _) = read_native("g.yaml", text).expect("a graph");
    assert_eq!(edges(&authored[0]), expected);
    assert_eq!(ids(&authored[0]), ids(&of_weka[0]));
}

/// A session of 2 to 5 turns in a row: what each takes, the pause behind it, its blocks; and up to 2 children of 1 to 3 turns.
fn shapes() -> impl Strategy<Value = Session> {
    let turns = |least, most| {
        let blocks = prop::collection::vec(1_u64..4, 0..5);
        prop::collection::vec((0_u32..4000, 0_u32..150_000, blocks), least..=most)
    };
    let children = prop::collection::vec((0_usize..5, 0_u32..1000, turns(1, 3)), 0..=2);
    (turns(2, 5), children).prop_map(|(turns, children)| {
        let at = |from: u32, turns: Vec<(u32, u32, Vec<u64>)>| {
            let mut now = from;
            let mut calls = Vec::new();
            for (took, pause, blocks) in turns {
                calls.push((now, took, blocks));
                // Turns of one instant would be told apart by their ends alone.
                now += took + pause + 1;
            }
            calls
        };
        let mut root = Session { id: "r".to_owned(), calls: at(0, turns), children: Vec::new() };
        for (name, (after, late, turns)) in ["x", "y"].iter().zip(children) {
            let after = after % root.calls.len();
            let start = root.calls[after].0;
            // A child starts before the next turn does: that is what both formats take for its cause.
            let spare = root.calls.get(after + 1).map_or(1000, |next| next.0 - start);
            let calls = at(start + late % spare, turns);
            let id = (*name).to_owned();
            root.children.push((after, Session { id, calls, children: Vec::new() }));
        }
        root.children.sort_by_key(|(after, child)| (*after, child.calls[0].0));
        root
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn case_16_random_trees_are_the_same_graph_in_both_formats_and_in_any_order_of_lines(
        root in shapes(),
        turn in 0_usize..20,
    ) {
        for cap in [IdleGapCap::DEFAULT, seconds(0), IdleGapCap::None] {
            let [of_dynamo, of_weka] = both(std::slice::from_ref(&root), cap);
            prop_assert_eq!(&of_dynamo, &of_weka);
        }
        let mut lines = capture(std::slice::from_ref(&root));
        let in_order = graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT);
        let by = turn % lines.len();
        lines.rotate_left(by);
        prop_assert_eq!(graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT), in_order);
    }
}
