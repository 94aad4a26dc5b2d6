//! Stores of graphs written by hand and recorded.

mod disk;

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::graph::content::tests::builtin;
use crate::graph::native::tests::WORKFLOW;
use crate::graph::tests::support::{dynamo, fixture, graphs, weka};
use crate::graph::{Graph, IdleGapCap, NodeIndex, Piece, Prompt, TextPart, read_dag, read_native};
use crate::units::Tokens;

use super::{Answer, Program, ProgramMessage, Span, Store};

/// A capture: session, time in seconds, prompt tokens, hashes; sixteen tokens a block.
fn capture(records: &[(&str, u64, u64, &[u64])]) -> Vec<Graph> {
    let line = |(index, (session, at, input, hashes)): (usize, &(&str, u64, u64, &[u64]))| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"{session}"}},"request":{{"request_id":"r{index}","output_tokens":8,"replay":{{"trace_block_size":16,"input_length":{input},"input_sequence_hashes":{hashes:?}}}}}}}"#,
            at * 1000
        )
    };
    let lines: Vec<String> = records.iter().enumerate().map(line).collect();
    graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT)
}

/// The capture of the four golden digests of `AIPerf`'s lane.
fn golden_capture() -> Vec<Graph> {
    capture(&[
        ("s1", 1, 32, &[111, 222]),
        ("s1", 2, 64, &[111, 222, 333, 444]),
        ("s2", 3, 48, &[555, 666, 777]),
    ])
}

/// Returns the messages of a program without slots: role and text.
fn messages(program: &Program<'_>) -> Vec<(String, String)> {
    let mut body = Vec::new();
    program.write(|_| None, &mut body);
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let message = |value: &serde_json::Value| (text(&value["role"]), text(&value["content"]));
    body.as_array().expect("a list").iter().map(message).collect()
}

/// Returns the text of a prompt, roles aside.
fn prompt(store: &Store, tree: usize, node: usize) -> String {
    let program = store.program(tree, NodeIndex(node));
    messages(&program).into_iter().map(|(_, text)| text).collect()
}

/// Returns how many tokens of each message of a prompt the tokenizer itself counts.
fn tokens(store: &Store, tree: usize, node: usize) -> Vec<(String, u64)> {
    let count = |text: &str| builtin(1).tokenizer().count(text).get();
    let program = store.program(tree, NodeIndex(node));
    messages(&program).into_iter().map(|(role, text)| (role, count(&text))).collect()
}

#[test]
fn case_1_a_turn_goes_on_from_the_turn_before_with_the_same_bytes() {
    let graphs = golden_capture();
    let store = Store::of(&graphs, &builtin(1234));
    assert_eq!((store.tree_count(), store.tree_id(0), store.node_count(0)), (2, "s1", 2));
    let user = |count| ("user".to_owned(), count);
    let assistant = |count| ("assistant".to_owned(), count);
    assert_eq!(tokens(&store, 0, 0), [user(32)]);
    assert_eq!(tokens(&store, 0, 1), [user(32), assistant(16), user(16)]);
    assert_eq!(tokens(&store, 1, 0), [user(48)]);
    assert!(prompt(&store, 0, 1).starts_with(&prompt(&store, 0, 0)));
    let counts = store.info().counts;
    assert_eq!((counts.nodes, counts.residue_messages), (3, 0));
    assert_eq!(store.info().segments, 4, "three runs and what the second turn adds");
}

#[test]
fn case_2_prompts_without_hashes_are_as_long_and_of_their_tree_alone() {
    let line = |id: &str, session: &str, at: u64, input: u64| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{at},"agent_context":{{"session_id":"{session}"}},"request":{{"request_id":"{id}","output_tokens":8,"input_tokens":{input}}}}}"#
        )
    };
    let lines = [line("a", "s1", 1, 32), line("b", "s1", 2, 64), line("c", "s2", 3, 64)];
    let graphs = graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT);
    let store = Store::of(&graphs, &builtin(1234));
    let total = |tree, node| tokens(&store, tree, node).iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!((total(0, 0), total(0, 1), total(1, 0)), (32, 64, 64));
    assert!(prompt(&store, 0, 1).starts_with(&prompt(&store, 0, 0)));
    assert_ne!(prompt(&store, 1, 0)[..80], prompt(&store, 0, 1)[..80]);
}

