//! Captures written by hand, each with what it must be read as.

use std::io::Write;

use crate::trace::recorded::{RecordedOptions, RecordedTree};
use crate::trace::{DynamoRead, Strictness, TraceInput, pack_gzip, read_dynamo};
use crate::units::Nanos;

type Found = Result<(Vec<RecordedTree>, DynamoRead), Vec<String>>;

/// Reads files of one capture: trees and counts, or every problem with its place.
fn read(inputs: &[TraceInput], options: RecordedOptions) -> Found {
    let mut trees = Vec::new();
    match read_dynamo(inputs, options, &mut |tree| trees.push(tree)) {
        Ok(read) => Ok((trees, read)),
        Err(bag) => Err(bag
            .into_sorted()
            .iter()
            .map(|problem| {
                let place = problem.place().unwrap_or_default();
                format!("{place} {problem}")
            })
            .collect()),
    }
}

fn strict(lines: &[String]) -> Found {
    read(&[TraceInput::bytes("a.jsonl", lines.join("\n").into_bytes())], RecordedOptions::strict())
}

/// Returns a record of a request in session `session`; `rest` follows in its request.
fn request(id: &str, session: &str, parent: &str, end_ms: u64, rest: &str) -> String {
    let parent = match parent {
        "" => String::new(),
        parent => format!(r#","parent_session_id":"{parent}""#),
    };
    format!(
        r#"{{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":{end_ms},"agent_context":{{"session_id":"{session}"{parent}}},"request":{{"request_id":"{id}","output_tokens":2{rest}}}}}"#
    )
}

/// Returns the names of the sessions of each tree with the names of their requests.
fn shape(trees: &[RecordedTree]) -> Vec<Vec<(String, Vec<String>)>> {
    let session = |session: &crate::trace::RecordedSession| {
        let names = session.requests.iter().map(|request| request.id.clone().unwrap_or_default());
        (session.id.clone(), names.collect())
    };
    trees.iter().map(|tree| tree.sessions.iter().map(session).collect()).collect()
}

#[test]
fn trees_span_files_and_do_not_depend_on_the_order_of_lines() {
    let mut lines = vec![
        request("a1", "a", "", 200, ""),
        request("b0", "b", "a", 150, ""),
        request("c0", "c", "b", 160, ""),
        request("a0", "a", "", 100, ""),
        request("z0", "z", "", 50, ""),
    ];
    let files = |lines: &[String]| {
        let (one, two) = lines.split_at(2);
        [
            TraceInput::bytes("t.000000.jsonl.gz", pack_gzip(one.join("\n").as_bytes())),
            TraceInput::bytes("t.000001.jsonl", two.join("\n").into_bytes()),
        ]
    };
    let expected = shape(&read(&files(&lines), RecordedOptions::strict()).expect("right").0);
    let names = |session: &str, ids: &[&str]| {
        (session.to_owned(), ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(
        expected,
        [
            vec![names("a", &["a0", "a1"]), names("b", &["b0"]), names("c", &["c0"])],
            vec![names("z", &["z0"])]
        ]
    );
    lines.reverse();
    assert_eq!(shape(&read(&files(&lines), RecordedOptions::strict()).expect("right").0), expected);
}

#[test]
fn bare_and_enveloped_records_mix_and_markers_are_counted() {
    let bare = request("a0", "a", "", 100, r#","request_received_ms":90,"total_time_ms":9.6"#);
    let wrapped = format!(
        "{{\"timestamp\":5,\"event\":{}}}",
        request("a1", "a", "", 200, r#","total_time_ms":10.5"#)
    );
    let lines = [
        bare,
        String::new(),
        wrapped,
        r#"{"verification":"trace-s3-uploader"}"#.to_owned(),
        r#"{"event":"flush"}"#.to_owned(),
    ];
    let (trees, read) = strict(&lines).expect("a right capture");
    let requests = &trees[0].sessions[0].requests;
    assert_eq!(trees[0].zero.get(), 90_000_000);
    let times: Vec<_> = requests
        .iter()
        .map(|request| (request.start.get(), request.duration.map(Nanos::get)))
        .collect();
    // 10.5 ms are 10 whole ones, half to even: clocks of captures count milliseconds.
    assert_eq!(times, [(0, Some(9_600_000)), (100_000_000, Some(10_500_000))]);
    assert_eq!(requests[1].ended.map(Nanos::get), Some(110_000_000));
    assert_eq!((read.counts.markers, read.counts.blank_lines), (2, 1));
    assert_eq!(read.counts.unknown_keys.get("verification"), Some(&1));
}

#[test]
fn hashes_keep_64_bits_and_must_fit_the_prompt() {
    let replay = |length: u64, hashes: &str| {
        format!(
            r#","replay":{{"trace_block_size":16,"input_length":{length},"input_sequence_hashes":[{hashes}]}}"#
        )
    };
    let right = request("a0", "a", "", 1, &replay(17, "14879255164371896291,1"));
    let (trees, _) = strict(&[right]).expect("a right capture");
    let hashes = trees[0].sessions[0].requests[0].hashes.as_deref();
    assert_eq!(hashes, Some(&[14_879_255_164_371_896_291, 1][..]));
    let wrong = request("a0", "a", "", 1, &replay(33, "1,2"));
    let expected = ["a.jsonl:1:243 2 hashes, but ceil(33/16) = 3"];
    assert_eq!(strict(&[wrong]).expect_err("too few"), expected);
    let negative = request("a0", "a", "", 1, &replay(16, "-1"));
    let expected = [
        "a.jsonl:1:244 `input_sequence_hashes`: `-1` is no integer without sign, fraction and exponent",
    ];
    assert_eq!(strict(&[negative]).expect_err("negative"), expected);
}

#[test]
fn rules_across_records_name_both_places() {
    let twice = [request("a0", "a", "", 1, ""), request("a0", "a", "", 2, "")];
    let found = strict(&twice).expect_err("twice");
    assert_eq!(found, ["a.jsonl:2:11 the request `a0` stands at a.jsonl:1:11 as well"]);
    let cycle = [
        request("a0", "A", "B", 1, ""),
        request("b0", "B", "A", 2, ""),
        request("c0", "C", "A", 3, ""),
    ];
    let found = strict(&cycle).expect_err("a cycle");
    assert_eq!(found, ["a.jsonl:1:11 parent_link cycle detected: A -> B -> A"]);
    let orphan = [request("a0", "a", "gone", 1, "")];
    let found = strict(&orphan).expect_err("an orphan");
    let expected =
        ["a.jsonl:1:11 the parent `gone` of session `a` has no requests in this capture"];
    assert_eq!(found, expected);
    let replay = |size: u32| {
        format!(
            r#","replay":{{"trace_block_size":{size},"input_length":1,"input_sequence_hashes":[1]}}"#
        )
    };
    let mixed = [request("a0", "a", "", 1, &replay(16)), request("a1", "a", "", 2, &replay(32))];
    let found = strict(&mixed).expect_err("mixed");
    let expected = [
        "a.jsonl:2:11 mixed replay trace_block_size values are not supported: 32, and that of a.jsonl:1:11 is 16",
    ];
    assert_eq!(found, expected);
    let input = TraceInput::bytes("a.jsonl", mixed.join("\n").into_bytes());
    let bag = read_dynamo(&[input], RecordedOptions::strict(), &mut |_| {}).expect_err("mixed");
    assert_eq!(bag.into_sorted()[0].code().as_str(), "trace::block_size");
}

#[test]
fn a_lenient_reading_keeps_the_first_of_two_records_and_makes_an_orphan_a_root() {
    let lines = [
        request("a0", "a", "gone", 1, ""),
        request("a0", "a", "gone", 2, ""),
        request("a0", "b", "", 3, ""),
    ];
    let input = TraceInput::bytes("a.jsonl", lines.join("\n").into_bytes());
    let options = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let (trees, found) = read(&[input], options).expect("a lenient reading");
    assert_eq!((trees.len(), found.counts.repeated, found.counts.orphans), (2, 1, 1));
    assert_eq!(trees[0].sessions[0].parent_id.as_deref(), Some("gone"));
}

#[test]
fn requests_without_a_session_are_handed_over_apart() {
    let line = request("a0", "a", "", 1, "").replace(r#""agent_context":{"session_id":"a"},"#, "");
    let (trees, found) = strict(&[line]).expect("a right capture");
    assert!(trees.is_empty());
    assert_eq!((found.without_session.len(), found.counts.without_session), (1, 1));
    let empty = strict(&[String::new()]).expect_err("nothing");
    assert_eq!(empty, [" `a.jsonl` holds no `request_end` records"]);
}

#[test]
fn every_wrong_record_is_shown() {
    let lines = [
        "{\"schema\":\"dynamo.request.trace.v1\",".to_owned(),
        r#"{"schema":"dynamo.request.trace.v2"}"#.to_owned(),
        request("a0", "a", "", 1, "").replace(r#""session_id":"a""#, ""),
        request("a1", "a", "", 1, r#","ttft_ms":1e999,"total_time_ms":-1,"worker":3"#),
        request("a2", "a", "", 1, r#","input_tokens":3,"kv_hit_rate":1e999"#),
        request("a3", "a", "", 1, "").replace("request_end", "request_begin"),
    ];
    let expected = [
        "a.jsonl:1:36 no JSON object: EOF while parsing a value",
        "a.jsonl:2:11 `schema` must be `\"dynamo.request.trace.v1\"`, found `\"dynamo.request.trace.v2\"`",
        "a.jsonl:3:11 `session_id` is missing: expected a text",
        "a.jsonl:4:11 `worker` must be an object",
        "a.jsonl:4:179 `ttft_ms` must be a number from 0 to what 2^64 ns are, found `1e999`",
        "a.jsonl:4:201 `total_time_ms` must be a number from 0 to what 2^64 ns are, found `-1`",
        "a.jsonl:5:200 `kv_hit_rate` must be a finite number, found `1e999`",
        "a.jsonl:6:50 `event_type` must be `request_end`, `tool_start`, `tool_end`, `tool_error` or `request_payload`, found `\"request_begin\"`",
    ];
    assert_eq!(strict(&lines).expect_err("wrong"), expected);
}

#[test]
fn a_packed_file_that_is_cut_says_how_far_it_could_be_read() {
    let lines: Vec<String> =
        (0..2000).map(|index| request(&format!("a{index}"), "a", "", index, "")).collect();
    let packed = pack_gzip(lines.join("\n").as_bytes());
    let cut = TraceInput::bytes("a.jsonl.gz", &packed[..packed.len() - 6]);
    let found = read(&[cut], RecordedOptions::strict()).expect_err("cut");
    assert!(found[0].contains("truncated or corrupt gzip stream: it is cut"), "{found:?}");
    let mut junk = packed.clone();
    junk.write_all(b"garbage").expect("a Vec takes every write");
    let found = read(&[TraceInput::bytes("a.jsonl.gz", junk)], RecordedOptions::strict());
    assert!(found.expect_err("junk")[0].contains("no gzip member"), "junk");
    let twice = [pack_gzip(lines[0].as_bytes()), pack_gzip(b"\n"), pack_gzip(lines[1].as_bytes())];
    let (trees, _) =
        read(&[TraceInput::bytes("A.JSONL.GZ", twice.concat())], RecordedOptions::strict())
            .expect("three members");
    assert_eq!(trees[0].sessions[0].requests.len(), 2);
}

/// `{"verification":"x"}` as the program `zstd` packs it, with a checksum.
const PACKED: [u8; 34] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0xa9, 0x00, 0x00, 0x7b, 0x22, 0x76, 0x65, 0x72, 0x69, 0x66,
    0x69, 0x63, 0x61, 0x74, 0x69, 0x6f, 0x6e, 0x22, 0x3a, 0x22, 0x78, 0x22, 0x7d, 0x0a, 0x1f, 0xaf,
    0xf1, 0xc0,
];

#[test]
fn zstandard_frames_are_read_one_after_another_and_checked() {
    let codes = |name: &str, bytes: &[u8]| {
        let input = TraceInput::bytes(name, bytes);
        let bag = read_dynamo(&[input], RecordedOptions::strict(), &mut |_| {}).expect_err("empty");
        bag.into_sorted().iter().map(|problem| problem.code().as_str()).collect::<Vec<_>>()
    };
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
    let twice = [&PACKED[..], &skipped, &PACKED].concat();
    assert_eq!(codes("a.jsonl.zst", &twice), ["trace::empty"]);
    assert_eq!(codes("a.jsonl.zst", &PACKED[..30]), ["trace::zstd"]);
    let mut wrong = PACKED;
    wrong[33] ^= 1;
    assert_eq!(codes("a.jsonl.zst", &wrong), ["trace::zstd"]);
    assert_eq!(codes("a.jsonl", &PACKED), ["trace::extension"]);
    assert_eq!(codes("a.jsonl.zst", b"{}"), ["trace::extension"]);
}

#[test]
fn a_long_chain_of_parents_that_closes_is_told_in_one_line_and_in_linear_time() {
    let count = 20_000;
    let lines: Vec<String> = (0..count)
        .map(|at| {
            request(
                &format!("r{at}"),
                &format!("s{at}"),
                &format!("s{}", (at + 1) % count),
                100,
                "",
            )
        })
        .collect();
    let problems = strict(&lines).expect_err("a cycle");
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("parent_link cycle detected: s0 -> s1 -> ")
            && problems[0].contains("(20000 sessions)"),
        "{}",
        problems[0]
    );
}

#[test]
fn what_contradicts_itself_is_an_error_or_counted() {
    let replay = r#","input_tokens":9,"replay":{"trace_block_size":4,"input_length":4,"input_sequence_hashes":[1]}"#;
    let lines = [
        request("a", "s", "r", 100, replay),
        request("b", "s", "t", 200, ""),
        request("c", "r", "", 50, ""),
    ];
    let problems = strict(&lines).expect_err("contradictions");
    assert_eq!(problems.len(), 2, "{problems:?}");
    let lenient = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let input = [TraceInput::bytes("a.jsonl", lines.join("\n").into_bytes())];
    let (trees, read) = read(&input, lenient).expect("let through");
    assert_eq!((trees.len(), read.counts.conflicts), (1, 2), "the first parent counts");
}
