//! `bench predict` as a command: options, overrides, the output folder, exit codes. Its numbers are judged in `oracle`.

use serde_json::Value;

use crate::program::{Place, Ran, repository_root};

/// Four requests on one worker with fixed timing.
const SMALL: &str = "\
traffic:
  source: {type: synthetic, input_tokens: 128, output_tokens: 4}
  load: {type: concurrency, concurrency: 2}
  stop: {requests: 4}
engine:
  model: some-model
  hardware: h200_sxm
  context_length: 1024
  workers:
    aggregated:
      kv_cache: {block_size: 16, capacity: {type: fixed, blocks: 64}}
      timing: {type: fixed, prefill_ms: 20, decode_ms: 5}
";

/// Returns a folder with [`SMALL`] as `config.yaml`.
fn small() -> Place {
    let place = Place::empty();
    place.write("config.yaml", SMALL);
    place
}

/// Runs `bench predict -c config.yaml` with more words.
fn predict(place: &Place, words: &[&str]) -> Ran {
    place.bench(["predict", "-c", "config.yaml"].iter().chain(words))
}

/// Asserts that a run was refused with an exit code and every text on stderr, and printed nothing on stdout.
#[track_caller]
fn refused(ran: Ran, exit: i32, says: &[&str]) {
    let ran = ran.exits(exit);
    assert_eq!(ran.stdout, "", "{ran}");
    for text in says {
        assert!(ran.stderr.contains(text), "stderr lacks {text:?}: {ran}");
    }
}

fn prediction(place: &Place, folder: &str) -> Value {
    let text = place.read(format!("{folder}/prediction.json"));
    serde_json::from_str(&text).expect("prediction.json is JSON")
}

#[test]
fn a_prediction_goes_to_the_default_folder_and_a_table_to_stdout() {
    let place = small();
    let ran = predict(&place, &[]).exits(0);
    assert!(ran.stdout.contains("TTFT (ms)"), "{ran}");
    assert_eq!(ran.stderr, "", "nothing to say");
    assert_eq!(prediction(&place, "aisimulate-output")["completed_requests"], 4);
    assert!(
        !place.path("aisimulate-output/requests.jsonl").exists(),
        "rows are captured on demand"
    );
}

#[test]
fn two_runs_differ_in_host_time_alone() {
    let place = small();
    let words = |folder: &'static str| ["--output-dir", folder, "--capture-per-request"];
    let (a, b) = (predict(&place, &words("a")).exits(0), predict(&place, &words("b")).exits(0));
    assert_eq!(a.stdout, b.stdout);
    assert_eq!(place.read("a/requests.jsonl"), place.read("b/requests.jsonl"));
    let without_host = |folder: &str| {
        let mut found = prediction(&place, folder);
        let fields = found.as_object_mut().expect("an object");
        for name in ["wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"] {
            assert!(fields.remove(name).is_some(), "{name}");
        }
        found
    };
    assert_eq!(without_host("a"), without_host("b"));
}

#[test]
fn overrides_are_applied_before_validation_and_their_errors_name_the_argument() {
    let place = small();
    predict(&place, &["--set", "traffic.stop.requests=7", "--set", "traffic.load.concurrency=3"])
        .exits(0);
    assert_eq!(prediction(&place, "aisimulate-output")["num_requests"], 7);
    refused(
        predict(&place, &["--set", "traffic.load.concurrency=4.0"]),
        2,
        &["--set traffic.load.concurrency:1:26", "dynosim::wrong_type", "found the real `4.0`"],
    );
    refused(
        predict(&place, &["--set", "traffic.load.type=constant_rate"]),
        2,
        &["config.yaml:3:29", "dynosim::conflict", "`traffic.load.concurrency` does not belong"],
    );
    predict(
        &place,
        &["--overwrite", "--set", "traffic.load={type: constant_rate, requests_per_second: 8}"],
    )
    .exits(0);
    refused(predict(&place, &["--set", "engine"]), 2, &["dynosim::override", "expected PATH=YAML"]);
}

