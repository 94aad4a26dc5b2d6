//! Traces written by hand, each with what it must be read as.

use crate::trace::recorded::{RecordedOptions, RecordedTree, SpawnMode, TimestampBasis};
use crate::trace::{RecordedCounts, Strictness, TraceInput, read_weka};
use crate::units::Nanos;

/// Reads texts as files of one corpus: trees and counts, or every problem with its place.
fn read(
    files: &[(&str, &str)],
    options: RecordedOptions,
) -> Result<(Vec<RecordedTree>, RecordedCounts), Vec<String>> {
    let inputs: Vec<TraceInput> =
        files.iter().map(|(name, text)| TraceInput::bytes(name, text.as_bytes())).collect();
    let mut trees = Vec::new();
    match read_weka(&inputs, options, &mut |tree| trees.push(tree)) {
        Ok(counts) => Ok((trees, counts)),
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

fn one(text: &str) -> Result<(Vec<RecordedTree>, RecordedCounts), Vec<String>> {
    read(&[("a.jsonl", text)], RecordedOptions::strict())
}

/// Returns a trace of these entries.
fn trace(id: &str, entries: &[&str]) -> String {
    format!(
        r#"{{"id":"{id}","models":["m"],"block_size":64,"hash_id_scope":"local","requests":[{}]}}"#,
        entries.join(",")
    )
}

fn request(t: &str, rest: &str) -> String {
    format!(r#"{{"type":"n","t":{t},"model":"m","in":64,"out":8,"hash_ids":[1]{rest}}}"#)
}

fn subagent(t: &str, id: &str, status: &str, entries: &[&str]) -> String {
    format!(
        r#"{{"type":"subagent","t":{t},"agent_id":"{id}","subagent_type":"x","status":"{status}","requests":[{}]}}"#,
        entries.join(",")
    )
}

#[test]
fn nested_sub_agents_hang_on_the_nearest_request_before_them_in_the_lists_around() {
    let inner = subagent("2.5", "deep", "async_launched", &[&request("2.6", "")]);
    let outer = subagent("2", "wide", "completed", &[&inner, &request("3", "")]);
    let text = trace("root", &[&request("0", ""), &request("1", ""), &outer, &request("9", "")]);
    let (trees, counts) = one(&text).expect("a right corpus");
    let sessions = &trees[0].sessions;
    let names: Vec<(&str, Option<usize>, usize)> = sessions
        .iter()
        .map(|session| (session.id.as_str(), session.parent, session.requests.len()))
        .collect();
    assert_eq!(names, [("root", None, 3), ("wide", Some(0), 1), ("deep", Some(1), 1)]);
    let spawn = |at: usize| sessions[at].spawn.as_ref().map(|spawn| (spawn.after, spawn.mode));
    assert_eq!(spawn(1), Some((Some((0, 1)), SpawnMode::Blocking)));
    assert_eq!(spawn(2), Some((Some((0, 1)), SpawnMode::Background)));
    assert_eq!(sessions[0].requests[2].entry, 3);
    assert_eq!((counts.trees, counts.sessions, counts.requests), (1, 3, 5));
    assert_eq!(trees[0].lineage(2).collect::<Vec<_>>(), [2, 1, 0]);
}

/// cases/TRACES.md T16: a child at 2 below a marker at 1 is at 3 s, or at 2 s; and `auto` decides for the whole corpus.
#[test]
fn the_basis_of_nested_times_is_one_for_the_whole_corpus_and_a_stated_one_wins() {
    let plain =
        trace("a", &[&request("0", ""), &subagent("1", "s", "completed", &[&request("2", "")])]);
    let shows =
        trace("b", &[&request("0", ""), &subagent("5", "s", "completed", &[&request("2", "")])]);
    let start = |files: &[(&str, &str)], basis: TimestampBasis| {
        let options = RecordedOptions { basis, ..RecordedOptions::strict() };
        read(files, options)
            .map(|(trees, _)| trees[0].sessions[1].requests[0].start.get() / 1_000_000_000)
    };
    let alone: &[(&str, &str)] = &[("a.json", &plain)];
    let both: &[(&str, &str)] = &[("a.json", &plain), ("b.json", &shows)];
    assert_eq!(start(alone, TimestampBasis::Auto), Ok(2));
    assert_eq!(start(alone, TimestampBasis::Absolute), Ok(2));
    assert_eq!(start(alone, TimestampBasis::Relative), Ok(3));
    assert_eq!(start(both, TimestampBasis::Auto), Ok(3));
    let refused = start(both, TimestampBasis::Absolute).expect_err("2 s is before 5 s");
    assert_eq!(
        refused,
        ["b.json:1:249 a time below a sub-agent lies 3000000000 ns before its marker"]
    );
}

#[test]
fn what_a_request_does_not_say_stays_absent_and_a_prompt_may_end_inside_a_block() {
    let bare = r#"{"type":"s","t":0.5,"model":"m","in":65,"out":0,"hash_ids":[1],"ttft":0.25}"#;
    let timed = request("1.000000001", r#","api_time":0.1,"think_time":null"#);
    let none = r#"{"type":"n","t":2,"model":"m","in":9,"out":1}"#;
    let (trees, counts) = one(&trace("a", &[bare, &timed, none])).expect("a right corpus");
    let requests = &trees[0].sessions[0].requests;
    assert_eq!(requests[0].duration, None);
    assert_eq!(requests[0].ttft.map(Nanos::get), Some(250_000_000));
    assert_eq!((requests[0].streamed, requests[1].streamed), (Some(true), Some(false)));
    assert_eq!(requests[1].start.get(), 1_000_000_001);
    assert_eq!(requests[1].duration.map(Nanos::get), Some(100_000_000));
    assert_eq!(requests[2].hashes, None);
    assert_eq!((counts.prefill_only, counts.partial_tails, counts.without_hashes), (1, 1, 1));
}

#[test]
fn every_mistake_of_a_corpus_is_shown_with_its_place() {
    let text = [
        trace(
            "a",
            &[r#"{"type":"x","t":0}"#, r#"{"type":"n","t":-1,"model":"","in":0,"out":1.5}"#],
        ),
        "{\"id\":\"b\",".to_owned(),
        String::new(),
        trace("a", &[&request("1e400", ""), &request("0", r#","t":1"#)])
            .replace("64,\"hash", "32,\"hash"),
        trace("c", &[&request("2", ""), &request("1", "")]),
        trace("d", &[r#"{"type":"n","t":0,"model":"m","in":655,"out":1,"hash_ids":[0,1,2]}"#]),
        trace(
            "e",
            &[r#"{"type":"n","t":0,"model":"m","in":1,"out":1,"hash_ids":[18446744073709551616]}"#],
        ),
    ]
    .join("\n");
    let expected = [
        "a.jsonl:1:86 `type` must be `\"n\"`, `\"s\"` or `\"subagent\"`, found `\"x\"`",
        "a.jsonl:1:113 `t` must be a number from 0 to what 2^64 ns are, found `-1`",
        "a.jsonl:1:124 `model` must be a name that is not empty, found `\"\"`",
        "a.jsonl:1:132 `in` must be an integer from 1 on, found `0`",
        "a.jsonl:1:140 `out` must be an integer from 0 to 4294967295, found `1.5`",
        "a.jsonl:2:10 no JSON object: EOF while parsing a value",
        "a.jsonl:4:7 the trace `a` stands at a.jsonl:1:7 as well",
        "a.jsonl:4:7 block size 32, but that of a.jsonl:1:7 is 64",
        "a.jsonl:4:94 `t` must be a number from 0 to what 2^64 ns are, found `1e400`",
        "a.jsonl:4:139 1 hash id, but 64 tokens hold 2 full blocks of 32 and end in block 2",
        "a.jsonl:4:201 1 hash id, but 64 tokens hold 2 full blocks of 32 and end in block 2",
        "a.jsonl:4:206 `t` is stated twice",
        "a.jsonl:5:156 the request starts before the one above it",
        "a.jsonl:6:136 3 hash ids, but 655 tokens hold 10 full blocks of 64 and end in block 11",
        "a.jsonl:7:135 `hash_ids`: `18446744073709551616` does not fit 64 bits",
    ];
    assert_eq!(one(&text).expect_err("a wrong corpus"), expected);
}

#[test]
fn a_lenient_reading_counts_what_it_lets_through_and_unknown_keys_are_always_counted() {
    let text = [
        trace("a", &[&request("2", r#","new":1"#), &request("1", r#","new":{"new":1}"#)]),
        trace("b", &[r#"{"type":"n","t":0,"model":"m","in":655,"out":1,"hash_ids":[0,1,2]}"#]),
    ]
    .join("\n");
    let options = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let (_, counts) = read(&[("a.jsonl", &text)], options).expect("a lenient reading");
    assert_eq!((counts.unsorted, counts.misfit_hashes), (1, 1));
    assert_eq!(counts.unknown_keys.into_iter().collect::<Vec<_>>(), [("new".to_owned(), 2)]);
}

#[test]
fn a_document_over_many_lines_names_the_line() {
    let text = "{\n \"id\": \"a\",\n \"block_size\": 0,\n \"hash_id_scope\": \"local\",\n \"requests\": []\n}\n";
    let found = read(&[("a.json", text)], RecordedOptions::strict()).expect_err("a wrong trace");
    let expected = [
        "a.json:1:1 the trace holds no requests",
        "a.json:3:16 `block_size` must be an integer from 1 to 4294967295, found `0`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn times_of_which_a_sum_is_beyond_64_bits_are_refused_where_they_stand() {
    let late = ",\"api_time\":9223372036.0";
    let cases = [
        trace("a", &[&request("1", late)]),
        trace("a", &[&request("9223372036.854775808", "")]),
        trace("a", &[&request("0", ""), &subagent("9223372037", "s", "completed", &[])]),
        trace("a", &[&request("0", ""), &subagent("1", "s", "completed", &[])])
            .replace("\"status\"", "\"duration_ms\":9223372036854.0,\"status\""),
    ];
    for text in &cases {
        let column = text.find("9223").expect("the time") + 1;
        let start = format!("a.jsonl:1:{column} a time of the trace is 9");
        let found = one(text).expect_err("beyond what is counted");
        assert!(found[0].starts_with(&start), "{found:?}, not {start}");
    }
    one(&trace("a", &[&request("0", ",\"api_time\":9223372036.854775807")])).expect("below 2^63");
}

#[test]
fn a_short_line_does_not_ask_for_more_blocks_than_are_made_up() {
    let entry = r#"{"type":"n","t":0,"model":"m","in":4294967295,"out":8}"#;
    let text = trace("a", &[entry]).replace("\"block_size\":64", "\"block_size\":1");
    let expected = [
        "a.jsonl:1:112 the prompt has 4294967295 blocks of 1 tokens without hash ids, at most 4194304 are made up",
    ];
    assert_eq!(one(&text).expect_err("too long"), expected);
    let some = entry.replace("\"out\"", "\"hash_ids\":[1],\"out\"");
    let lenient = RecordedOptions { strictness: Strictness::Lenient, ..RecordedOptions::strict() };
    let text = text.replace(entry, &some);
    assert_eq!(read(&[("a.jsonl", &text)], lenient).expect_err("too long").len(), 1);
}
