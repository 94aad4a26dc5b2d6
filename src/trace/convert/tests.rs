//! What a target cannot hold is counted; what it can is read again as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::diag::Bag;
use crate::trace::{
    ArrivalRule, ConvertError, ConvertTarget, ConvertedSource, HashIds, LOSSES, ReadOptions,
    RecordedOptions, RecordedTree, Shard, TraceFormat, TraceInput, convert, read_corpus,
    read_dynamo, read_weka,
};
use crate::units::BlockSize;
use crate::workload::Corpus;

/// The page that says what can be converted.
const PAGE: &str = include_str!("../../../docs/traces.md");

/// A trace in another format, in memory.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// What is written.
    pub(crate) text: Vec<u8>,
    /// What is lost, by name.
    pub(crate) lost: BTreeMap<&'static str, u64>,
}

/// As [`convert`], into memory.
pub(crate) fn in_memory(
    shards: &[Shard],
    options: &ReadOptions,
    target: ConvertTarget,
    source: &ConvertedSource,
) -> Result<Conversion, Bag> {
    let mut text = Vec::new();
    match convert(shards, options, (target, source), &mut text) {
        Ok(lost) => Ok(Conversion { text, lost }),
        Err(ConvertError::Trace(bag)) => Err(bag),
        Err(ConvertError::Output(error)) => panic!("a Vec takes every write: {error}"),
    }
}

fn options(format: TraceFormat) -> ReadOptions {
    let size = BlockSize::new(4).expect("a size");
    ReadOptions { arrivals: ArrivalRule::Ignored, ..ReadOptions::strict(format, size) }
}

fn told(format: TraceFormat, text: &str, target: ConvertTarget) -> Result<Conversion, String> {
    let source = ConvertedSource { format: format.name().to_owned(), digest: "d".to_owned() };
    let name = if format.is_table() { "a.csv" } else { "a.jsonl" };
    let shard = Shard::new(name, text.as_bytes().to_vec());
    in_memory(&[shard], &options(format), target, &source).map_err(|bag| {
        bag.into_sorted().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })
}

/// Returns what is written, and what is lost as `name 1, name 2`.
fn converted(format: TraceFormat, text: &str, target: ConvertTarget) -> (String, String) {
    let Conversion { text, lost } = told(format, text, target).expect("it can be said");
    let lost: Vec<String> = lost.iter().map(|(name, count)| format!("{name} {count}")).collect();
    (String::from_utf8(text).expect("a text"), lost.join(", "))
}

fn read(options: &ReadOptions, text: &str) -> Corpus {
    let shard = Shard::new("a.jsonl", text.as_bytes().to_vec());
    read_corpus(&[shard], options).unwrap_or_else(|bag| panic!("{bag:?}\n{text}")).0
}

/// Returns what simulation reads of rows.
fn rows(corpus: &Corpus) -> Vec<String> {
    let reader = corpus.reader();
    let row = |row: crate::workload::RecordedRow| {
        let (session, ids) = (row.session, reader.hash_ids(&row));
        format!(
            "{:?} {} {} {session} {} {ids:?}",
            row.arrival_ms, row.input, row.output, row.delay_ms
        )
    };
    reader.rows().map(row).collect()
}

#[test]
fn the_page_has_the_table_of_what_can_be_converted() {
    let mut reasons: Vec<&str> = Vec::new();
    let names: Vec<String> =
        ConvertTarget::ALL.iter().map(|target| format!("`{}`", target.format().name())).collect();
    let mut table =
        format!("| from | {} |\n|{}\n", names.join(" | "), " --- |".repeat(names.len() + 1));
    for from in TraceFormat::ALL {
        let cell = |target: &ConvertTarget| match target.refusal(*from) {
            None => "yes".to_owned(),
            Some(why) => {
                let known = reasons.iter().position(|reason| *reason == why);
                let at = known.unwrap_or_else(|| {
                    reasons.push(why);
                    reasons.len() - 1
                });
                (at + 1).to_string()
            }
        };
        let cells: Vec<String> = ConvertTarget::ALL.iter().map(cell).collect();
        writeln!(table, "| `{}` | {} |", from.name(), cells.join(" | "))
            .expect("a String takes every write");
    }
    table.push('\n');
    for (number, reason) in (1..).zip(&reasons) {
        writeln!(table, "{number}. {reason}").expect("a String takes every write");
    }
    assert!(PAGE.contains(&table), "docs/traces.md needs this table:\n{table}");
}

