//! Recordings written by hand, and what each request waits for.

use crate::trace::{
    ConvertTarget, ConvertedSource, ReadOptions, Shard, Strictness, TraceFormat, convert_in_memory,
    read_corpus,
};
use crate::units::BlockSize;
use crate::workload::{Corpus, EdgeRelation, EdgeTrigger};

fn read(format: TraceFormat, text: &str) -> Result<Corpus, Vec<String>> {
    let options = ReadOptions::strict(format, BlockSize::new(64).expect("a size"));
    let shard = Shard::new("a.jsonl", text.as_bytes().to_vec());
    read_corpus(&[shard], &options).map(|(corpus, _)| corpus).map_err(|bag| {
        bag.into_sorted()
            .iter()
            .map(|problem| format!("{} {problem}", problem.place().unwrap_or_default()))
            .collect()
    })
}

/// Returns what the requests of a corpus wait for, by the ends of their names: `A <- B trigger relation delay`.
fn waits(corpus: &Corpus) -> Vec<String> {
    let reader = corpus.reader();
    let name = |node: usize| {
        let id = reader.request_id(&reader.row(node)).unwrap_or_default();
        id.rsplit_once("request:").map_or(id.clone(), |(_, end)| end.to_owned())
    };
    let plays = corpus.plays().expect("plays");
    let of = |(at, node): (usize, &crate::workload::PlayNode)| {
        let lines = node.waits.iter().map(move |edge| {
            let (trigger, relation) = (edge.trigger.name(), edge.relation.name());
            format!("{} <- {} {trigger} {relation} {}", name(at), name(edge.node), edge.delay_ms)
        });
        lines.collect::<Vec<_>>()
    };
    plays.nodes().iter().enumerate().flat_map(of).collect()
}

const HEADER: &str = r#"{"schema":"dynamo.agentic_mooncake","version":2,"block_size":64,"hash_id_scope":"local","source":{"format":"f","digest":"d"}}"#;

fn row(id: &str, play: &str, waits: &str) -> String {
    format!(
        r#"{{"request_id":"{id}","play_id":"{play}","session_id":"s","model":"m","input_length":64,"output_length":1,"hash_ids":[1],"not_before_ms":0,"dependencies":[{waits}]}}"#
    )
}

