//! Cases computed by hand. Numbers in brackets are those of spec/REPLAY.md §10.

use crate::graph::{IdleGapCap, NodeIndex, Prompt};

use super::support::{agent, call, dynamo, edges, graphs, seconds, trace, weka};

/// Lowers a Weka trace of entries with all gaps kept.
fn lowered(entries: &[String]) -> crate::graph::Graph {
    let mut graphs = graphs(&weka(trace(entries).as_bytes()), IdleGapCap::None);
    graphs.pop().expect("a trace")
}

fn lines(entries: &[String]) -> Vec<String> {
    edges(&lowered(entries))
}

/// Returns a record of a Dynamo capture: session, start and duration in ms, tokens.
fn record(session: &str, parent: &str, start: u64, duration: u64, tokens: u64) -> String {
    let parent = if parent.is_empty() {
        String::new()
    } else {
        format!(r#","parent_trajectory_id":"{parent}""#)
    };
    format!(
        r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"{session}"{parent}}},"request":{{"request_id":"{session}-{start}","model":"m","input_tokens":{tokens},"output_tokens":0,"request_received_ms":{start},"total_time_ms":{duration}.0}}}}"#,
        start + duration
    )
}

/// [6], [7]: one second, then a gap of 200 s.
#[test]
fn an_idle_gap_is_cut_to_the_cap_in_arrivals_and_delays() {
    let entries = [call(0.0, 1.0, &[1]), call(201.0, 1.0, &[1, 2])];
    let trees = weka(trace(&entries).as_bytes());
    let of = |cap| {
        let graph = graphs(&trees, cap).pop().expect("a trace");
        (graph.nodes[1].arrival.get() / 1_000_000, edges(&graph)[1].clone())
    };
    assert_eq!(of(seconds(60)), (61_000, "r:0 -> r:1 +60000".to_owned()));
    assert_eq!(of(IdleGapCap::None), (201_000, "r:0 -> r:1 +200000".to_owned()));
    assert_eq!(of(seconds(1_000_000_000)), of(IdleGapCap::None));
    assert_eq!(of(seconds(0)), (1_000, "r:0 -> r:1 +0".to_owned()));
}