#[test]
fn case_3_the_same_seed_is_the_same_bytes_and_another_one_is_not() {
    let graphs = golden_capture();
    let digest = |seed| Store::of(&graphs, &builtin(seed)).digest();
    assert_eq!(digest(7), digest(7));
    assert_ne!(digest(7), digest(8));
    let store = |seed| Store::of(&graphs, &builtin(seed));
    assert_eq!(store(7).graph(0), store(8).graph(0), "a seed moves no topology");
}

#[test]
fn case_4_equal_hashes_are_equal_bytes_across_sessions_but_not_across_weka_traces() {
    let across = capture(&[("a", 1, 32, &[1, 2]), ("b", 2, 32, &[1, 3])]);
    let store = Store::of(&across, &builtin(7));
    let (one, other) = (prompt(&store, 0, 0), prompt(&store, 1, 0));
    assert_eq!(one[..80], other[..80]);
    assert_ne!(one[80..], other[80..]);
    let trace = |id: &str, scope: &str| {
        format!(
            r#"{{"id":"{id}","models":["m"],"block_size":16,"hash_id_scope":"{scope}","requests":[{{"t":0.0,"type":"n","model":"m","in":32,"out":8,"hash_ids":[1,2]}}]}}"#
        )
    };
    let of_weka = |scope: &str| {
        let lines = [trace("a", scope), trace("b", scope)].join("\n");
        Store::of(&graphs(&weka(lines.as_bytes()), IdleGapCap::DEFAULT), &builtin(7))
    };
    let local = of_weka("local");
    assert_ne!(prompt(&local, 0, 0), prompt(&local, 1, 0));
    let global = of_weka("global");
    assert_eq!([prompt(&global, 0, 0), prompt(&global, 1, 0)], [one.clone(), one]);
}

