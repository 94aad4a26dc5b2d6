//! Requests that are not served: a run says how many, why, where that is decided and what to change, wherever it tells of the job.

use crate::program::{Place, Ran};
use crate::runs::scenario;

/// A project with one job: two sessions whose prompts grow from 20 tokens to 45 and 70, with these changes to the scenario.
fn project(changes: &[(&str, &str)]) -> Place {
    let place = Place::with_pins();
    let mut text = scenario(&place, "3.3", "");
    let own = [
        (
            "synthetic input-tokens=300 output-tokens=20 cached-prefix-tokens=128",
            "synthetic-session new-input-tokens-per-turn=20 output-tokens-per-turn=5 turns=3",
        ),
        ("stop requests=40", "stop sessions=2"),
        ("workload \"loop\" \"recorded\"", "workload \"loop\""),
        ("vary \"worker.aggregated.parallelism.replicas\" 1 2", ""),
        ("block-size=64", "block-size=16"),
    ];
    for (from, to) in own.iter().chain(changes) {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, to);
    }
    place.write("scenarios/small.kdl", text);
    place
}

fn run(place: &Place) -> Ran {
    place.bench(["run", "scenarios/small.kdl"])
}

/// Asserts that every text is there.
#[track_caller]
fn says(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "lacks {part:?}:\n{text}");
    }
}

const CONTEXT: (&str, &str) = ("backend \"vllm\"", "backend \"vllm\"\n context-length 50");
const NOTE: &str = "of 6 requests 2 rejected: the first is request 2, which has a prompt of 70 tokens, and the context limit is 50";

#[test]
fn a_job_that_loses_requests_says_why_wherever_it_is_told_of() {
    let place = project(&[CONTEXT]);
    let ran = run(&place).exits(0);
    says(&ran.stdout, &["4/6", &format!("small/loop/agg/native: {NOTE}\n")]);
    let latest = "runs/small/latest";
    says(
        &place.read(format!("{latest}/summary.md")),
        &["**small/loop/agg/native**: of 6 requests"],
    );
    says(
        &place.read(format!("{latest}/junit.xml")),
        &[&format!("<system-out>{NOTE}</system-out>")],
    );
    let job = format!("{latest}/jobs/small/loop/agg/native");
    says(&place.read(format!("{job}/report.json")), &[&format!("\"warnings\":[\"{NOTE}\"]")]);
    let requests = place.read(format!("{job}/requests.jsonl"));
    let refusal =
        r#""refusal":{"limit":50,"needed":70,"role":"aggregated","rule":"context-limit"}"#;
    assert_eq!(requests.matches(refusal).count(), 2, "{requests}");
    let json = place.bench(["run", "scenarios/small.kdl", "--format", "json"]).exits(0).stdout;
    says(&json, &[&format!("\"notes\":[\"{NOTE}\"]")]);
}

#[test]
fn a_decode_rank_that_can_never_take_a_prompt_is_named_with_its_blocks() {
    let decode = r#"worker "decode" { kv-cache block-size=16 { capacity "fixed" blocks=4; }; timing "fixed" prefill-ms=1 decode-ms=1; }
        worker "prefill" {"#;
    let place = project(&[
        ("mode \"aggregated\"", "mode \"disaggregated\""),
        ("worker \"aggregated\" {", decode),
    ]);
    let ran = run(&place).exits(0);
    says(
        &ran.stdout,
        &[
            "of 6 requests 2 failed: the first is request 2, which needs 5 KV blocks at once, and a decode rank has 4",
        ],
    );
}

#[test]
fn requests_that_a_time_limit_cut_are_a_note_of_the_table_and_no_warning_of_the_report() {
    let place = project(&[("stop sessions=2", "stop sessions=2 virtual-time=\"30ms\"")]);
    let ran = run(&place).exits(0);
    says(&ran.stdout, &["cut when the run ended"]);
    let report = place.read("runs/small/latest/jobs/small/loop/agg/native/report.json");
    says(&report, &["\"warnings\":[]"]);
}

#[test]
fn a_job_in_which_nothing_completes_says_cause_place_and_what_to_change() {
    let place = project(&[("backend \"vllm\"", "backend \"vllm\"\n context-length 10")]);
    let ran = run(&place).exits(1);
    says(
        &ran.stderr,
        &[
            "none of 6 requests completed: 6 rejected: the first is request 0, which has a prompt of 20 tokens, and the context limit is 10; the largest needs 60",
            "context-length 10",
            "`-- this decides it",
            "raise it above 60",
        ],
    );
}

#[test]
fn a_dead_end_names_the_request_its_need_what_there_is_and_the_setting() {
    let whole = project(&[
        ("backend \"vllm\"", "backend \"vllm\"\n enable-chunked-prefill #false"),
        ("parallelism replicas=1", "scheduler max-batched-tokens=16"),
    ]);
    says(
        &run(&whole).exits(1).stderr,
        &[
            "request 0 on rank 0 has a prompt of 20 tokens that is not computed in parts, and a pass computes at most 16",
            "scheduler max-batched-tokens=16",
            "raise `max-batched-tokens` to at least 20",
        ],
    );
    let memory =
        project(&[("backend \"vllm\"", "backend \"sglang\""), ("blocks=4096", "blocks=2")]);
    says(
        &run(&memory).exits(1).stderr,
        &[
            "request 0 on rank 0 needs more than 37 tokens of KV cache (32 to compute, 5 set aside for its output), and 32 can be had",
            "capacity \"fixed\" blocks=2",
            "give each rank more than 37 tokens",
        ],
    );
}

#[test]
fn a_golden_of_a_job_that_loses_requests_is_not_accepted_without_a_word() {
    let place = project(&[CONTEXT]);
    let text = place.read("scenarios/small.kdl");
    let end = text.rfind('}').expect("a block");
    let gate = "gate { golden \"pins/goldens/small.kdl\"; }\n}\n";
    place.write("scenarios/small.kdl", format!("{}{gate}", &text[..end]));
    let ran = place.bench(["accept", "scenarios/small.kdl", "--reason", "r", "--by", "b"]).exits(0);
    says(&ran.stderr, &[&format!("small/loop/agg/native: {NOTE}")]);
}
