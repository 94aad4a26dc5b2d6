//! `bench trace stats`: files and pins, both formats, exit codes and streams.

use std::fs;

use crate::program::{Place, repository_root};

const ROWS: &str = "{\"timestamp\":0,\"input_length\":8,\"output_length\":4,\"hash_ids\":[1,2]}\n\
                    {\"timestamp\":1000,\"input_length\":6,\"output_length\":2,\"hash_ids\":[1,2],\"foo\":1}\n\
                    {\"timestamp\":1000,\"input_length\":6,\"output_length\":2,\"hash_ids\":[3,2]}\n";

#[test]
fn statistics_of_a_file_are_a_table_with_what_was_let_through() {
    let place = Place::empty();
    place.write("t.jsonl", ROWS);
    let ran = place.bench(["trace", "stats", "t.jsonl", "--block-size", "4"]).exits(0);
    let expected = "\
trace                              t.jsonl
rows                                     3
duration, s                          1.000
rows a second                         3.00
input tokens, mean                     6.7
  p50                                  6.0
  p99                                  8.0
output tokens, mean                    2.7
  p50                                  2.0
  p99                                  4.0
prefix hit, full blocks            25.00 %
  ids                              33.33 %
  tokens                           30.00 %
rows that tie with the row before        1
distinct arrivals                        2
largest tie, rows                        2
unknown keys (rows)                foo (1)
";
    assert_eq!(ran.stdout, expected);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_pin_is_named_by_name_and_read_as_it_states() {
    let place = Place::empty();
    let root = repository_root().to_str().expect("UTF-8");
    let ran = place
        .bench([
            "--root",
            root,
            "trace",
            "stats",
            "azure-code",
            "mooncake-tiny",
            "--format",
            "json",
        ])
        .exits(0);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["traces"][0]["figures"]["read"]["rows"], 8819);
    assert_eq!(
        value["traces"][0]["figures"]["read"]["span"]["origin"],
        "2023-11-16 18:17:03.9799600"
    );
    assert_eq!(value["traces"][0]["figures"].get("prefix_hit_ppm"), None, "no ids, no figure");
    assert_eq!(value["traces"][1]["figures"]["ties"]["largest"], 15);
}

