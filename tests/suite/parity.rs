//! `bench parity` and `bench import` as commands: what they print, write and refuse.

use crate::engines::{OBLIGING, bench, project};
use crate::program::{Place, Ran, repository_root};

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

/// The pinned engine that scripts play.
const UPSTREAM: [&str; 4] = ["--engine", "aisimulate", "--version", "0.13.0-dev.87"];
/// What the script answers.
const ANSWER: &str = "made/aisimulate-0.13.0-dev.202610290000000087/runner.answer";

fn parity(place: &Place, words: &[&str]) -> Ran {
    bench(place, &[&["parity"], words, &UPSTREAM[..]].concat())
}

#[test]
fn a_scenario_runs_on_native_and_on_a_runner_and_the_first_request_that_differs_is_told() {
    let place = project(OBLIGING);
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(0);
    assert!(ran.stdout.contains("runner/two/one/aisimulate  agrees        2/2  0 ns"), "{ran}");
    assert!(ran.stdout.ends_with("1 agree, 0 differ, 0 not comparable\n"), "{ran}");
    let twice = parity(&place, &["scenarios/r.kdl", "./scenarios/r.kdl"]).exits(0);
    assert_eq!(twice.stdout, ran.stdout, "a path that is named twice is compared once");
    let answer = place.read(ANSWER);
    place.write(ANSWER, answer.replacen("\"first_token_ms\":10.0", "\"first_token_ms\":9.0", 1));
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(3);
    let told = "request 0: ttft_ns 10000000, upstream 9000000";
    assert!(ran.stdout.contains("differs") && ran.stdout.contains(told), "{ran}");
    assert!(ran.stdout.contains("1000000 ttft_ns"), "the largest difference: {ran}");
    let json = parity(&place, &["scenarios/r.kdl", "--format", "json"]).exits(3).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["jobs"][0]["what"]["first"]["metric"], "ttft_ns");
    assert_eq!(value["jobs"][0]["verdict"], "differs");
}

#[test]
fn only_a_refusal_of_the_engine_is_an_answer_and_a_runner_that_breaks_fails_the_command() {
    let place = project(OBLIGING);
    let good = place.read(ANSWER);
    let (head, _) = good.split_once("\"outcome\":").expect("an outcome");
    let refusal = format!("{head}\"outcome\":{{\"refused\":{{\"message\":\"no room\"}}}}}}");
    place.write(ANSWER, &refusal);
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(3);
    assert!(ran.stdout.contains("upstream: the engine refuses the job: no room"), "{ran}");
    // The native engine comes to no end: with an upstream refusal that is agreement, with a runner that breaks it is nothing.
    let text = place.read("scenarios/r.kdl");
    let starved = text.replace("blocks=20", "blocks=2");
    assert_ne!(text, starved, "the pool is stated");
    place.write("scenarios/r.kdl", starved);
    let ran = parity(&place, &["scenarios/r.kdl"]);
    assert!(ran.stdout.contains("both fail"), "{ran}");
    drop(ran.exits(0));
    for broken in ["#!/bin/sh\necho out of memory >&2\nexit 134\n", "#!/bin/sh\necho '{}'\n"] {
        let place = project(broken);
        let ran = parity(&place, &["scenarios/r.kdl"]).exits(1);
        assert!(
            ran.stdout.contains("BROKEN") && ran.stdout.contains("upstream: the runner"),
            "{ran}"
        );
        assert!(ran.stdout.ends_with("0 agree, 0 differ, 0 not comparable, 1 broken\n"), "{ran}");
    }
}

#[test]
fn what_would_silently_compare_nothing_is_refused() {
    let place = project(OBLIGING);
    for words in [&["scenarios"][..], &["scenarios/r.kdl", "pins"], &["pins/traces"]] {
        let ran = parity(&place, words).exits(2);
        assert!(ran.stderr.contains("holds no recorded case with an answer"), "{ran}");
    }
    let ran = place.bench(["parity", "scenarios"]).exits(2);
    assert!(ran.stderr.contains("with `--engine` the files of scenarios"), "{ran}");
    let ran = parity(&place, &["scenarios/r.kdl", "--only", "nobody"]).exits(2);
    assert!(ran.stderr.contains("no case or job begins with `nobody`"), "{ran}");
    for (file, lacks) in
        [("spec.json", "result86.json"), ("run.json", "config.yaml"), ("config.yaml", "run.json")]
    {
        let place = Place::with_pins();
        place.write(&format!("cases/one/{file}"), "{}");
        let ran = place.bench(["parity", "cases"]).exits(2);
        assert!(ran.stderr.contains(lacks), "{ran}");
    }
    // A case that this program lacks something for is no agreement.
    let place = Place::with_pins();
    place.write(
        "cases/one/config.yaml",
        SMALL.replace("type: fixed, prefill_ms: 20, decode_ms: 5", "type: default"),
    );
    place.write("cases/one/run.json", "{\"argv\": [], \"exit\": 0}");
    let ran = place.bench(["parity", "cases"]);
    assert_ne!(ran.code, Some(0), "{ran}");
}

#[test]
fn what_is_known_to_part_is_accepted_and_red_where_it_parts_no_more() {
    let place = project(OBLIGING);
    let known = "pins/engines/aisimulate.parity.kdl";
    let accept = |kind: &str| {
        let text = format!(
            "parity \"aisimulate\" {{\n    accept \"early\" as=\"{kind}\" {{\n        case \"runner/two/one/aisimulate\"\n        version \"0.13.0-dev.87\"\n        reason \"it is early\"\n    }}\n}}\n"
        );
        place.write(known, text);
    };
    accept("differs");
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(3);
    assert!(ran.stdout.contains("STALE: early"), "{ran}");
    let answer = place.read(ANSWER);
    place.write(ANSWER, answer.replacen("\"first_token_ms\":10.0", "\"first_token_ms\":9.0", 1));
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(0);
    assert!(ran.stdout.contains("accepted: early"), "{ran}");
    assert!(ran.stdout.ends_with("0 agree, 0 differ, 0 not comparable, 1 as accepted\n"), "{ran}");
    let text = place.read("scenarios/r.kdl");
    let roofline = "timing \"fixed\" prefill-ms=10.0 decode-ms=2.0";
    place.write("scenarios/r.kdl", text.replace(roofline, "timing \"roofline\""));
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(3);
    assert!(ran.stdout.contains("STALE: early"), "another kind of parting: {ran}");
    accept("not-comparable");
    parity(&place, &["scenarios/r.kdl"]).exits(0);
    std::fs::remove_file(place.path(known)).expect("there");
    parity(&place, &["scenarios/r.kdl"]).exits(4);
    place.write(known, "parity \"other\" {}\n");
    let ran = parity(&place, &["scenarios/r.kdl"]).exits(2);
    assert!(ran.stderr.contains("this file is named after engine `aisimulate`"), "{ran}");
}

#[test]
fn a_recorded_play_is_not_comparable_on_a_runner_and_no_runner_is_asked() {
    let place = project("#!/bin/sh\nexit 3\n");
    let cases = repository_root().join("tests/fixtures/oracle/cases");
    let ran = parity(&place, &[&cases.to_string_lossy(), "--only", "104"]).exits(0);
    assert!(ran.stdout.contains("accepted: plays"), "{ran}");
    assert!(ran.stdout.contains("recorded plays on engine `aisimulate`"), "{ran}");
}
