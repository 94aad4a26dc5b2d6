//! Parts of traces: what belongs together stays together, and every record is copied as it was.

use proptest::prelude::*;

use crate::trace::{
    ReadOptions, RecordedOptions, Shard, TraceFormat, TraceInput, read_corpus, read_weka,
};
use crate::units::BlockSize;

use super::{Copied, Head, Picked, Scan};

const AGENTIC: &str = r#"{"schema":"dynamo.agentic_mooncake","version":2,"block_size":64,"hash_id_scope":"local","source":{"format":"f","digest":"d"}}"#;

fn scan(format: TraceFormat, files: &[(&str, &str)]) -> Scan {
    let files = files.iter().map(|(name, text)| TraceInput::bytes(name, text.as_bytes()));
    Scan::of(files.collect(), format, None).expect("records")
}

fn copied(scan: &Scan, picked: &Picked) -> Vec<(String, Copied)> {
    let mut outputs = vec![Vec::new(); picked.outputs];
    let counts = scan.copy(picked, &mut outputs).expect("copied");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("texts");
    outputs.into_iter().map(text).zip(counts).collect()
}

fn head(format: TraceFormat, text: &str, head: Head) -> String {
    let scan = scan(format, &[("a.jsonl", text)]);
    copied(&scan, &scan.head(head).expect("a head")).remove(0).0
}

fn names(scan: &Scan) -> Vec<(&str, u64, u64)> {
    let tree = |tree: &'_ super::Tree| (tree.records, tree.requests);
    scan.trees().iter().map(|one| (one.name.as_str(), tree(one).0, tree(one).1)).collect()
}

#[test]
fn sessions_of_a_capture_belong_to_their_root_in_whatever_file_they_stand() {
    let event = |kind: &str, session: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"{kind}","event_time_unix_ms":9,"agent_context":{{"session_id":"{session}"{parent}}}{rest}}}"#
        )
    };
    let parent = |name: &str| format!(r#","parent_session_id":"{name}""#);
    let request = r#","request":{"request_id":"x","new":1}"#;
    let one = [
        event("request_end", "leaf", &parent("child"), request),
        r#"{"verification":"u"}"#.to_owned(),
        event("request_end", "other", &parent("not here"), request),
    ];
    let two = [
        format!(r#"{{"timestamp":1,"event":{}}}"#, event("request_end", "child", &parent("root"), request)),
        event("tool_end", "root", "", ""),
        event("request_end", "root", "", request),
        r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9,"request":{"request_id":"y"}}"#.to_owned(),
    ];
    let (one, two) = (one.join("\n"), two.join("\n\n"));
    let scan = scan(TraceFormat::Dynamo, &[("a.jsonl", &one), ("b.jsonl", &two)]);
    assert_eq!(names(&scan), [("root", 4, 3), ("other", 1, 1), ("row 6", 1, 1)]);
    assert_eq!(scan.markers, 1);
    let first = copied(&scan, &scan.head(Head::Trees(1)).expect("a head")).remove(0);
    let lines: Vec<&str> = first.0.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], one.lines().next().expect("a line"), "as it was");
    assert_eq!(first.1, Copied { records: 4, requests: 3, trees: 1 });
}

#[test]
fn plays_that_are_left_out_leave_no_gap_in_the_places_of_others() {
    let row = |id: &str, play: &str, ordinal: u64, start: u64| {
        format!(
            r#"{{"request_id":"{id}","play_id":"{play}","source_play_ordinal": {ordinal} ,"session_id":"s{play}","model":"m","input_length":64,"output_length":1,"hash_ids":[1],"not_before_ms":{start},"dependencies":[],"extra":"source_play_ordinal"}}"#
        )
    };
    let rows = [
        row("a", "p", 2, 0),
        row("b", "q", 0, 5000),
        row("c", "p", 2, 9000),
        row("d", "r", 1, 4000),
    ];
    let text = format!("{AGENTIC}\n{}\n", rows.join("\n"));
    let kept = head(TraceFormat::AgenticMooncake, &text, Head::Trees(2));
    let expected = [
        rows[0].replace("\": 2 ,", "\": 1 ,"),
        rows[1].clone(),
        rows[2].replace("\": 2 ,", "\": 1 ,"),
    ];
    assert_eq!(kept, format!("{AGENTIC}\n{}\n", expected.join("\n")));
    let early = head(TraceFormat::AgenticMooncake, &text, Head::Ms(4500.0));
    assert_eq!(early.lines().count(), 4, "{early}");
    let options =
        ReadOptions::strict(TraceFormat::AgenticMooncake, BlockSize::new(64).expect("a size"));
    for kept in [kept, early] {
        read_corpus(&[Shard::new("k.jsonl", kept.into_bytes())], &options)
            .expect("a trace of its own");
    }
}