#[test]
fn the_page_says_what_each_loss_is_and_they_are_in_order() {
    let row = |(name, meaning): &(&str, &str)| format!("| `{name}` | {meaning} |\n");
    let table: String = LOSSES.iter().map(row).collect();
    assert!(PAGE.contains(&table), "docs/traces.md needs this table:\n{table}");
    assert!(LOSSES.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn lengths_alone_become_rows_whose_prompts_are_unique() {
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.0010000,4808,10\n2023-11-16 18:17:03.0020005,3180,8\n";
    let (text, lost) = converted(TraceFormat::Azure, azure, ConvertTarget::Mooncake);
    assert_eq!(
        text,
        "{\"timestamp\":0.0,\"input_length\":4808,\"output_length\":10}\n{\"timestamp\":1.0005,\"input_length\":3180,\"output_length\":8}\n"
    );
    assert_eq!(lost, "origin 2");
    let absent = ReadOptions { hashes: HashIds::Absent, ..options(TraceFormat::Mooncake) };
    let shard = Shard::new("a.csv", azure.as_bytes().to_vec());
    let (before, _) = read_corpus(&[shard], &options(TraceFormat::Azure)).expect("right");
    assert_eq!(rows(&read(&absent, &text)), rows(&before));
    let burst = "Timestamp,Model,Request tokens,Response tokens\n5,GPT-4,8,2\n";
    let (_, lost) = converted(TraceFormat::BurstGpt, burst, ConvertTarget::MooncakeDelta);
    assert_eq!(lost, "model 1", "by the name of its column");
    let (text, lost) = converted(TraceFormat::Azure, azure, ConvertTarget::AppliedComputeAgentic);
    assert_eq!(text.lines().count(), 2);
    assert_eq!(lost, "timestamp 2");
}

#[test]
fn sessions_of_tool_calls_are_the_same_as_rows_and_back() {
    let text = "{\"num_turns\":2,\"input_prompt_length\":10,\"assistant_response_length\":[3,1],\"tool_call_output_length\":[4,0],\"tool_call_latency\":[0.1,2.3],\"final_assistant_response_length\":7}\n{\"num_turns\":0,\"input_prompt_length\":9,\"assistant_response_length\":[],\"tool_call_output_length\":[],\"tool_call_latency\":[],\"final_assistant_response_length\":2}\n";
    let (applied, mooncake) = (TraceFormat::AppliedComputeAgentic, TraceFormat::Mooncake);
    let (written, lost) = converted(applied, text, ConvertTarget::Mooncake);
    assert_eq!(lost, "");
    assert_eq!(rows(&read(&options(mooncake), &written)), rows(&read(&options(applied), text)));
    let (again, lost) = converted(mooncake, &written, ConvertTarget::AppliedComputeAgentic);
    assert_eq!(lost, "session-id 2", "nothing else: blocks are told by lengths");
    assert_eq!(rows(&read(&options(applied), &again)), rows(&read(&options(applied), text)));
    let shared = written.replace("[5,6,7]", "[0,1,2]");
    let (_, lost) = converted(mooncake, &shared, ConvertTarget::AppliedComputeAgentic);
    assert_ne!(shared, written, "the second session has these blocks: {written}");
    assert_eq!(lost, "hash-ids 1, session-id 2", "{shared}");
    let shrunk = "{\"session_id\":\"a\",\"timestamp\":0,\"input_length\":8,\"output_length\":1,\"hash_ids\":[1,2]}\n{\"session_id\":\"a\",\"timestamp\":1,\"input_length\":8,\"output_length\":1,\"hash_ids\":[1,2]}\n";
    let refused = told(mooncake, shrunk, ConvertTarget::AppliedComputeAgentic).expect_err("shrunk");
    assert!(
        refused.contains(
            "row 2 has 8 tokens: less than the prompt before it and its answer, which are 9"
        ),
        "{refused}"
    );
}

#[test]
fn what_a_turn_adds_is_no_whole_prompt() {
    let row = |session: &str| {
        format!(
            "{{\"session_id\":\"{session}\",\"timestamp\":0,\"input_length\":4,\"output_length\":1,\"hash_ids\":[1]}}\n"
        )
    };
    let (one, two) = (row("a") + &row("b"), row("a") + &row("a"));
    for (from, to) in [
        (TraceFormat::Mooncake, ConvertTarget::MooncakeDelta),
        (TraceFormat::MooncakeDelta, ConvertTarget::Mooncake),
    ] {
        let (written, lost) = converted(from, &one, to);
        assert_eq!(lost, "");
        assert_eq!(rows(&read(&options(to.format()), &written)), rows(&read(&options(from), &one)));
        let refused = told(from, &two, to).expect_err("two turns");
        assert!(refused.contains("sessions have several turns"), "{refused}");
    }
    let (text, lost) =
        converted(TraceFormat::MooncakeDelta, &two, ConvertTarget::AppliedComputeAgentic);
    assert!(text.contains("\"tool_call_output_length\":[4]"), "{text}");
    assert_eq!(lost, "hash-ids 2, session-id 1, timestamp 2");
}

#[test]
fn plays_become_rows_that_wait_for_nothing_and_share_no_block() {
    let header = r#"{"schema":"dynamo.agentic_mooncake","version":2,"block_size":4,"hash_id_scope":"local","source":{"format":"f","digest":"d"}}"#;
    let row = |id: &str, play: &str, waits: &str| {
        format!(
            "{{\"request_id\":\"{id}\",\"play_id\":\"{play}\",\"session_id\":\"s\",\"model\":\"m\",\"input_length\":8,\"output_length\":1,\"hash_ids\":[7,9],\"not_before_ms\":2.5,\"recorded_api_time_ms\":1,\"priority\":1,\"dependencies\":[{waits}]}}"
        )
    };
    let wait = r#"{"request_id":"a","trigger":"completion","delay_ms":1,"relation":"sequence"}"#;
    let text =
        [header.to_owned(), row("a", "p", ""), row("b", "p", wait), row("c", "q", "")].join("\n");
    let (written, lost) = converted(TraceFormat::AgenticMooncake, &text, ConvertTarget::Mooncake);
    assert_eq!(lost, "model 3, plays 3, priority 3, recorded-end 3, session-id 3");
    let corpus = read(&options(TraceFormat::Mooncake), &written);
    let ids: Vec<Vec<u64>> =
        corpus.reader().rows().map(|row| corpus.reader().hash_ids(&row)).collect();
    assert_eq!(ids, [[0, 1], [0, 1], [2, 3]]);
    assert!(corpus.is_plain(), "each stands alone");
    let refused = told(TraceFormat::AgenticMooncake, &text, ConvertTarget::Weka).expect_err("no");
    assert!(refused.contains("would be told by times"), "{refused}");
}

#[test]
fn a_capture_without_sessions_becomes_rows_alone() {
    let event = |id: &str, at: u64| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"request":{{"request_id":"{id}","model":"m","output_tokens":2,"request_received_ms":{at},"total_time_ms":5,"ttft_ms":1,"replay":{{"trace_block_size":4,"input_length":6,"input_sequence_hashes":[1,{at}]}}}}}}"#,
            at + 5
        )
    };
    let text = [event("b", 2007), event("a", 2000)].join("\n");
    let (written, lost) = converted(TraceFormat::Dynamo, &text, ConvertTarget::Mooncake);
    assert_eq!(
        written,
        "{\"request_id\":\"a\",\"timestamp\":0.0,\"input_length\":6,\"output_length\":2,\"hash_ids\":[1,2000]}\n{\"request_id\":\"b\",\"timestamp\":7.0,\"input_length\":6,\"output_length\":2,\"hash_ids\":[1,2007]}\n"
    );
    assert_eq!(lost, "model 2, recorded-end 2, streaming 2, ttft 2");
    let refused = told(TraceFormat::Dynamo, &text, ConvertTarget::Weka).expect_err("no sessions");
    assert!(refused.contains("the request is of no session"), "{refused}");
    let refused = told(TraceFormat::Dynamo, &text, ConvertTarget::AgenticMooncake).expect_err("no");
    assert!(refused.contains("wait for nothing by name"), "{refused}");
}