#[test]
fn a_folder_that_holds_anything_is_only_written_when_told_to() {
    let place = small();
    place.write("out/keep.txt", "mine\n");
    refused(
        predict(&place, &["--output-dir", "out"]),
        2,
        &["predict::output", "output folder `out` is not empty", "--overwrite"],
    );
    predict(&place, &["--output-dir", "out", "--overwrite", "--capture-per-request"]).exits(0);
    predict(&place, &["--output-dir", "out", "--overwrite"]).exits(0);
    assert_eq!(place.read("out/keep.txt"), "mine\n");
    assert!(!place.path("out/requests.jsonl").exists(), "the rows are of an earlier run");
}

#[test]
fn json_on_stdout_is_the_file() {
    let place = small();
    let ran = predict(&place, &["--format", "json", "--capture-per-request"]).exits(0);
    assert_eq!(ran.stdout, place.read("aisimulate-output/prediction.json"));
}

#[test]
fn stacks_behaviours_and_options_that_are_not_there_are_refused_by_name() {
    let place = small();
    refused(predict(&place, &["--stack", "dynamo"]), 2, &["predict::stack", "stacks: engine"]);
    refused(
        predict(&place, &["--compat", "0.12"]),
        2,
        &["predict::compat", "`0.12`", "known behaviours: 0.13.0, 0.13.0-dev.87"],
    );
    predict(&place, &["--compat", "0.13.0"]).exits(0);
    refused(
        predict(&place, &["--online", "--detail", "all", "--diagnostics", "power"]),
        2,
        &["predict::unavailable", "`--online`", "`--detail`", "`--diagnostics`"],
    );
}

#[test]
fn configurations_that_cannot_be_read_are_refused() {
    let place = small();
    refused(place.bench(["predict", "-c", "no.yaml"]), 2, &["dynosim::file", "`no.yaml`"]);
    place.write("config.yaml", "engine: [\n");
    refused(predict(&place, &[]), 2, &["dynosim::yaml", "config.yaml:2:1"]);
    place.write("config.yaml", "engine: {model: a, model: b}\n");
    refused(predict(&place, &[]), 2, &["dynosim::duplicate_key", "config.yaml:1:20"]);
}

#[test]
fn a_run_beyond_its_memory_limit_is_exit_3() {
    let place = small();
    let ran = predict(&place, &["--set", "execution.resources.memory_limit_gb=0.000001"]);
    if cfg!(target_os = "linux") {
        refused(ran, 3, &["predict::memory", "the limit is 0.000001 GB"]);
    } else {
        ran.exits(0);
    }
}

#[test]
fn what_steers_a_supervisor_warns_that_it_has_no_effect() {
    let place = small();
    let ran = predict(&place, &["--set", "execution.resources.cpu_limit=2"]).exits(0);
    assert!(ran.stderr.contains("dynosim::no_effect"), "{ran}");
}

#[test]
fn a_sequence_that_outgrows_the_whole_pool_is_exit_1() {
    let place = small();
    let ran = predict(
        &place,
        &[
            "--set",
            "engine.workers.aggregated.kv_cache.capacity.blocks=9",
            "--set",
            "traffic.source.output_tokens=100",
        ],
    );
    refused(ran, 1, &["predict::run", "dead end"]);
    assert!(!place.path("aisimulate-output").exists(), "a failed run leaves nothing");
}

#[test]
fn a_run_that_rejects_everything_warns_and_succeeds() {
    let place = small();
    let ran = predict(&place, &["--set", "engine.context_length=64"]).exits(0);
    assert!(ran.stderr.contains("predict::all_rejected"), "{ran}");
    assert_eq!(prediction(&place, "aisimulate-output")["completed_requests"], 0);
}

#[test]
fn a_run_that_loses_some_requests_warns_of_them_and_succeeds() {
    let place = small();
    let words = [
        "--set",
        "traffic.source={type: synthetic-session, new_input_tokens_per_turn: 40, output_tokens_per_turn: 5, session: {turns: 3}}",
        "--set",
        "traffic.load={type: constant_rate, sessions_per_second: 1}",
        "--set",
        "traffic.stop={sessions: 1}",
        "--set",
        "engine.context_length=64",
    ];
    let ran = predict(&place, &words).exits(0);
    assert!(ran.stderr.contains("predict::unserved"), "{ran}");
    assert!(ran.stderr.contains("rejected: the first is request 1"), "{ran}");
}