fn wait(id: &str) -> String {
    format!(r#"{{"request_id":"{id}","trigger":"completion","delay_ms":1,"relation":"sequence"}}"#)
}

#[test]
fn version_2_is_checked_as_a_whole_and_every_mistake_is_shown() {
    let wrong = [
        HEADER.to_owned(),
        row("a", "p", &wait("b")),
        row("b", "p", &wait("a")),
        row("b", "q", &wait("x")),
        row("c", "q", &wait("c")),
        row("d", "r", &wait("a")),
    ]
    .join("\n");
    let expected = [
        "a.jsonl:2:15 every request of play `p` waits for another one",
        "a.jsonl:4:15 duplicate request_id `b`, at a.jsonl:3:15 as well",
        "a.jsonl:4:15 the request `b` waits for the unknown request `x`",
        "a.jsonl:4:15 every request of play `q` waits for another one",
        "a.jsonl:5:15 the request `c` waits for itself",
        "a.jsonl:6:15 the request `d` is of play `r` and waits for `a` of play `p`",
        "a.jsonl:6:15 every request of play `r` waits for another one",
    ];
    assert_eq!(read(TraceFormat::AgenticMooncake, &wrong).expect_err("wrong"), expected);
    let cycle = [
        HEADER.to_owned(),
        row("r", "p", ""),
        row("a", "p", &wait("b")),
        row("b", "p", &wait("a")),
    ]
    .join("\n");
    let expected =
        ["a.jsonl:3:15 cycle detected among 2 agentic requests; blocked request IDs: a, b"];
    assert_eq!(read(TraceFormat::AgenticMooncake, &cycle).expect_err("a cycle"), expected);
    let old = HEADER.replace("\"version\":2", "\"version\":1");
    let found = read(TraceFormat::AgenticMooncake, &old).expect_err("another version");
    assert_eq!(found, ["a.jsonl:1:47 unsupported agentic Mooncake version 1; expected 2"]);
    let dispatch = [
        HEADER.to_owned(),
        row("r", "p", ""),
        row("a", "p", &wait("r").replace("completion", "dispatch")).replace("[1]", "[1,2]"),
    ]
    .join("\n");
    let expected = [
        "a.jsonl:3:109 2 hash_ids, but ceil(64/64) = 1",
        "a.jsonl:3:177 `trigger` must be `\"completion\"`, as the relation is `sequence`, found `\"dispatch\"`",
    ];
    let found = read(TraceFormat::AgenticMooncake, &dispatch).expect_err("only a spawn");
    assert_eq!(found, expected);
}

#[test]
fn rows_without_a_header_wait_for_names_and_dependencies_are_not_dropped_silently() {
    let text = [
        r#"{"request_id":"a","input_length":64,"output_length":1,"hash_ids":[1],"timestamp":5}"#,
        r#"{"request_id":"b","input_length":64,"output_length":1,"hash_ids":[1],"wait_for":["a"],"delay_ms":2,"tool_wait_ms":1}"#,
    ]
    .join("\n");
    let corpus = read(TraceFormat::AgenticMooncake, &text).expect("right rows");
    assert_eq!(waits(&corpus), ["b <- a completion sequence 3"]);
    let plays = corpus.plays().expect("plays");
    assert_eq!(plays.plays()[0].id, "legacy-play:a");
    let found = read(TraceFormat::AgenticMooncake, &row("a", "p", &wait("b"))).expect_err("lost");
    let expected = ["a.jsonl:1:1 `dependencies` mean nothing without the header of version 2"];
    assert_eq!(found[..1], expected);
}

fn request(t: f64, hashes: &[u64], api_time: f64) -> String {
    format!(
        r#"{{"type":"n","t":{t},"model":"m","in":{},"out":8,"hash_ids":{hashes:?},"api_time":{api_time}}}"#,
        hashes.len() * 64
    )
}

fn trace(id: &str, entries: &[String]) -> String {
    format!(
        r#"{{"id":"{id}","models":["m"],"block_size":64,"hash_id_scope":"local","requests":[{}]}}"#,
        entries.join(",")
    )
}

fn subagent(t: f64, id: &str, status: &str, entries: &[String]) -> String {
    format!(
        r#"{{"type":"subagent","t":{t},"agent_id":"{id}","subagent_type":"x","status":"{status}","requests":[{}]}}"#,
        entries.join(",")
    )
}

#[test]
fn a_blocking_sub_agent_is_spawned_and_joined_and_a_background_one_only_spawned() {
    let play = |status: &str| {
        let text = trace(
            "a",
            &[
                request(0.0, &[1], 1.0),
                subagent(2.0, "s", status, &[request(2.0, &[9], 1.0)]),
                request(4.0, &[1, 2], 1.0),
            ],
        );
        waits(&read(TraceFormat::Weka, &text).expect("a right trace"))
    };
    let spawned = "outer:1:inner:0 <- outer:0 completion spawn 1000";
    let sequence = "outer:2 <- outer:0 completion sequence 3000";
    let join = "outer:2 <- outer:1:inner:0 completion join 1000";
    assert_eq!(play("completed"), [spawned, sequence, join]);
    assert_eq!(play("async_launched"), [spawned, sequence]);
}

#[test]
fn prompts_that_do_not_go_on_are_conversations_of_their_own_behind_barriers() {
    // The third request branches off the first while the second still runs; the fourth goes on with the second and had seen the third.
    let text = trace(
        "a",
        &[
            request(0.0, &[1, 2], 1.0),
            request(2.0, &[1, 2, 3], 4.0),
            request(3.0, &[1, 2, 7], 1.0),
            request(8.0, &[1, 2, 3, 4], 1.0),
        ],
    );
    let corpus = read(TraceFormat::Weka, &text).expect("a right trace");
    let expected = [
        "outer:1 <- outer:0 completion sequence 1000",
        "outer:2 <- outer:1 dispatch spawn 1000",
        "outer:2 <- outer:0 completion replay_barrier 0",
        "outer:3 <- outer:1 completion sequence 2000",
        "outer:3 <- outer:2 completion replay_barrier 0",
    ];
    assert_eq!(waits(&corpus), expected);
}

#[test]
fn equal_hashes_of_two_traces_are_different_blocks_and_a_tail_matches_nothing() {
    let tail = r#"{"type":"n","t":0,"model":"m","in":70,"out":8,"hash_ids":[1]}"#.to_owned();
    let text = [trace("a", std::slice::from_ref(&tail)), trace("b", std::slice::from_ref(&tail))]
        .join("\n");
    let corpus = read(TraceFormat::Weka, &text).expect("a right corpus");
    let reader = corpus.reader();
    let ids: Vec<Vec<u64>> = reader.rows().map(|row| reader.hash_ids(&row)).collect();
    assert_eq!(ids.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let mut all = ids.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn a_capture_spawns_by_times_and_by_what_tools_say() {
    let text = include_str!("tests/dynamo-agentic.jsonl");
    let corpus = read(TraceFormat::Dynamo, text).expect("a right capture");
    let expected = [
        "child-first <- parent-source dispatch spawn 20",
        "child-last <- child-first completion sequence 20",
        "parent-consumer <- parent-source completion sequence 90",
        "parent-consumer <- child-last completion join 40",
    ];
    let mut found = waits(&corpus);
    found.sort_unstable();
    let mut expected = expected.map(str::to_owned);
    expected.sort_unstable();
    assert_eq!(found, expected);
    let plays = corpus.plays().expect("plays");
    let root = plays.plays()[0].roots[0];
    let reader = corpus.reader();
    assert_eq!(reader.request_id(&reader.row(root)).as_deref(), Some("parent-source"));
    let spawn = |edge: &&crate::workload::PlayEdge| edge.relation == EdgeRelation::Spawn;
    let edges: Vec<_> = plays.nodes().iter().flat_map(|node| &node.waits).filter(spawn).collect();
    assert_eq!(edges.iter().map(|edge| edge.trigger).collect::<Vec<_>>(), [EdgeTrigger::Dispatch]);
}

#[test]
fn a_session_of_tool_calls_grows_by_what_it_says_and_what_tools_answer() {
    let text = r#"{"num_turns":1,"input_prompt_length":100,"assistant_response_length":[20],"tool_call_output_length":[30],"tool_call_latency":[0.5],"final_assistant_response_length":7}"#;
    let corpus = read(TraceFormat::AppliedComputeAgentic, text).expect("a right line");
    let reader = corpus.reader();
    let row = |row: crate::workload::RecordedRow| {
        (row.input.get(), row.output.get(), row.delay_ms, row.hash_id_count())
    };
    let rows: Vec<(u64, u64, f64, usize)> = reader.rows().map(row).collect();
    assert_eq!(rows, [(100, 20, 0.0, 2), (150, 7, 500.0, 3)]);
    let ids = |place: usize| reader.hash_ids(&reader.row(place));
    assert_eq!(ids(1)[..2], ids(0));
    let wrong = text.replace("[20]", "[20,1]").replace("0.5", "-1");
    let expected = [
        "a.jsonl:1:70 `assistant_response_length` has 2 numbers and num_turns is 1",
        "a.jsonl:1:128 `tool_call_latency` must be numbers of seconds that are not negative and less than 2^64 ns, found `[-1]`",
    ];
    assert_eq!(read(TraceFormat::AppliedComputeAgentic, &wrong).expect_err("wrong"), expected);
}

#[test]
fn predictions_read_as_the_reference_does_and_count_what_they_ignore() {
    let options = ReadOptions {
        strictness: Strictness::DynoSim,
        ..ReadOptions::strict(TraceFormat::AgenticMooncake, BlockSize::new(64).expect("a size"))
    };
    let shard = Shard::new("a.jsonl", row("a", "p", &wait("b")).into_bytes());
    let (corpus, counts) = read_corpus(&[shard], &options).expect("dependencies are ignored");
    assert_eq!((corpus.len(), counts.rows), (1, 1));
}

#[test]
fn a_recording_as_agentic_mooncake_is_the_same_plays() {
    let text = [
        trace(
            "a",
            &[
                request(0.0, &[1, 2], 1.0),
                subagent(2.0, "s", "completed", &[request(2.0, &[9], 0.3)]),
                request(4.0, &[1, 2, 3], 1.0),
            ],
        ),
        trace("b", &[request(0.5, &[1], 1.0)]),
    ]
    .join("\n");
    let corpus = read(TraceFormat::Weka, &text).expect("a right corpus");
    let source = ConvertedSource { format: "weka".to_owned(), digest: "d".to_owned() };
    let options = ReadOptions::strict(TraceFormat::Weka, BlockSize::new(64).expect("a size"));
    let shard = Shard::new("a.jsonl", text.into_bytes());
    let converted = convert_in_memory(&[shard], &options, ConvertTarget::AgenticMooncake, &source);
    let converted = converted.expect("plays").text;
    let converted = String::from_utf8(converted).expect("JSON is text");
    let again = read(TraceFormat::AgenticMooncake, &converted).expect("a right file");
    assert_eq!(corpus.plays(), again.plays());
    let rows = |corpus: &Corpus| {
        let reader = corpus.reader();
        let row = |row: crate::workload::RecordedRow| {
            let names = (reader.request_id(&row), reader.session(&row));
            (names, row.input, row.output, reader.hash_ids(&row))
        };
        reader.rows().map(row).collect::<Vec<_>>()
    };
    assert_eq!(rows(&corpus), rows(&again));
}

#[test]
fn times_whose_sum_no_clock_holds_are_refused_where_they_stand() {
    let text = [
        r#"{"request_id":"a","input_length":64,"output_length":1,"hash_ids":[1]}"#,
        r#"{"request_id":"b","input_length":64,"output_length":1,"hash_ids":[1],"wait_for":["a"],"delay_ms":1e13,"tool_wait_ms":1e13}"#,
    ]
    .join("\n");
    let what = "must be milliseconds that, with those before it, are less than 2^64 ns, found";
    let found = read(TraceFormat::AgenticMooncake, &text).expect_err("no time");
    let second = text.lines().last().expect("two lines");
    let column = second.rfind("1e13").expect("the wait") + 1;
    assert_eq!(found, [format!("a.jsonl:2:{column} `tool_wait_ms` {what} `1e13`")]);
    let found = read(TraceFormat::AgenticMooncake, &text.replace("1e13", "1e308"));
    assert_eq!(found.expect_err("no times").len(), 3);
    let timed = row("a", "p", "").replace("_ms\":0", "_ms\":1e13,\"recorded_api_time_ms\":1e13");
    let found = read(TraceFormat::AgenticMooncake, &[HEADER, &timed].join("\n"));
    let column = timed.rfind("1e13").expect("the time it took") + 1;
    let expected = [format!("a.jsonl:2:{column} `recorded_api_time_ms` {what} `1e13`")];
    assert_eq!(found.expect_err("no time"), expected);
}

#[test]
fn prompts_that_grow_with_each_turn_take_no_room_for_their_blocks() {
    // One by one, these ids would be 5 000 * 5 000 / 2 of 8 bytes; a tape in memory is far smaller.
    let turns = 5_000;
    let each = |value: &str| vec![value; turns].join(",");
    let text = format!(
        r#"{{"num_turns":{turns},"input_prompt_length":64,"assistant_response_length":[{}],"tool_call_output_length":[{}],"tool_call_latency":[{}],"final_assistant_response_length":7}}"#,
        each("60"),
        each("4"),
        each("0")
    );
    let corpus = read(TraceFormat::AppliedComputeAgentic, &text).expect("a right line");
    let reader = corpus.reader();
    let last = reader.row(turns);
    assert_eq!(reader.hash_ids(&last), (0..5_001).collect::<Vec<u64>>());
    assert_eq!(corpus.id_bytes(), 16 * 5_001);
    let long = text.replace("[60,", "[4294000000,");
    let found = read(TraceFormat::AppliedComputeAgentic, &long).expect_err("too long");
    assert!(found[0].contains("at most 4194304 are made up"), "{found:?}");
}

#[test]
fn a_word_that_is_none_of_its_set_is_told_where_it_stands() {
    let text = [HEADER.to_owned(), row("r", "p", ""), row("a", "p", &wait("r"))].join("\n");
    let wrong = text.replace("\"sequence\"", "\"sequenc\"");
    let column = wrong.lines().last().and_then(|line| line.find("\"sequenc\"")).expect("it") + 1;
    let found = read(TraceFormat::AgenticMooncake, &wrong).expect_err("no such relation");
    let expected = [format!(
        "a.jsonl:3:{column} `relation` must be one of sequence, spawn, join, replay_barrier, found `\"sequenc\"`"
    )];
    assert_eq!(found, expected);
    let without = text.replace(",\"relation\":\"sequence\"", "");
    let found = read(TraceFormat::AgenticMooncake, &without).expect_err("no relation");
    let expected = [
        "a.jsonl:3:1 `relation` is missing: expected one of sequence, spawn, join, replay_barrier",
    ];
    assert_eq!(found, expected);
}

#[test]
fn only_the_first_line_of_a_file_may_be_a_header_when_rows_are_counted() {
    let header = r#"{"schema":"dynamo.agentic_mooncake","version":2}"#;
    let row = r#"{"request_id":"\"schema\"","schema2":{"schema":1}}"#;
    let count = |text: &str| super::count(text.as_bytes(), TraceFormat::AgenticMooncake);
    assert_eq!(count(&format!("\n{header}\n{row}\n{row}\n")), 2);
    assert_eq!(count(&format!("{row}\n\n{row}")), 2);
    assert_eq!(count(""), 0);
}

#[test]
fn a_wrong_word_and_a_sum_beyond_clocks_are_told_where_they_stand() {
    let header = r#"{"schema":"dynamo.agentic_mooncake","version":2,"block_size":4,"hash_id_scope":"local","source":{"format":"f","digest":"d"}}"#;
    let row = r#"{"request_id":"a","play_id":"p","session_id":"s","model":"m","input_length":4,"output_length":1,"hash_ids":[1],"not_before_ms":0,"dependencies":[{"request_id":"b","trigger":"now","delay_ms":0,"relation":"spawn"}]}"#;
    let column = row.find("\"now\"").expect("there") + 1;
    let found = read(TraceFormat::AgenticMooncake, &format!("{header}\n{row}")).expect_err("wrong");
    assert_eq!(
        found,
        [format!(
            "a.jsonl:2:{column} `trigger` must be one of dispatch, completion, found `\"now\"`"
        )]
    );
    let session = r#"{"num_turns":1,"input_prompt_length":1,"assistant_response_length":[1],"tool_call_output_length":[1],"tool_call_latency":[1e306],"final_assistant_response_length":1}"#;
    let found = read(TraceFormat::AppliedComputeAgentic, session).expect_err("infinite");
    assert!(found[0].contains("less than 2^64 ns"), "{found:?}");
}