#[test]
fn what_a_list_of_requests_cannot_say_of_a_capture_is_refused_where_it_stands() {
    let event = |session: &str, parent: &str, times: (u64, u64), fields: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"{session}"{parent}}},"request":{{"request_id":"{session}{}","request_received_ms":{}{fields}}}}}"#,
            times.1, times.0, times.0
        )
    };
    let all = r#","model":"m","output_tokens":1,"input_tokens":3"#;
    let of = |parent: &str| format!(r#","parent_session_id":"{parent}""#);
    let overlapping = [event("a", "", (5, 7), all), event("a", "", (1, 9), all)].join("\n");
    let refused = told(TraceFormat::Dynamo, &overlapping, ConvertTarget::Weka).expect_err("order");
    assert!(refused.contains("starts before the one above it"), "{refused}");
    let bare = event("a", "", (1, 2), "");
    let refused = told(TraceFormat::Dynamo, &bare, ConvertTarget::Weka).expect_err("no lengths");
    assert!(refused.contains("needs `model`, `output_tokens` and a prompt"), "{refused}");
    let early = [
        event("a", "", (1, 9), all),
        event("b", &of("a"), (5, 9), all),
        event("c", &of("b"), (3, 4), all),
    ];
    let refused = told(TraceFormat::Dynamo, &early.join("\n"), ConvertTarget::Weka);
    let refused = refused.expect_err("before its parent");
    assert!(refused.contains("session `c` starts before every request of its parent"), "{refused}");
}

