//! Cases of spec/REPLAY.md §10 about reading captures, by their numbers; docs/graph.md lists where each is tested.

use crate::trace::recorded::{RecordedOptions, RecordedTree};
use crate::trace::{DynamoRead, TraceInput, pack_gzip, read_dynamo};

const RECORD: &str = r#"{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9,"agent_context":{"session_id":"a"},"request":{"request_id":"r","input_tokens":16,"output_tokens":2,"request_received_ms":5,"worker":{"prefill_worker_id":1},"replay":{"trace_block_size":16,"input_length":16,"input_sequence_hashes":[7]}}}"#;

/// Reads a file: trees and counts, or code and place of everything that is wrong.
fn read(name: &str, bytes: &[u8]) -> Result<(Vec<RecordedTree>, DynamoRead), Vec<String>> {
    let mut trees = Vec::new();
    let input = [TraceInput::bytes(name, bytes)];
    match read_dynamo(&input, RecordedOptions::strict(), &mut |tree| trees.push(tree)) {
        Ok(read) => Ok((trees, read)),
        Err(bag) => Err(bag
            .into_sorted()
            .iter()
            .map(|problem| {
                format!("{} {}", problem.code().as_str(), problem.place().unwrap_or_default())
            })
            .collect()),
    }
}

#[test]
fn case_28_whatever_is_no_capture_is_refused_where_it_stops_being_one() {
    let is = |from: &str, to: &str, code: &str| {
        assert_eq!(RECORD.matches(from).count(), 1, "{from}");
        let text = format!("{RECORD}\n{}", RECORD.replace(from, to).replace("\"r\"", "\"s\""));
        let found = read("c.jsonl", text.as_bytes()).expect_err(to);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{code} c.jsonl:2:")),
            "{found:?}"
        );
    };
    is("{\"schema\"", "{schema", "trace::syntax");
    is("trace.v1", "trace.v2", "trace::field");
    is(r#""session_id":"a""#, "", "trace::field");
    is("[7]", "[-7]", "trace::hash_ids");
    is("_size\":16", "_size\":0", "trace::field");
    let packed = pack_gzip(RECORD.as_bytes());
    let cut = read("c.jsonl.gz", &packed[..packed.len() / 2]).expect_err("cut");
    assert!(cut[0].starts_with("trace::gzip"), "{cut:?}");
    let mut garbage = packed[..10].to_vec();
    garbage.extend([0xff; 40]);
    let found = read("c.jsonl.gz", &garbage).expect_err("garbage");
    assert!(found[0].starts_with("trace::gzip"), "{found:?}");
    let text = [RECORD.as_bytes(), b"\n\"\xff\""].concat();
    assert_eq!(read("c.jsonl", &text).expect_err("no text"), ["trace::encoding c.jsonl:2:2"]);
}

#[test]
fn case_30_fields_that_nobody_knows_are_counted_at_every_level_and_change_nothing() {
    let more = RECORD
        .replace("{\"schema\"", "{\"x1\":1,\"schema\"")
        .replace("{\"session_id\"", "{\"x2\":{},\"session_id\"")
        .replace("{\"request_id\"", "{\"x3\":[1],\"request_id\"")
        .replace("{\"trace_block_size\"", "{\"x4\":null,\"trace_block_size\"");
    let (plain, _) = read("c.jsonl", RECORD.as_bytes()).expect("a capture");
    let (trees, counted) = read("c.jsonl", more.as_bytes()).expect("a capture");
    let known: Vec<&String> = counted.counts.unknown_keys.keys().collect();
    assert_eq!(known.len(), 4, "{known:?}");
    let of = |trees: &[RecordedTree]| {
        let request = &trees[0].sessions[0].requests[0];
        (request.input, request.output, request.hashes.clone(), request.start)
    };
    assert_eq!(of(&trees), of(&plain));
}

/// The other lane reads it and refuses it later.
#[test]
fn case_32_a_session_without_a_name_is_refused_where_it_stands() {
    let nameless = RECORD.replace(r#""session_id":"a""#, r#""session_id":"""#);
    let text = format!("{RECORD}\n{}", nameless.replace("\"r\"", "\"s\""));
    assert_eq!(
        read("c.jsonl", text.as_bytes()).expect_err("refused"),
        ["trace::field c.jsonl:2:117"]
    );
}