#[test]
fn case_5_a_straight_conversation_is_the_same_store_whichever_format_it_is_written_in() {
    let weka_line = r#"{"id":"s","models":["m"],"block_size":16,"hash_id_scope":"global","requests":[
        {"t":0.0,"type":"s","model":"m","in":32,"out":8,"hash_ids":[1,2],"api_time":1.0,"ttft":0.5},
        {"t":2.5,"type":"n","model":"m","in":64,"out":0,"hash_ids":[1,2,3,4],"api_time":1.0},
        {"t":5.0,"type":"s","model":"m","in":96,"out":16,"hash_ids":[1,2,3,4,5,6],"api_time":0.5,"ttft":0.25}]}"#
        .replace('\n', "");
    let record = |id: u64, start: u64, total: u64, rest: &str, hashes: &[u64]| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"s"}},"request":{{"request_id":"r{id}","model":"m","request_received_ms":{start},"total_time_ms":{total}{rest},"replay":{{"trace_block_size":16,"input_length":{},"input_sequence_hashes":{hashes:?}}}}}}}"#,
            start + total,
            hashes.len() * 16
        )
    };
    let capture = [
        record(0, 1000, 1000, r#","output_tokens":8,"ttft_ms":500"#, &[1, 2]),
        record(1, 3500, 1000, r#","output_tokens":0"#, &[1, 2, 3, 4]),
        record(2, 6000, 500, r#","output_tokens":16,"ttft_ms":250"#, &[1, 2, 3, 4, 5, 6]),
    ];
    let from_weka = graphs(&weka(weka_line.as_bytes()), IdleGapCap::DEFAULT);
    let from_dynamo = graphs(&dynamo(capture.join("\n").as_bytes()), IdleGapCap::DEFAULT);
    let asked: Vec<u64> =
        from_dynamo[0].nodes.iter().map(|node| node.max_tokens.map_or(0, Tokens::get)).collect();
    assert_eq!(asked, [8, 1, 16]);
    let stores = [from_weka, from_dynamo].map(|graphs| Store::of(&graphs, &builtin(7)));
    for node in 0..3 {
        let [left, right] = [0, 1].map(|at| stores[at].program(0, NodeIndex(node)));
        assert_eq!(left, right);
        let count: u64 = tokens(&stores[0], 0, node).iter().map(|(_, count)| count).sum();
        assert_eq!(count, [32, 64, 96][node]);
    }
}

#[test]
fn case_11_prompts_that_end_inside_of_a_block_are_sent_to_the_token_in_both_formats() {
    let lengths = [37, 57, 171];
    let names = |count: u64| (1..=count).collect::<Vec<u64>>();
    // A capture names the block that is not full, a Weka trace does not.
    let hashes = lengths.map(|length: u64| names(length.div_ceil(16)));
    let record =
        |at: usize| ("s", u64::try_from(at).expect("few"), lengths[at], hashes[at].as_slice());
    let from_dynamo = capture(&[record(0), record(1), record(2)]);
    let entry = |at: usize| {
        let full = names(lengths[at] / 16);
        format!(
            r#"{{"t":{at}.0,"type":"n","model":"m","in":{},"out":8,"hash_ids":{full:?}}}"#,
            lengths[at]
        )
    };
    let trace = format!(
        r#"{{"id":"s","models":["m"],"block_size":16,"hash_id_scope":"global","requests":[{}]}}"#,
        [0, 1, 2].map(entry).join(",")
    );
    let from_weka = graphs(&weka(trace.as_bytes()), IdleGapCap::DEFAULT);
    let blocks: Vec<usize> = (0..3).map(|at| from_dynamo[0].blocks(NodeIndex(at)).len()).collect();
    assert_eq!(blocks, [2, 3, 10]);
    let stores = [&from_dynamo, &from_weka].map(|graphs| Store::of(graphs, &builtin(7)));
    for (node, length) in lengths.iter().enumerate() {
        let programs = [0, 1].map(|at| stores[at].program(0, NodeIndex(node)));
        assert_eq!(programs[0], programs[1]);
        let sent = tokens(&stores[0], 0, node);
        assert_eq!(sent.iter().map(|(_, count)| count).sum::<u64>(), *length);
    }
    // What stands behind the last full block is of its node alone: the next turn has the block there.
    let (first, second) = (prompt(&stores[0], 0, 0), prompt(&stores[0], 0, 1));
    assert_eq!(first[..32 * 5], second[..32 * 5]);
    for (left, right) in first[32 * 5..].split(' ').zip(second[32 * 5..].split(' ')).skip(1) {
        assert_ne!(left, right, "a partial tail matches nothing");
    }
}

#[test]
fn case_12_a_prompt_without_a_full_block_is_one_message_of_its_own() {
    let graphs = capture(&[("s", 1, 7, &[9]), ("s", 2, 7, &[9])]);
    let store = Store::of(&graphs, &builtin(7));
    assert_eq!(tokens(&store, 0, 0), [("user".to_owned(), 7)]);
    assert_ne!(prompt(&store, 0, 0), prompt(&store, 0, 1));
}

/// Returns what a store of graphs must say of a node, put together the long way: block by block.
fn the_long_way(graph: &Graph, index: NodeIndex, seed: u64) -> Vec<(String, String)> {
    let synthesis = builtin(seed);
    let scope = match graph.hash_scope {
        crate::trace::HashScope::Local => crate::graph::content::Scope::Tree(&graph.id),
        crate::trace::HashScope::Global => crate::graph::content::Scope::Corpus,
    };
    let size = graph.block_size.expect("blocks");
    let texts = synthesis.texts(scope, &graph.id);
    let blocks = graph.blocks(index);
    let mut messages: Vec<(String, Vec<u8>)> = Vec::new();
    for message in graph.messages(index) {
        let mut text = Vec::new();
        for block in &blocks[message.start..message.end] {
            match block {
                crate::graph::BlockId::Recorded(name) => texts.recorded(*name, size, &mut text),
                crate::graph::BlockId::Virtual(name) => texts.made_up(*name, size, &mut text),
            }
        }
        messages.push((message.role.name().to_owned(), text));
    }
    let full = u64::try_from(blocks.len()).expect("few") * u64::from(size.get());
    let input = match graph.node(index).prompt {
        Prompt::Sampled(tokens) => tokens,
        Prompt::Blocks { .. } | Prompt::Authored(_) => {
            graph.node(index).expected.input.unwrap_or_default()
        }
    };
    let rest = input.saturating_sub(Tokens::new(full));
    let last = &mut messages.last_mut().expect("a prompt has a message").1;
    synthesis.fillers(&graph.id).append(index, rest, last);
    let text = |bytes| String::from_utf8(bytes).expect("ASCII");
    messages.into_iter().map(|(role, bytes)| (role, text(bytes))).collect()
}

#[test]
fn case_43_every_node_says_what_its_blocks_say_one_by_one() {
    for graphs in [
        graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT),
        graphs(&weka(&fixture("weka.jsonl.gz")), IdleGapCap::DEFAULT),
    ] {
        let store = Store::of(&graphs, &builtin(1234));
        for (tree, graph) in graphs.iter().enumerate() {
            for index in (0..graph.nodes.len()).map(NodeIndex) {
                let found = messages(&store.program(tree, index));
                assert_eq!(found, the_long_way(graph, index, 1234), "{}", graph.node(index).id);
            }
        }
    }
}

/// Returns a graph as a store keeps it.
fn without_prompts(mut graph: Graph) -> Graph {
    for node in &mut graph.nodes {
        node.prompt =
            Prompt::Authored(node.prompt.slots().into_iter().map(Piece::Answer).collect());
    }
    graph
}

fn dag() -> Vec<Graph> {
    let text = String::from_utf8(fixture("dag.jsonl.gz")).expect("UTF-8");
    read_dag("dag.jsonl", &text).expect("sessions")
}

#[test]
fn a_graph_comes_back_as_it_went_but_for_its_prompts() {
    let mut all = graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT);
    all.extend(graphs(&weka(&fixture("weka.jsonl.gz")), IdleGapCap::DEFAULT));
    all.extend(dag());
    let store = Store::of(&all, &builtin(1));
    let expected: Vec<Graph> = all.into_iter().map(without_prompts).collect();
    assert_eq!(store.graphs().collect::<Vec<_>>(), expected);
}