#[test]
fn an_end_that_nobody_wrote_down_is_counted_where_the_target_must_state_one() {
    let text = r#"{"id":"t","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"m","in":8,"out":2,"hash_ids":[1,2]},{"t":5,"type":"n","model":"m","in":12,"out":2,"hash_ids":[1,2,3],"api_time":1},{"t":9,"type":"n","model":"m","in":12,"out":2,"hash_ids":[1,2,3],"api_time":0}]}"#;
    let (written, lost) = converted(TraceFormat::Weka, text, ConvertTarget::Dynamo);
    assert_eq!(lost, "unrecorded-end 1", "0 is a duration like any other: {written}");
}

#[test]
fn a_capture_as_weka_is_the_same_recording_and_other_plays() {
    let event = |turn: u64, blocks: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{},"agent_context":{{"session_id":"s"}},"request":{{"request_id":"r{turn}","model":"m","output_tokens":1,"request_received_ms":{},"total_time_ms":5,"replay":{{"trace_block_size":4,"input_length":8,"input_sequence_hashes":[{blocks}]}}}}}}"#,
            turn * 10 + 5,
            turn * 10
        )
    };
    // The second turn does not begin with the prompt of the first one.
    let text = [event(1, "1,2"), event(2, "1,3"), event(3, "1,2")].join("\n");
    let (written, lost) = converted(TraceFormat::Dynamo, &text, ConvertTarget::Weka);
    assert_eq!(lost, "clock 1, request-id 3");
    let graphs = |format: TraceFormat, text: &str| {
        let files = [TraceInput::bytes("a.jsonl", text.as_bytes())];
        let (mut graphs, options) = (Vec::new(), RecordedOptions::strict());
        let mut take = |tree: RecordedTree| {
            let starts = tree.requests().map(|(_, request)| request.start);
            graphs.push((tree.sessions.len(), starts.collect::<Vec<_>>()));
        };
        if format == TraceFormat::Weka {
            drop(read_weka(&files, options, &mut take).expect("right"));
        } else {
            drop(read_dynamo(&files, options, &mut take).expect("right"));
        }
        graphs
    };
    assert_eq!(graphs(TraceFormat::Weka, &written), graphs(TraceFormat::Dynamo, &text));
    let sessions = |format: TraceFormat, text: &str| {
        let corpus = read(&options(format), text);
        let reader = corpus.reader();
        let sessions: BTreeSet<usize> = reader.rows().map(|row| row.session).collect();
        sessions.len()
    };
    assert_eq!(sessions(TraceFormat::Dynamo, &text), 1, "a conversation is what has one name");
    assert_eq!(sessions(TraceFormat::Weka, &written), 2, "a conversation is what goes on");
}

#[test]
fn sums_that_a_trace_of_weka_states_are_losses_by_name() {
    let request = r#"{"t":2,"type":"n","model":"m","in":4,"out":1,"api_time":1}"#;
    let sums = r#""tool_tokens":7,"system_tokens":null"#;
    let text = format!(
        r#"{{"id":"t","models":["m"],"block_size":4,"hash_id_scope":"local","totals":{{"in":8}},{sums},"requests":[{request},{{"t":3,"type":"subagent","agent_id":"x","status":"completed","total_tokens":5,"tool_use_count":0,"tool_tokens":7,"system_tokens":9,"requests":[{}]}}]}}"#,
        request.replace(":2,", ":3,")
    );
    let sums = "system-tokens 1, tool-tokens 2, tool-use-count 1, total-tokens 1, totals 1";
    for target in [ConvertTarget::Dynamo, ConvertTarget::AgenticMooncake, ConvertTarget::Mooncake] {
        let (_, lost) = converted(TraceFormat::Weka, &text, target);
        assert!(lost.contains(sums), "{target:?}: {lost}");
    }
}