#[test]
fn every_wrong_trace_is_reported_at_once_and_nothing_is_printed() {
    let place = Place::project();
    place.write("a.jsonl", "{\"timestamp\":1,");
    place.write("b.csv", "time,in,out\n");
    place.write("c.jsonl.gz", "plain");
    let traces = ["trace", "stats", "a.jsonl", "b.csv", "c.jsonl.gz", "absent.jsonl", "nobody"];
    let ran = place.bench(traces).exits(2);
    assert_eq!(ran.stdout, "");
    for part in [
        "a.jsonl:1:15",
        "trace::syntax",
        "`b.csv` is in no format that is known",
        "trace::extension",
        "trace::read",
        "`absent.jsonl` is no trace file",
        "no trace pin is called `nobody`",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_wrong_line_deep_in_a_file_is_shown_with_its_own_number() {
    let place = Place::empty();
    let text = "\n".repeat(4999)
        + "{\"timestamp\":0,\"input_length\":8.5,\"output_length\":4,\"hash_ids\":[1]}\n";
    place.write("t.jsonl", text);
    let ran = place.bench(["trace", "stats", "t.jsonl"]).exits(2);
    assert!(ran.stderr.contains("t.jsonl:5000:31"), "{}", ran.stderr);
}

#[test]
fn a_wrong_value_far_in_a_long_line_is_shown_without_the_whole_line() {
    let place = Place::empty();
    let ids = (0..5000).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    place.write("t.jsonl", format!("{{\"hash_ids\":[{ids},-7],\"output_length\":4}}\n"));
    let ran = place.bench(["trace", "stats", "t.jsonl"]).exits(2);
    assert!(ran.stderr.contains("[t.jsonl:1:23904]"), "{}", ran.stderr);
    assert!(ran.stderr.contains("4999,-7],") && ran.stderr.len() < 1000, "{}", ran.stderr);
}

#[test]
fn what_is_let_through_is_warned_of_on_stderr() {
    let place = Place::empty();
    place.write("t.jsonl", "{\"timestamp\":5,\"input_length\":8,\"output_length\":4}\n{\"timestamp\":0,\"input_length\":8,\"output_length\":4}\n");
    let ran = place.bench(["trace", "stats", "t.jsonl"]).exits(0);
    assert!(ran.stdout.contains("rows without hash ids"), "{}", ran.stdout);
    assert!(ran.stderr.contains("trace::tolerated") && ran.stderr.contains("trace::time_scale"));
    let quiet = place.bench(["--quiet", "trace", "stats", "t.jsonl"]).exits(0);
    assert_eq!((quiet.stderr.as_str(), quiet.stdout), ("", ran.stdout));
}

#[test]
fn a_span_that_no_clock_can_count_is_shown_as_such() {
    let place = Place::empty();
    let row = |at: &str| format!("{{\"timestamp\":{at},\"input_length\":8,\"output_length\":4}}\n");
    place.write("t.jsonl", row("0") + &row("1.8e19"));
    let ran = place.bench(["trace", "stats", "t.jsonl"]).exits(0);
    let shown =
        |line: &str| line.starts_with("duration, s  ") && line.ends_with("more than 2^64 ns");
    assert!(ran.stdout.lines().any(shown), "{ran}");
    place.write("empty.jsonl", "\n");
    let empty = place.bench(["trace", "stats", "empty.jsonl"]).exits(2);
    assert!(empty.stderr.contains("is it the right file?"), "{empty}");
}

const SCENARIO: &str = r#"scenario "recorded" {
    pins {
        engine "native" version="1"
        hardware "h200_sxm"
        model "llama-3.1-8b"
        trace "azure-code"
        trace "mooncake-tiny"
    }
    workload "tiny" {
        trace "mooncake-tiny"
        load "trace-timestamps"
    }
    workload "code" {
        trace "azure-code"
        load "trace-timestamps" speedup=2.0
        stop requests=20
    }
    deployment "agg" {
        mode "aggregated"
        model "llama-3.1-8b"
        hardware "h200_sxm"
        backend "vllm"
        worker "aggregated" {
            kv-cache {
                capacity "fixed" blocks=4096
            }
            timing "fixed" prefill-ms=2.0 decode-ms=0.5
        }
    }
    simulate "both" {
        workload "tiny" "code"
        deployment "agg"
        engine "native"
    }
}
"#;

#[test]
fn a_scenario_reads_its_pinned_traces_and_refuses_changed_ones_before_any_job() {
    let place = Place::with_pins();
    place.write("scenarios/recorded.kdl", SCENARIO);
    place.bench(["pin", "scenarios/recorded.kdl"]).exits(0);
    let ran = place.bench(["-v", "scenarios/recorded.kdl"]).exits(0);
    for line in [
        "mooncake-tiny: 16 rows from 0 ms over 3.052 s, 5.24 rows a second",
        "azure-code: 20 rows from 2023-11-16 18:17:03.9799600 over ",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    let trace = place.path("pins/traces/mooncake-tiny.jsonl.gz");
    let mut bytes = fs::read(&trace).expect("pinned");
    bytes.truncate(700);
    fs::write(&trace, bytes).expect("written");
    let refused = place.bench(["scenarios/recorded.kdl"]).exits(2);
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains("pin::size"), "{}", refused.stderr);
}

const WEKA: &str = "{\"id\":\"a\",\"block_size\":64,\"hash_id_scope\":\"local\",\"requests\":[{\"type\":\"s\",\"t\":0,\"model\":\"m\",\"in\":64,\"out\":8,\"hash_ids\":[1],\"api_time\":0.5,\"ttft\":0.1,\"new\":1},{\"type\":\"n\",\"t\":2,\"model\":\"m\",\"in\":128,\"out\":0,\"hash_ids\":[1,2]}]}\n";

#[test]
fn a_right_recording_is_counted_and_a_wrong_one_is_told_whole() {
    let place = Place::empty();
    place.write("w.jsonl", WEKA);
    let ran = place.bench(["trace", "validate", "w.jsonl"]).exits(0);
    let expected = "\
format             weka
files                 1
trees                 1
sessions              1
requests              2
prefill only          1
unknown key `new`     1
";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (expected, ""));
    place
        .write("w.jsonl", WEKA.replace("\"in\":64", "\"in\":-1").replace("\"t\":2", "\"t\":\"2\""));
    let ran = place.bench(["trace", "validate", "w.jsonl"]).exits(2);
    for place in ["w.jsonl:1:98", "w.jsonl:1:175"] {
        assert!(ran.stderr.contains(place), "{ran}");
    }
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_conversion_loses_only_what_is_dropped_by_name() {
    let place = Place::empty();
    place.write("w.jsonl", WEKA);
    let words = ["trace", "convert", "w.jsonl", "--to", "agentic-mooncake"];
    let ran = place.bench(words).exits(2);
    assert!(ran.stderr.contains("trace::convert"), "{ran}");
    assert!(ran.stderr.contains("`--drop streaming`"), "{ran}");
    assert!(ran.stderr.contains("`ttft`, the time to the first token: 1"), "{ran}");
    let drops = ["--drop", "streaming", "--drop", "ttft", "--drop", "unknown-keys"];
    let drops = drops.into_iter().chain(["--output", "p.jsonl"]);
    drop(place.bench(words.into_iter().chain(drops)).exits(0));
    let ran = place.bench(["trace", "validate", "p.jsonl"]).exits(0);
    assert!(ran.stdout.starts_with("format    agentic-mooncake\n"), "{ran}");
    place.write("m.jsonl", ROWS);
    let ran = place.bench([
        "trace",
        "convert",
        "m.jsonl",
        "--to",
        "agentic-mooncake",
        "--block-size",
        "4",
    ]);
    assert!(ran.exits(2).stderr.contains("wait for nothing by name"));
}

#[test]
fn a_conversion_keeps_its_inputs_and_knows_the_fields_that_it_may_drop() {
    let place = Place::empty();
    place.write("w.jsonl", WEKA);
    let words = ["trace", "convert", "w.jsonl", "--to", "agentic-mooncake"];
    let drops = ["--drop", "streaming", "--drop", "ttft", "--drop", "unknown-keys"];
    let all = |output| words.into_iter().chain(drops).chain(["--output", output]);
    let ran = place.bench(all("./w.jsonl")).exits(2);
    assert!(ran.stderr.contains("`./w.jsonl` is the input `w.jsonl`"), "{ran}");
    assert_eq!(place.read("w.jsonl"), WEKA);
    let ran = place.bench(all("absent/p.jsonl")).exits(2);
    assert!(ran.stderr.contains("there is no folder `absent`: make it first"), "{ran}");
    place.write("p.jsonl", "old");
    drop(place.bench(all("p.jsonl")).exits(0));
    assert!(place.read("p.jsonl").contains("dynamo.agentic_mooncake"));
    let ran = place.bench(words.into_iter().chain(["--drop", "stream"])).exits(2);
    assert!(ran.stderr.contains("streaming") && ran.stderr.contains("recorded-start"), "{ran}");
}

#[test]
fn a_conversion_loses_no_ids_priorities_or_tools_silently() {
    let place = Place::empty();
    let row = r#"{"request_id":"a","input_length":4,"output_length":1,"hash_ids":[1],"priority":3,"policy_class":null,"output_token_ids":[7],"new":1}
{"request_id":"b","input_length":4,"output_length":1,"hash_ids":[1],"timestamp":5,"wait_for":["a"],"strict_priority":1}
"#;
    place.write("a.jsonl", row);
    let ran = place.bench([
        "trace",
        "convert",
        "a.jsonl",
        "--trace-format",
        "agentic-mooncake",
        "--to",
        "agentic-mooncake",
        "--block-size",
        "4",
    ]);
    let ran = ran.exits(2);
    for field in
        ["priority", "strict-priority", "output-token-ids", "unknown-keys", "recorded-start"]
    {
        assert!(ran.stderr.contains(&format!("no word for `{field}`, ")), "{field}: {ran}");
    }
    assert!(!ran.stderr.contains("policy-class"), "{ran}");
    place.write("d.jsonl", include_str!("../../src/trace/plays/tests/dynamo-agentic.jsonl"));
    let ran = place.bench(["trace", "convert", "d.jsonl", "--to", "agentic-mooncake"]).exits(2);
    assert!(ran.stderr.contains("`tools`, tools that ran: 1"), "{ran}");
}

#[test]
fn keys_of_a_trace_are_counted_by_the_names_that_it_gives_them() {
    let place = Place::empty();
    let row = |key: &str| {
        format!(
            "{{\"timestamp\":0,\"input_length\":8,\"output_length\":4,\"hash_ids\":[1],\"priority\":1,\"{key}\":1}}\n"
        )
    };
    place.write("t.jsonl", row("a b") + &row("a_b") + &row("a b"));
    let ran = place.bench(["trace", "validate", "t.jsonl", "--format", "json"]).exits(0);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["unknown_keys"], serde_json::json!({"a b": 2, "a_b": 1}));
    assert_eq!(value["unused_keys"], serde_json::json!({"priority": 3}));
    assert_eq!(value["counts"]["requests"], 3);
}

#[test]
fn every_wrong_row_is_told_by_validation_and_the_first_ones_by_statistics() {
    let place = Place::empty();
    place.write(
        "t.jsonl",
        "{\"timestamp\":0,\"input_length\":-8,\"output_length\":4,\"hash_ids\":[1]}\n".repeat(25),
    );
    let ran = place.bench(["trace", "validate", "t.jsonl"]).exits(2);
    assert!(
        ran.stderr.contains("t.jsonl:25:31") && !ran.stderr.contains("trace::stopped"),
        "{ran}"
    );
    let ran = place.bench(["trace", "stats", "t.jsonl"]).exits(2);
    assert!(!ran.stderr.contains("t.jsonl:11:") && ran.stderr.contains("trace::stopped"), "{ran}");
}

#[test]
fn one_way_opens_segments_and_folders_for_every_command_on_traces() {
    let place = Place::empty();
    place.write("c/t.000000.jsonl", WEKA);
    place.write("c/t.000001.jsonl", WEKA.replace("\"a\"", "\"b\""));
    for path in ["c", "c/t"] {
        let ran = place.bench(["trace", "stats", path]).exits(0);
        assert!(
            ran.stdout.lines().any(|line| line.starts_with("rows ") && line.ends_with(" 4")),
            "{ran}"
        );
        let ran = place.bench(["trace", "validate", path]).exits(0);
        assert!(
            ran.stdout.starts_with("format             weka\nfiles                 2\n"),
            "{ran}"
        );
        let ran = place.bench(["graph", path, "--format", "json"]).exits(0);
        let graphs: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(ran.stdout.contains("\"a\"") && ran.stdout.contains("\"b\""), "{graphs}");
        let ran = place.bench(["graph", path, "--tree", "c"]).exits(2);
        assert!(ran.stderr.contains("there are `a`, `b`"), "{ran}");
    }
    place.write("c/u.jsonl", ROWS);
    let ran = place.bench(["trace", "stats", "c"]).exits(2);
    assert!(ran.stderr.contains("files of one trace are in one format"), "{ran}");
    let ran = place.bench(["graph", "c/u.jsonl"]).exits(2);
    assert!(ran.stderr.contains("`bench graph --input FORMAT`"), "{ran}");
}

#[test]
fn tables_are_read_by_their_header_or_by_the_columns_that_are_named() {
    let place = Place::empty();
    place.write("b.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,0,472,x\n9,GPT-4,8,2,10,x\n");
    let ran = place.bench(["trace", "stats", "b.csv"]).exits(0);
    assert!(
        ran.stdout.contains("failed requests") && ran.stderr.contains("trace::tolerated"),
        "{ran}"
    );
    let ran = place.bench(["trace", "validate", "b.csv"]).exits(2);
    assert!(ran.stderr.contains("b.csv:2:15"), "{ran}");
    place.write("c.csv", "t,i,o\n0.5,8,4\n2,9,5\n");
    let words = ["trace", "validate", "c.csv"];
    let ran = place.bench(words).exits(2);
    assert!(ran.stderr.contains("columns `t`, `i`, `o`"), "{ran}");
    let ran = place.bench(words.into_iter().chain(["--trace-format", "csv"])).exits(2);
    assert!(ran.stderr.contains("--column input=NAME"), "{ran}");
    let named = [
        "--trace-format",
        "csv",
        "--column",
        "input=i",
        "--column",
        "output=o",
        "--column",
        "timestamp=t",
    ];
    let ran = place.bench(words.into_iter().chain(named)).exits(0);
    assert!(ran.stdout.contains("requests    2"), "{ran}");
    let ran = place.bench(["trace", "stats", "c.csv"].into_iter().chain(named)).exits(0);
    assert!(
        ran.stdout.lines().any(|line| line.starts_with("duration, s") && line.ends_with("1.500")),
        "{ran}"
    );
}