#[test]
fn an_unlimited_context_needs_a_pin_of_the_model() {
    let place = small();
    let max = ["--set", "engine.context_length=max"];
    refused(
        predict(&place, &max),
        1,
        &["dynosim::unsupported", "the context length of `some-model` is not known here"],
    );
    // what `bench` carries needs no project; a project's own pin comes first
    for name in ["llama-3.1-8b", "meta-llama/Meta-Llama-3.1-8B"] {
        let model = format!("engine.model={name}");
        predict(&place, &[&max[..], &["--set", &model, "--overwrite"]].concat()).exits(0);
    }
    let pin = "pins/models/llama-3.1-8b.kdl";
    let text = std::fs::read_to_string(repository_root().join(pin)).expect("the model is pinned");
    let pinned = Place::project();
    pinned.write("config.yaml", SMALL);
    pinned.write("pins/models/mine.kdl", text.replace("\"llama-3.1-8b\"", "\"mine\""));
    refused(predict(&pinned, &max), 1, &["mine"]);
    let named = [&max[..], &["--set", "engine.model=mine"]].concat();
    predict(&pinned, &named).exits(0);
    // the other engines run without a limit
    let trtllm = ["--set", "engine.backend=trtllm", "--overwrite"];
    predict(&place, &[&max[..], &trtllm].concat()).exits(0);
}

/// The page's configuration runs, and prints what the page shows.
#[test]
fn the_worked_example_of_the_page_is_what_happens() {
    let page = std::fs::read_to_string(repository_root().join("docs/predict.md")).expect("a page");
    let block = |opening: &str| {
        let start = page.find(opening).expect("the block is there") + opening.len();
        let end = page[start..].find("```").expect("the block ends");
        page[start..start + end].to_owned()
    };
    let place = Place::empty();
    place.write("prediction.yaml", block("```yaml\n"));
    let ran = place
        .bench(["predict", "-c", "prediction.yaml", "--set", "traffic.load.requests_per_second=16"])
        .exits(0);
    assert_eq!(ran.stdout.trim_end(), block("```text\n").trim_end());
}

/// Two pools; the decode pool holds one token less than the longest request comes to.
const TIGHT: &str = "\
traffic:
  source: {type: trace, paths: [trace.jsonl], block_size: 4}
  load: {type: concurrency, concurrency: 10}
engine:
  mode: disaggregated
  model: some-model
  hardware: h200_sxm
  context_length: 16384
  speculation: {kind: ngram, num_speculative_tokens: 1, acceptance_rates: [0.42], seed: 39}
  workers:
    prefill:
      parallelism: {replicas: 2}
      scheduler: {max_batched_tokens: 100, max_sequences: 16}
      kv_cache: {block_size: 2, bytes_per_token: 1000, capacity: {type: fixed, blocks: 23}}
      timing: {type: fixed, prefill_ms: 10, decode_ms: 0.5}
    decode:
      scheduler: {max_batched_tokens: 2048, max_sequences: 2}
      kv_cache: {block_size: 3, bytes_per_token: 1000, capacity: {type: fixed, blocks: 51}}
      timing: {type: fixed, prefill_ms: 0, decode_ms: 1}
  kv_transfer: {bytes_per_token: 131072, timing_mode: destination_missing}
";

#[test]
fn requests_that_take_each_others_blocks_for_ever_end_in_an_error() {
    let place = Place::empty();
    place.write("config.yaml", TIGHT);
    let rows = [
        (0.0, 24, 130, "25, 18, 1450, 1451, 1452, 1453"),
        (7.3, 14, 17, "10, 27, 25, 1470"),
        (33.3, 17, 40, "5, 14, 4, 14, 2"),
        (34.3, 40, 0, "5, 14, 4, 14, 2, 12, 1520, 1521, 1522, 1523"),
    ];
    let rows = rows.map(|(at, input, output, ids)| {
        format!(
            "{{\"timestamp\":{at},\"input_length\":{input},\"output_length\":{output},\"hash_ids\":[{ids}]}}\n"
        )
    });
    place.write("trace.jsonl", rows.concat());
    refused(
        predict(&place, &[]),
        1,
        &["dead end", "passes preempted requests and none produced a token"],
    );
}