#[test]
fn rows_without_a_header_belong_together_by_what_they_wait_for() {
    let rows = [
        r#"{"request_id":"b","wait_for":["a"]}"#,
        r#"{"request_id":"z"}"#,
        r#"{"request_id":"a","timestamp":5}"#,
        r#"{"request_id":"c","wait_for":["b","a"]}"#,
    ];
    let scan = scan(TraceFormat::AgenticMooncake, &[("a.jsonl", &rows.join("\n"))]);
    assert_eq!(names(&scan), [("a", 3, 3), ("z", 1, 1)]);
}

#[test]
fn a_trace_over_many_lines_becomes_one_line_with_the_same_values() {
    let text = "{\n \"id\": \"a\\nb\",\r\n \"block_size\": 64,\n \"requests\": [{\"type\":\"n\"},\n{\"type\":\"subagent\",\"requests\":[{\"type\":\"s\"}]}]\n}\n";
    let scan = scan(TraceFormat::Weka, &[("a.json", text)]);
    let (copy, counts) = copied(&scan, &scan.head(Head::Trees(9)).expect("a head")).remove(0);
    assert_eq!((copy.lines().count(), counts.requests), (1, 2));
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    assert_eq!(value(&copy), value(text));
}

#[test]
fn what_is_null_is_absent_as_readers_have_it() {
    let rows = [
        r#"{"schema":null,"request_id":"a","session_id":null,"input_length":4,"output_length":1,"hash_ids":[1],"timestamp":0,"wait_for":null}"#,
        r#"{"request_id":"b","input_length":4,"output_length":1,"hash_ids":[1],"wait_for":["a"],"delay":4}"#,
    ];
    let request = r#"{"t":0,"type":"n","model":"m","in":4,"out":1,"hash_ids":[1],"api_time":1,"requests":null}"#;
    let weka = format!(
        r#"{{"id":"t","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{request}]}}"#
    );
    let event = |id: &str, waits: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9,"agent_context":{{"session_id":"s","parent_session_id":null}},"request":{{"request_id":"{id}","output_tokens":1,"replay":{{"trace_block_size":4,"input_length":4,"input_sequence_hashes":[1],"dependencies":{waits}}}}}}}"#
        )
    };
    let envelope = format!("{{\"schema\":null,\"event\":{}}}", event("y", "[]"));
    let capture = [event("x", "null"), envelope].join("\n");
    for (format, text, name, requests) in [
        (TraceFormat::AgenticMooncake, rows.join("\n"), "a", 2),
        (TraceFormat::Weka, weka, "t", 1),
        (TraceFormat::Dynamo, capture, "s", 2),
    ] {
        let options = ReadOptions::strict(format, BlockSize::new(4).expect("a size"));
        read_corpus(&[Shard::new("a.jsonl", text.clone().into_bytes())], &options)
            .unwrap_or_else(|bag| panic!("{format:?}: {bag:?}"));
        let scan = scan(format, &[("a.jsonl", &text)]);
        assert_eq!(names(&scan), [(name, text.lines().count() as u64, requests)]);
    }
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let weka = scan(TraceFormat::Weka, &[("a.jsonl", r#"{"requests":[]}"#)]);
    assert!(weka.head(Head::Rows(1)).is_err() && weka.head(Head::Ms(1.0)).is_err());
    assert!(weka.sample(2, 1).is_err() && weka.split(2).is_err() && weka.split(0).is_err());
    let files =
        ["a,b\n1,2\n", "a,c\n1,2\n"].map(|text| TraceInput::bytes("t.csv", text.as_bytes()));
    let bag = Scan::of(files.to_vec(), TraceFormat::Csv, None).expect_err("two headers");
    assert_eq!(bag.into_sorted()[0].place().as_deref(), Some("t.csv:1:1"));
    let wrong = [TraceInput::bytes("t.jsonl", b"{}\n{\"a\":\n".as_slice())];
    let bag = Scan::of(wrong.to_vec(), TraceFormat::Mooncake, None).expect_err("no JSON");
    assert_eq!(bag.into_sorted()[0].place().as_deref(), Some("t.jsonl:2:1"));
}

/// A row: its session, where it has one, and its place as its time.
fn rows(sessions: &[Option<u8>]) -> String {
    let row = |(at, session): (usize, &Option<u8>)| {
        let session = session.map_or(String::new(), |id| format!(r#","session_id":"s{id}""#));
        format!(
            "{{\"timestamp\":{at},\"input_length\":4,\"output_length\":1,\"hash_ids\":[{at}]{session}}}\n"
        )
    };
    sessions.iter().enumerate().map(row).collect()
}

#[test]
fn a_copy_of_all_is_the_records_as_they_are_in_every_format() {
    let cases = [
        (TraceFormat::Mooncake, rows(&[None, Some(1)])),
        (TraceFormat::MooncakeDelta, rows(&[Some(1), Some(1)])),
        (TraceFormat::AppliedComputeAgentic, "{\"num_turns\" : 2}\n".to_owned()),
        (TraceFormat::RagPulse, "{\"timestamp\":\"7\",\"hash_ids\":{}}\n".to_owned()),
        (TraceFormat::Weka, "{\"id\":\"a\", \"requests\":[]}\n".to_owned()),
        (TraceFormat::Csv, "a, b\n\"1\",2\n3,4\n".to_owned()),
        (
            TraceFormat::Azure,
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,1,1\n".to_owned(),
        ),
        (TraceFormat::BurstGpt, "Timestamp,Request tokens,Response tokens\n5,1,1\n".to_owned()),
        (
            TraceFormat::AgenticMooncake,
            format!("{AGENTIC}\n{{\"request_id\":\"r\",\"play_id\":\"p\"}}\n"),
        ),
    ];
    for (format, text) in cases {
        let with_blank = text.replace('\n', "\r\n") + "\n \n";
        assert_eq!(head(format, &with_blank, Head::Trees(9)), text, "{format:?}");
        assert_eq!(
            head(format, &with_blank, Head::Trees(0)).lines().count(),
            text.lines()
                .count()
                .min(usize::from(format.is_table() || format == TraceFormat::AgenticMooncake))
        );
    }
}

#[test]
fn trees_within_a_time_are_told_by_the_clock_that_their_rows_have() {
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.9990000,1,1\n2023-11-17 00:00:00.0010000,2,1\n2023-11-17 00:00:00,3,1\n";
    let kept = head(TraceFormat::Azure, azure, Head::Ms(2.0));
    assert_eq!(kept.lines().count(), 3, "{kept}");
    assert!(!kept.contains(",2,1"), "2 ms after the earliest is not less: {kept}");
    let burst = "Request tokens,Timestamp,Response tokens\n1,10,1\n2,\"10.5\",1\n3,11,1\n";
    assert_eq!(head(TraceFormat::BurstGpt, burst, Head::Ms(600.0)).lines().count(), 3);
    let rag = "{\"timestamp\":\"8\"}\n{\"timestamp\":\"7.5\"}\n{\"timestamp\":\"9\"}\n";
    assert_eq!(head(TraceFormat::RagPulse, rag, Head::Ms(600.0)).lines().count(), 2);
    let mooncake = scan(TraceFormat::Mooncake, &[("a.jsonl", "{\"timestamp\":1}\n{}\n")]);
    assert!(mooncake.head(Head::Ms(1.0)).is_err(), "a row has no time");
}

#[test]
fn a_capture_keeps_together_what_waits_across_sessions() {
    let event = |session: &str, id: &str, waits: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9,"agent_context":{{"session_id":"{session}"}},"request":{{"request_id":"{id}","replay":{{"dependencies":{waits}}}}}}}"#
        )
    };
    let lines = [
        event("a", "a1", "[]"),
        event("b", "b1", r#"[{"request_id":"c1"},{"request_id":"gone"}]"#),
        event("c", "c1", "null"),
    ];
    let scan = scan(TraceFormat::Dynamo, &[("a.jsonl", &lines.join("\n"))]);
    assert_eq!(names(&scan), [("a", 1, 1), ("c", 2, 2)]);
}

#[test]
fn sessions_of_a_capture_that_asked_nothing_are_no_trees() {
    let event = |kind: &str, session: &str, rest: &str| {
        format!(
            r#"{{"schema":"dynamo.request.trace.v1","event_type":"{kind}","event_time_unix_ms":9,"agent_context":{{"session_id":"{session}"}}{rest}}}"#
        )
    };
    let tool = event("tool_end", "idle", "");
    let asks = |session: &str| {
        event("request_end", session, &format!(r#","request":{{"request_id":"{session}1"}}"#))
    };
    let used = event("tool_end", "a", "");
    let text = [tool.clone(), asks("a"), used.clone(), asks("b"), tool.clone()].join("\n");
    let scan = scan(TraceFormat::Dynamo, &[("a.jsonl", &text)]);
    assert_eq!(names(&scan), [("a", 2, 1), ("b", 1, 1)]);
    assert_eq!(scan.without_request, 2);
    let parts = copied(&scan, &scan.split(2).expect("two trees"));
    assert_eq!(parts[0].0, [asks("a"), used].join("\n") + "\n", "with what its session did");
    assert_eq!(parts[1].0, asks("b") + "\n");
    assert!(scan.split(3).is_err(), "no part without a request");
    let idle = [TraceInput::bytes("t.jsonl", tool.into_bytes())];
    let bag = Scan::of(idle.to_vec(), TraceFormat::Dynamo, None).expect_err("no requests");
    assert!(bag.into_sorted()[0].message().contains("`t.jsonl` holds no requests"));
}

#[test]
fn a_part_that_does_not_show_what_nested_times_count_from_is_told() {
    let trace = |id: &str, marker: u32, below: &str| {
        format!(
            r#"{{"id":"{id}","block_size":4,"hash_id_scope":"local","requests":[{{"t":0,"type":"n","model":"m","in":4,"out":1}},{{"t":{marker},"type":"subagent","agent_id":"x","status":"completed","requests":[{below}]}}]}}"#
        )
    };
    let request = r#"{"t":5,"type":"n","model":"m","in":4,"out":1}"#;
    let (early, late, none) = (trace("a", 4, request), trace("b", 9, request), trace("c", 9, ""));
    let told = |traces: &[&str]| {
        let scan = scan(TraceFormat::Weka, &[("a.jsonl", &traces.join("\n"))]);
        let picked = scan.split(traces.len()).expect("parts");
        let warning = scan.basis_warning(&picked, |part| format!("p{part}"));
        (scan.reread(&picked), warning.map_or(String::new(), |found| found.message().to_owned()))
    };
    assert_eq!(told(&[&early, &none]).0, [0_usize; 0], "the whole shows nothing, nor do its parts");
    assert_eq!(told(&[&late, &none]).0, [0_usize; 0], "what has no nested time is read one way");
    let (parts, message) = told(&[&early, &late, &none]);
    assert_eq!(parts, [0], "5 s lie behind the marker at 4 s, and before that at 9 s");
    assert!(message.starts_with("`p0`: times below sub-agents"), "{message}");
    let again = trace("d", 4, request);
    let (parts, message) = told(&[&late, &early, &again]);
    assert_eq!(parts, [1, 2]);
    assert!(message.starts_with("`p1` and 1 more: "), "{message}");
    // What is told is what the reader finds.
    let origins = |traces: &[&str]| {
        let files = [TraceInput::bytes("a.jsonl", traces.join("\n").into_bytes())];
        let mut starts = Vec::new();
        let mut take = |tree: crate::trace::RecordedTree| {
            starts.push(tree.sessions[1].requests[0].start.get() / 1_000_000_000);
        };
        read_weka(&files, RecordedOptions::strict(), &mut take).expect("traces");
        starts
    };
    assert_eq!(origins(&[&early]), [5]);
    assert_eq!(origins(&[&early, &late]), [9, 14]);
}

#[test]
fn a_document_that_is_no_json_is_refused_before_its_lines_are_joined() {
    let files = [TraceInput::bytes("a.json", b"{\n\"id\": \"a\nb\", \"requests\": []}".as_slice())];
    let bag = Scan::of(files.to_vec(), TraceFormat::Weka, None).expect_err("a line end in a text");
    assert_eq!(bag.into_sorted()[0].place().as_deref(), Some("a.json:2:1"));
    let row = r#"{"request_id":"a","play_id":"p"}"#;
    let files = [("a.jsonl", format!("{AGENTIC}\n{row}")), ("b.jsonl", row.to_owned())];
    let files = files.map(|(name, text)| TraceInput::bytes(name, text.into_bytes()));
    let bag = Scan::of(files.to_vec(), TraceFormat::AgenticMooncake, None).expect_err("one header");
    assert!(bag.into_sorted()[0].message().contains("some have none"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn shards_hold_every_record_once_and_every_tree_whole(
        sessions in prop::collection::vec(prop::option::of(0_u8..6), 1..40), shards in 1_usize..5
    ) {
        let text = rows(&sessions);
        let scan = scan(TraceFormat::Mooncake, &[("a.jsonl", &text)]);
        prop_assume!(shards <= scan.trees().len());
        let parts = copied(&scan, &scan.split(shards).expect("shards"));
        let mut all: Vec<&str> = parts.iter().flat_map(|(part, _)| part.lines()).collect();
        let mut expected: Vec<&str> = text.lines().collect();
        all.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(all, expected);
        prop_assert_eq!(parts.iter().map(|(_, counts)| counts.trees).sum::<u64>(), scan.trees().len() as u64);
        for (part, counts) in &parts {
            prop_assert!(counts.trees > 0);
            let options = ReadOptions::strict(TraceFormat::Mooncake, BlockSize::new(4).expect("a size"));
            let (corpus, _) = read_corpus(&[Shard::new("a.jsonl", part.clone().into_bytes())], &options).expect("a trace of its own");
            prop_assert_eq!(corpus.len() as u64, counts.records);
        }
    }

    #[test]
    fn a_sample_is_drawn_by_its_seed_keeps_order_and_holds_the_smaller_ones(
        sessions in prop::collection::vec(prop::option::of(0_u8..6), 1..40), seed in any::<u64>()
    ) {
        let text = rows(&sessions);
        let scan = scan(TraceFormat::Mooncake, &[("a.jsonl", &text)]);
        let mut smaller = String::new();
        for trees in 0..=scan.trees().len() as u64 {
            let picked = scan.sample(trees, seed).expect("a sample");
            prop_assert_eq!(&picked, &scan.sample(trees, seed).expect("a sample"));
            let (part, counts) = copied(&scan, &picked).remove(0);
            prop_assert_eq!(counts.trees, trees);
            let lines: Vec<&str> = part.lines().collect();
            prop_assert!(smaller.lines().all(|line| lines.contains(&line)));
            let mut rest = text.lines();
            prop_assert!(lines.iter().all(|line| rest.any(|other| other == *line)), "in order");
            smaller = part;
        }
        prop_assert_eq!(smaller, text);
    }
}