/// Counts lines, each of which it takes by itself, up to a number of them.
struct Lines {
    taken: usize,
    room: usize,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        assert_eq!(end, Some(bytes.len() - 1), "a whole line and no more");
        if self.taken == self.room {
            return Err(io::Error::other("full"));
        }
        self.taken += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_written_goes_out_line_by_line_and_a_full_disk_is_told() {
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.0010000,4808,10\n2023-11-16 18:17:03.0020005,3180,8\n";
    let request = |at: u32| {
        format!(
            r#"{{"t":{at},"type":"n","model":"m","in":8,"out":2,"hash_ids":[1,2],"api_time":1}}"#
        )
    };
    let weka = |id: &str| {
        format!(
            r#"{{"id":"{id}","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{},{}]}}"#,
            request(0),
            request(5)
        )
    };
    let weka = [weka("a"), weka("b")].join("\n");
    let (capture, _) = converted(TraceFormat::Weka, &weka, ConvertTarget::Dynamo);
    for (from, text, target, lines) in [
        (TraceFormat::Azure, azure, ConvertTarget::Mooncake, 2),
        (TraceFormat::Azure, azure, ConvertTarget::AppliedComputeAgentic, 2),
        (TraceFormat::Weka, &weka, ConvertTarget::AgenticMooncake, 5),
        (TraceFormat::Weka, &weka, ConvertTarget::Dynamo, 4),
        (TraceFormat::Dynamo, &capture, ConvertTarget::Weka, 2),
    ] {
        let source = ConvertedSource { format: "f".to_owned(), digest: "d".to_owned() };
        let name = if from.is_table() { "a.csv" } else { "a.jsonl" };
        let shard = [Shard::new(name, text.as_bytes().to_vec())];
        let to = |out: &mut Lines| convert(&shard, &options(from), (target, &source), out);
        let mut out = Lines { taken: 0, room: usize::MAX };
        to(&mut out).expect("it can be said");
        assert_eq!(out.taken, lines, "{from:?} to {target:?}");
        let mut full = Lines { taken: 0, room: lines - 1 };
        let error = to(&mut full).expect_err("no room for the last line");
        assert!(matches!(error, ConvertError::Output(_)), "{from:?} to {target:?}: {error:?}");
    }
}

#[test]
fn names_that_traces_share_are_told_apart_in_a_capture() {
    let trace = |id: &str| {
        format!(
            r#"{{"id":"{id}","models":["m","other"],"block_size":4,"hash_id_scope":"local","requests":[{{"type":"n","t":0,"model":"m","in":6,"out":1,"hash_ids":[1],"api_time":0.0015}},{{"type":"subagent","t":1,"agent_id":"x","status":"async_launched","requests":[{{"type":"n","t":1.0005,"model":"m","in":8,"out":1,"hash_ids":[1,2]}}]}}]}}"#
        )
    };
    let text = [trace("a"), trace("b")].join("\n");
    let (written, lost) = converted(TraceFormat::Weka, &text, ConvertTarget::Dynamo);
    assert_eq!(lost, "models 2, sub-millisecond 2, unrecorded-end 2");
    for name in ["\"a/x\"", "\"b/x\"", "\"a/x:0\"", "\"b:0\"", "\"background\""] {
        assert!(written.contains(name), "{name}: {written}");
    }
    let hashes: Vec<&str> =
        written.lines().filter_map(|line| line.split("hashes\":[").nth(1)).collect();
    let firsts: Vec<&str> = hashes.iter().filter_map(|list| list.split(',').next()).collect();
    assert_eq!(firsts.len(), 4);
    assert!(
        firsts[0] == firsts[1] && firsts[2] == firsts[3] && firsts[0] != firsts[2],
        "{written}"
    );
    let shard = Shard::new("a.jsonl", written.into_bytes());
    let (corpus, counts) = read_corpus(&[shard], &options(TraceFormat::Dynamo)).expect("right");
    assert_eq!((corpus.len(), counts.sessions), (4, 4));
    let same = [trace("a"), trace("a")].join("\n");
    let refused = told(TraceFormat::Weka, &same, ConvertTarget::Dynamo).expect_err("one name");
    assert!(refused.contains("`a`"), "{refused}");
}