/// [8], [9], [10].
#[test]
fn a_child_that_starts_while_its_parent_runs_waits_for_the_dispatch_alone() {
    let streamed = |ttft: f64| {
        call(0.0, 2.0, &[1]).replace(r#""type":"n""#, &format!(r#""type":"s","ttft":{ttft}"#))
    };
    let with = |first: String, start: f64| {
        let child = agent(start, "c", "completed", &[call(start, 1.0, &[2])]);
        lines(&[first, child, call(9.0, 1.0, &[1, 3])])[1].clone()
    };
    assert_eq!(with(streamed(0.5), 0.5), "r:0 -> c:0 sent+500 token+0");
    assert_eq!(with(streamed(0.75), 0.5), "r:0 -> c:0 sent+500", "no token had come");
    assert_eq!(with(call(0.0, 2.0, &[1]), 0.5), "r:0 -> c:0 sent+500", "no token is known of");
    assert_eq!(with(streamed(0.5), 2.0), "r:0 -> c:0 +0", "the parent had ended");
}

#[test]
fn a_parent_joins_what_it_waited_for_and_the_last_to_end_binds() {
    let child = |id: &str, end: f64| agent(1.0, id, "completed", &[call(1.0, end - 1.0, &[7])]);
    let edges =
        lines(&[call(0.0, 1.0, &[1]), child("a", 3.0), child("b", 4.0), call(4.5, 1.0, &[1, 2])]);
    assert_eq!(
        edges,
        ["START -> r:0 @0", "r:0 -> a:0 +0", "r:0 -> b:0 +0", "a:0 -> r:1 +0", "b:0 -> r:1 +500",]
    );
}

#[test]
fn a_child_in_the_background_is_joined_by_nobody() {
    let child = agent(1.0, "a", "async_launched", &[call(1.0, 1.0, &[7]), call(2.5, 0.5, &[7, 8])]);
    let edges = lines(&[call(0.0, 1.0, &[1]), child, call(4.0, 1.0, &[1, 2])]);
    assert_eq!(edges, ["START -> r:0 @0", "r:0 -> a:0 +0", "a:0 -> a:1 +500", "r:0 -> r:1 +3000"]);
}

#[test]
fn a_grandchild_is_joined_by_its_own_parent_and_a_background_one_frees_all_above() {
    let tree = |status: &str| {
        let grandchild = agent(1.5, "g", status, &[call(1.5, 1.0, &[9])]);
        let child = agent(
            1.0,
            "a",
            "completed",
            &[call(1.0, 0.5, &[7]), grandchild, call(3.0, 1.0, &[7, 8])],
        );
        lines(&[call(0.0, 1.0, &[1]), child, call(5.0, 1.0, &[1, 2])])
    };
    assert_eq!(tree("completed")[2..], ["a:0 -> g:0 +0", "g:0 -> a:1 +500", "a:1 -> r:1 +1000"]);
    assert_eq!(
        tree("async_launched")[2..],
        ["a:0 -> g:0 +0", "a:0 -> a:1 +1500", "a:1 -> r:1 +1000"]
    );
}

#[test]
fn siblings_do_not_wait_for_one_another_unless_their_parent_was_asked_between() {
    let child = |id: &str, at: f64| agent(at, id, "completed", &[call(at, 0.5, &[7])]);
    let apart = lines(&[call(0.0, 1.0, &[1]), child("a", 1.0), child("b", 2.0)]);
    assert_eq!(apart[1..], ["r:0 -> a:0 +0", "r:0 -> b:0 +1000"]);
    let between =
        lines(&[call(0.0, 1.0, &[1]), child("a", 1.0), call(2.0, 1.0, &[1, 2]), child("b", 3.0)]);
    assert_eq!(between[1..], ["r:0 -> a:0 +0", "a:0 -> r:1 +500", "r:1 -> b:0 +0"]);
}

#[test]
fn calls_that_take_no_time_and_start_together_keep_the_order_of_their_turns() {
    let edges = lines(&[call(1.0, 0.0, &[1]), call(1.0, 0.0, &[1, 2]), call(1.0, 2.0, &[1, 2, 3])]);
    assert_eq!(edges, ["START -> r:0 @1000", "r:0 -> r:1 +0", "r:1 -> r:2 +0"]);
}

/// The other lane makes these two wait for one another: the second, which takes no time, ends before the first and is started by it.
#[test]
fn a_turn_that_takes_no_time_does_not_come_before_the_one_that_brought_it_about() {
    let edges = lines(&[call(0.0, 1.0, &[1]), call(0.0, 0.0, &[1, 2])]);
    assert_eq!(edges, ["START -> r:0 @0", "r:0 -> r:1 sent+0"]);
}

#[test]
fn turns_of_one_instant_are_numbered_as_numbers() {
    let entries: Vec<String> = (0..12).map(|_| call(0.0, 0.0, &[1])).collect();
    let graph = lowered(&entries);
    let order: Vec<usize> = graph.nodes.iter().map(|node| node.session.turn).collect();
    assert_eq!(order, (0..12).collect::<Vec<_>>());
}

/// Content parents: the longest prompt that is all a beginning, the latest of equals; else the earliest with the longest common one.
#[test]
fn a_prompt_goes_on_from_the_longest_whole_one_and_else_from_the_earliest_of_the_nearest() {
    let prompts: [&[u64]; 8] =
        [&[1, 2, 3], &[1, 2], &[1, 2], &[1, 2, 4], &[1, 5], &[1, 6], &[9], &[]];
    let entries: Vec<String> =
        prompts.iter().zip(0_u8..).map(|(blocks, at)| call(f64::from(at), 0.5, blocks)).collect();
    let graph = lowered(&entries);
    let parents: Vec<Option<(usize, usize)>> = graph
        .nodes
        .iter()
        .map(|node| match &node.prompt {
            Prompt::Blocks { parent, inherited, .. } => parent.map(|parent| (parent.0, *inherited)),
            Prompt::Sampled(_) | Prompt::Authored(_) => None,
        })
        .collect();
    assert_eq!(
        parents,
        [None, Some((0, 2)), Some((1, 2)), Some((2, 2)), Some((0, 1)), Some((0, 1)), None, None]
    );
    for (index, blocks) in prompts.iter().enumerate() {
        let named: Vec<u64> = graph
            .blocks(NodeIndex(index))
            .iter()
            .map(|block| match block {
                crate::graph::BlockId::Recorded(number)
                | crate::graph::BlockId::Virtual(number) => *number,
            })
            .collect();
        assert_eq!(named, *blocks, "{index}");
    }
}

/// [17] to [22]: what a cache that forgets nothing serves.
#[test]
fn blocks_that_an_earlier_prompt_begins_with_are_reusable() {
    let reusable = |prompts: &[&[u64]]| {
        let entries: Vec<String> = prompts
            .iter()
            .zip(0_u8..)
            .map(|(blocks, at)| call(f64::from(at), 0.5, blocks))
            .collect();
        let graph = lowered(&entries);
        graph
            .nodes
            .iter()
            .map(|node| (node.expected.reusable_blocks, node.expected.full_blocks))
            .collect::<Vec<_>>()
    };
    assert_eq!(reusable(&[&[1, 2], &[1, 2, 3]]), [(0, 2), (2, 3)]);
    assert_eq!(reusable(&[&[1, 2], &[1, 9, 2]]), [(0, 2), (1, 3)]);
    assert_eq!(reusable(&[&[1], &[9, 7], &[9, 7]]), [(0, 1), (0, 2), (2, 2)]);
    assert_eq!(reusable(&[&[]]), [(0, 0)]);
}

/// [11], [12]: prompts of 37, 57 and 171 tokens; one of 7.
#[test]
fn the_rest_of_a_prompt_behind_its_full_blocks_is_left_out_and_a_tiny_prompt_is_one_message() {
    let with = |start: f64, tokens: u64, blocks: &[u64]| {
        call(start, 0.5, blocks).replace(
            &format!(r#""in":{}"#, (blocks.len() * 16).max(1)),
            &format!(r#""in":{tokens}"#),
        )
    };
    let ten: Vec<u64> = (1..=10).collect();
    let graph = lowered(&[
        with(0.0, 37, &[1, 2]),
        with(1.0, 57, &[1, 2, 3]),
        with(2.0, 171, &ten),
        with(3.0, 7, &[]),
    ]);
    let full: Vec<usize> = graph.nodes.iter().map(|node| node.expected.full_blocks).collect();
    assert_eq!(full, [2, 3, 10, 0]);
    assert_eq!(graph.nodes[3].prompt, Prompt::Sampled(crate::units::Tokens::new(7)));
    assert_eq!(graph.messages(NodeIndex(3)).len(), 1);
}

/// [2], [5], [38]: nothing is named, and nothing is asked for.
#[test]
fn blocks_that_are_not_named_are_made_up_and_shared_within_a_session() {
    let capture =
        [record("s", "", 1000, 0, 32), record("s", "", 2000, 0, 64), record("t", "s", 3000, 0, 32)]
            .join("\n");
    let trees = dynamo(capture.as_bytes());
    let (graph, counts) = crate::graph::lower(
        &trees[0],
        crate::graph::LowerOptions { idle_gap_cap: IdleGapCap::None },
    );
    let shape: Vec<(usize, usize)> = graph
        .nodes
        .iter()
        .map(|node| (node.expected.reusable_blocks, node.expected.full_blocks))
        .collect();
    assert_eq!(shape, [(0, 2), (2, 4), (0, 2)], "a child shares nothing that is not recorded");
    assert!(graph.nodes.iter().all(|node| node.max_tokens == Some(crate::units::Tokens::new(1))));
    assert_eq!((counts.made_up_blocks, counts.least_output, counts.without_duration), (3, 3, 0));
}

/// The cause of a child's first call is the turn of its parent that had started last; none where the parent starts later.
#[test]
fn a_captured_child_is_brought_about_by_the_turn_that_had_started_last() {
    let capture = [
        record("p", "", 1000, 100, 32),
        record("p", "", 2000, 100, 32),
        record("c", "p", 2050, 900, 32),
        record("early", "p", 500, 100, 32),
    ]
    .join("\n");
    let graph = graphs(&dynamo(capture.as_bytes()), IdleGapCap::None).pop().expect("a tree");
    assert_eq!(
        edges(&graph),
        ["START -> early:0 @0", "early:0 -> p:0 +400", "p:0 -> p:1 +900", "p:1 -> c:0 sent+50",]
    );
}

/// An answer of 8 tokens fills one block of 16; the last block is the user's, also of a prompt that is repeated.
#[test]
fn what_a_prompt_adds_is_the_answer_and_then_the_users_words() {
    let of = |prompts: &[&[u64]], output: u64| {
        let entries: Vec<String> = prompts
            .iter()
            .zip(0_u8..)
            .map(|(blocks, at)| {
                call(f64::from(at), 0.5, blocks)
                    .replace(r#""out":8"#, &format!(r#""out":{output}"#))
            })
            .collect();
        let graph = lowered(&entries);
        (0..prompts.len())
            .map(|index| {
                let word = |message: &crate::graph::Message| {
                    format!("{}{}", &message.role.name()[..1], message.end - message.start)
                };
                graph.messages(NodeIndex(index)).iter().map(word).collect::<Vec<_>>().join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&[&[1, 2], &[1, 2, 3, 4]], 8), ["u2", "u2 a1 u1"]);
    assert_eq!(of(&[&[1, 2], &[1, 2, 3]], 8), ["u2", "u2 u1"], "the last block is the user's");
    assert_eq!(of(&[&[1, 2], &[1, 2, 3, 4, 5, 6]], 40), ["u2", "u2 a3 u1"]);
    assert_eq!(of(&[&[1, 7], &[1, 2, 3, 4, 5], &[1, 2, 3]], 32), ["u2", "u1 a1 u3", "u1 a1 u1"]);
    assert_eq!(
        of(&[&[1, 2], &[9], &[9, 3]], 0),
        ["u2", "u1", "u1 u1"],
        "no answer, no words of it"
    );
}