#[test]
fn answers_are_spliced_in_as_messages_and_as_text_and_left_out_where_there_are_none() {
    let mut graphs = dag();
    let index = graphs[0].nodes.iter().position(|node| node.id == "root:1").expect("a node");
    let of = NodeIndex(graphs[0].nodes.iter().position(|n| n.id == "root:0").expect("a node"));
    let Prompt::Authored(pieces) = &mut graphs[0].nodes[index].prompt else { panic!("authored") };
    let written = |text: &str| TextPart::Written(text.to_owned());
    pieces.push(Piece::Composed {
        role: "user".to_owned(),
        parts: vec![written("say \""), TextPart::Answer(of), written("\" again")],
    });
    let raw: Vec<String> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Raw { json, .. } => Some(json.clone()),
            Piece::Answer(_) | Piece::Composed { .. } => None,
        })
        .collect();
    let store = Store::of(&graphs, &builtin(1));
    let program = store.program(0, NodeIndex(index));
    assert_eq!(program.slots(), [of]);
    let answer = Answer { message: br#"{"role":"assistant","content":"a\nb"}"#, text: "a\nb" };
    let body = |answer: Option<Answer<'_>>| {
        let mut body = Vec::new();
        program.write(|_| answer, &mut body);
        String::from_utf8(body).expect("UTF-8")
    };
    let [system, first, second] = raw.as_slice() else { panic!("{raw:?}") };
    assert_eq!(
        body(Some(answer)),
        format!(
            r#"[{system},{first},{{"role":"assistant","content":"a\nb"}},{second},{{"role":"user","content":"say \"a\nb\" again"}}]"#
        )
    );
    assert_eq!(
        body(None),
        format!(r#"[{system},{first},{second},{{"role":"user","content":"say \"\" again"}}]"#)
    );
    // What is put before the text of a message stands at its first byte.
    for message in program.messages() {
        let ProgramMessage::Written { spans, text_start, .. } = message else { continue };
        let Span::Static(bytes) = spans[0] else { panic!("the opening is static") };
        let start = text_start.expect("all contents here are texts");
        assert!(bytes[..start].ends_with(br#""content":""#) || bytes[start - 1] == b'"');
    }
}

#[test]
fn a_store_of_each_lowering_has_the_digest_that_it_had() {
    // Whoever moves one of these says in the changelog why: every plan of a replay names its store.
    let stores = [
        ("dynamo", graphs(&dynamo(&fixture("capture.jsonl.gz")), IdleGapCap::DEFAULT)),
        ("weka", graphs(&weka(&fixture("weka.jsonl.gz")), IdleGapCap::DEFAULT)),
        ("dag-jsonl", dag()),
        ("native", read_native("g.yaml", WORKFLOW).expect("a workflow").0),
        ("golden", golden_capture()),
    ];
    let found: BTreeMap<&str, String> = stores
        .iter()
        .map(|(name, graphs)| (*name, Store::of(graphs, &builtin(1234)).digest().short()))
        .collect();
    let expected = [
        ("dag-jsonl", "f02bb970fdb5"),
        ("dynamo", "74eafc62843a"),
        ("golden", "aa57e517a571"),
        ("native", "cbe162f055da"),
        ("weka", "3a83daac423a"),
    ];
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())).into());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any conversation of any block size is sent to the token, and says what its blocks say.
    #[test]
    fn any_recorded_prompts_are_sent_to_the_token(
        turns in proptest::collection::vec((proptest::collection::vec(0_u64..9, 0..12), 0_u64..512), 1..8),
        block in 1_u64..=64,
    ) {
        let line = |(index, (hashes, rest)): (usize, &(Vec<u64>, u64))| {
            let count = u64::try_from(hashes.len()).expect("few");
            let input = (count * block + rest % block).max(1);
            let names: Vec<u64> =
                hashes.iter().copied().chain((input > count * block).then_some(99)).collect();
            format!(
                r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{index},"agent_context":{{"session_id":"s"}},"request":{{"request_id":"r{index}","output_tokens":{rest},"replay":{{"trace_block_size":{block},"input_length":{input},"input_sequence_hashes":{names:?}}}}}}}"#
            )
        };
        let lines: Vec<String> = turns.iter().enumerate().map(line).collect();
        let graphs = graphs(&dynamo(lines.join("\n").as_bytes()), IdleGapCap::DEFAULT);
        let store = Store::of(&graphs, &builtin(5));
        prop_assert_eq!(store.info().counts.residue_messages, 0);
        for (index, node) in graphs[0].nodes.iter().enumerate() {
            let sent: u64 = tokens(&store, 0, index).iter().map(|(_, count)| count).sum();
            prop_assert_eq!(Some(Tokens::new(sent)), node.expected.input);
            let found = messages(&store.program(0, NodeIndex(index)));
            prop_assert_eq!(found, the_long_way(&graphs[0], NodeIndex(index), 5));
        }
    }
}
