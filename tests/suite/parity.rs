//! `bench parity` and `bench import` as commands: what they print, write and refuse.

use crate::program::{Place, repository_root};

/// A configuration whose model and hardware are pinned here.
const SMALL: &str = "\
traffic:
  source: {type: synthetic, input_tokens: 128, output_tokens: 4}
  load: {type: concurrency, concurrency: 2}
  stop: {requests: 4}
engine:
  model: meta-llama/Meta-Llama-3.1-8B
  hardware: h200_sxm
  context_length: 1024
  workers:
    aggregated:
      kv_cache: {block_size: 16, capacity: {type: fixed, blocks: 64}}
      timing: {type: fixed, prefill_ms: 20, decode_ms: 5}
";

#[test]
fn recorded_cases_agree_and_one_that_was_altered_is_named() {
    let place = Place::empty();
    let fixtures = repository_root().join("tests/fixtures/oracle/cases");
    let fixtures = fixtures.to_string_lossy();
    let ran = place.bench(["parity", &fixtures, "--only", "010", "--only", "110"]).exits(0);
    assert!(ran.stdout.contains("010-rate8-r2-fixed"), "{ran}");
    assert!(ran.stdout.contains("both fail"), "{ran}");
    assert!(ran.stdout.ends_with("2 agree, 0 differ, 0 not covered\n"), "{ran}");
    let case = "cases/one";
    place.write(&format!("{case}/config.yaml"), SMALL);
    place.write(&format!("{case}/run.json"), "{\"argv\": [], \"exit\": 0}");
    let words = ["predict", "-c", "cases/one/config.yaml", "--output-dir", "out"];
    drop(place.bench(words.into_iter().chain(["--capture-per-request"])).exits(0));
    place.write(&format!("{case}/prediction.json"), place.read("out/prediction.json"));
    let rows = place.read("out/requests.jsonl");
    place.write(&format!("{case}/requests.jsonl"), &rows);
    drop(place.bench(["parity", "cases"]).exits(0));
    let altered = rows.replacen("\"first_token_ms\":20.0", "\"first_token_ms\":20.5", 1);
    assert_ne!(rows, altered, "a first token is at 20 ms");
    place.write(&format!("{case}/requests.jsonl"), altered);
    let ran = place.bench(["parity", "cases"]).exits(3);
    assert!(ran.stdout.contains("session_0#0: first_token_ms 20.0, recorded 20.5"), "{ran}");
    let ran = place.bench(["parity", "cases", "--only", "no"]).exits(2);
    assert!(ran.stderr.contains("parity::case"), "{ran}");
}

#[test]
fn an_imported_scenario_is_formatted_runs_and_is_not_written_over() {
    let place = Place::with_pins();
    place.write("config.yaml", SMALL);
    let words = ["import", "config.yaml", "--output", "scenarios/small.kdl"];
    let ran = place.bench(words).exits(0);
    assert_eq!(ran.stdout, "scenarios/small.kdl\n", "{ran}");
    drop(place.bench(["fmt", "--check", "scenarios/small.kdl"]).exits(0));
    drop(place.bench(["run", "scenarios/small.kdl"]).exits(0));
    let ran = place.bench(words).exits(2);
    assert!(ran.stderr.contains("import::output"), "{ran}");
    drop(place.bench(words.into_iter().chain(["--overwrite"])).exits(0));
    assert_eq!(place.bench(["import", "config.yaml"]).exits(0).stdout, "config.kdl\n");
}

#[test]
fn what_has_no_pin_or_no_word_is_not_imported() {
    let place = Place::with_pins();
    place.write("config.yaml", SMALL.replace("Meta-Llama-3.1-8B", "Nobody-Knows"));
    let words = ["import", "config.yaml", "--output", "scenarios/small.kdl"];
    let ran = place.bench(words).exits(2);
    assert!(ran.stderr.contains("import::unpinned"), "{ran}");
    assert!(ran.stderr.contains("config.yaml:6:3"), "{ran}");
    drop(place.bench(words.into_iter().chain(["--model", "llama-3.1-8b"])).exits(0));
    place.write("trace.jsonl", "{\"request_id\":\"a\"}\n");
    let trace = "traffic={source: {type: trace, paths: [trace.jsonl, more.jsonl], format: dynamo}, load: {type: trace_timestamps}}";
    let ran = place.bench(words.into_iter().chain([
        "--model",
        "llama-3.1-8b",
        "--overwrite",
        "--set",
        trace,
    ]));
    assert!(ran.exits(2).stderr.contains("import::unsayable"));
}
