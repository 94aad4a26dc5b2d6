//! Faults that tools shipped, as a user meets them: docs/traces.md has the table of cases.

use std::fs;

use crate::program::{Place, repository_root};

const SCENARIO: &str = r#"scenario "cases" {
    pins {
        engine "native" version="1"
        hardware "h200_sxm"
        model "llama-3.1-8b"
        trace "mine"
    }
    workload "mine" {
        trace "mine"
        load "trace-timestamps"
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
        workload "mine"
        deployment "agg"
        engine "native"
    }
}
"#;

const PIN: &str = "trace \"mine\" {\n    format \"mooncake\"\n    block-size 512\n    timestamps unit=\"ms\"\n    shard \"mine.jsonl\"\n}\n";

/// Returns thirteen rows of different lengths; several of each time.
fn rows(origin: u64) -> String {
    let row = |at: u64| {
        let (time, input) = (origin + at / 3 * 3000, 100 + at);
        format!(
            "{{\"timestamp\":{time},\"input_length\":{input},\"output_length\":2,\"hash_ids\":[{at}]}}\n"
        )
    };
    (0..13).map(row).collect()
}

/// Pins rows and runs the scenario; returns what each request was: prompt and arrival.
fn ran(place: &Place, rows: &str) -> Vec<(u64, String)> {
    place.write("pins/traces/mine.jsonl", rows);
    place.write("pins/traces/mine.kdl", PIN);
    place.bench(["pin", "pins/traces/mine.kdl"]).exits(0);
    place.write("scenarios/cases.kdl", SCENARIO);
    place.bench(["pin", "scenarios/cases.kdl"]).exits(0);
    place.bench(["run", "scenarios/cases.kdl"]).exits(0);
    let latest = fs::canonicalize(place.path("runs/cases/latest")).expect("a run");
    let mut found = Vec::new();
    let mut open = vec![latest];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.ends_with("requests.jsonl") {
                let text = fs::read_to_string(path).expect("readable");
                for line in text.lines() {
                    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
                    let input = value["input_tokens"].as_u64().expect("a count");
                    found.push((input, value["arrival_ns"].to_string()));
                }
            }
        }
    }
    found
}

#[test]
fn a_trace_is_replayed_whole_and_in_order_and_its_epoch_is_no_time_to_wait() {
    let place = Place::with_pins();
    let small = ran(&place, &rows(0));
    let inputs: Vec<u64> = small.iter().map(|(input, _)| *input).collect();
    assert_eq!(
        inputs,
        (100..113).collect::<Vec<u64>>(),
        "all thirteen, ties in the order of lines"
    );
    assert_eq!(ran(&place, &rows(1_770_000_000_000)), small);
}

#[test]
fn rows_that_tie_and_are_swapped_are_another_trace() {
    let place = Place::with_pins();
    let text = rows(0);
    drop(ran(&place, &text));
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.swap(0, 1);
    place.write("pins/traces/mine.jsonl", lines.concat());
    let refused = place.bench(["run", "scenarios/cases.kdl"]).exits(2);
    assert!(refused.stderr.contains("pin::digest"), "{refused}");
    let swapped = ran(&place, &lines.concat());
    assert_eq!((swapped[0].0, swapped[1].0), (101, 100), "the order of lines breaks ties");
}

#[test]
fn a_rate_beside_recorded_times_is_refused() {
    let place = Place::with_pins();
    drop(ran(&place, &rows(0)));
    let text =
        SCENARIO.replace("\"trace-timestamps\"", "\"trace-timestamps\" requests-per-second=10");
    place.write("scenarios/cases.kdl", text);
    let refused = place.bench(["run", "scenarios/cases.kdl"]).exits(2);
    assert!(refused.stderr.contains("requests-per-second"), "{refused}");
}

#[test]
fn every_test_that_the_page_of_cases_names_is_there() {
    let root = repository_root();
    let page = fs::read_to_string(root.join("docs/traces.md")).expect("a page");
    let (_, table) = page.split_once("## Faults of other tools, as tests").expect("the table");
    let mut sources = String::new();
    let mut open = vec![root.join("src"), root.join("tests/suite")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                sources += &fs::read_to_string(path).expect("UTF-8");
            }
        }
    }
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| T")).collect();
    assert_eq!(rows.len(), 16, "cases T1 to T19, of which three are of other parts");
    for row in rows {
        let tests = row.rsplit(" | ").next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            assert!(sources.contains(&format!("fn {name}(")), "no test `{name}`: {row}");
        }
    }
}
