//! The engine behind the API.

use std::path::Path;

use super::support::{ask, chat, chat_body, server_with};
use crate::deployment::{ContextLength, Workers};
use crate::mock::{Behaviour, MockServer, Security};
use crate::plan::{JobKind, SimulationJob, load_plan};
use crate::units::Tokens;

/// Returns a job of this repository whose engine is the native one.
pub(super) fn job() -> SimulationJob {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/smoke.kdl");
    let (plan, _) = load_plan(&file, None).expect("a plan");
    plan.jobs
        .into_iter()
        .find_map(|job| match job.kind {
            JobKind::Simulation(job) if job.engine.name == "native" => Some(*job),
            JobKind::Simulation(_) | JobKind::Replay(_) => None,
        })
        .expect("a simulation job")
}

fn server(job: SimulationJob) -> MockServer {
    server_with(Behaviour::Simulated(Box::new(job)), Security::Plain)
}

#[test]
fn the_engine_says_as_many_tokens_as_are_asked_for() {
    let server = server(job());
    let answer = chat(&server, 5);
    assert_eq!((answer.contents(), answer.is_whole), (5, true), "{}", answer.text());
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
    let stamps = server.take_stamps().answers.remove(0);
    assert_eq!(stamps.outputs.len(), 5);
    assert!(stamps.outputs.is_sorted() && stamps.outputs[0] > stamps.taken);
}

#[test]
fn a_prompt_that_was_served_before_comes_from_the_cache() {
    let server = server(job());
    let words = " one two three four".repeat(100);
    let body = format!(
        r#"{{"model":"m","max_tokens":2,"messages":[{{"role":"user","content":"{words}"}}]}}"#
    );
    let usage = || {
        let answer = ask(&server, "/v1/chat/completions", "x-session-id: a\r\n", &body);
        let json: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
        json["usage"].clone()
    };
    let (first, second) = (usage(), usage());
    assert_eq!(first["prompt_tokens"], 400);
    assert_eq!(first["prompt_tokens_details"]["cached_tokens"], 0);
    assert!(second["prompt_tokens_details"]["cached_tokens"].as_u64() > Some(300), "{second}");
    assert_eq!(second["completion_tokens"], 2);
}

#[test]
fn an_answer_that_a_later_prompt_holds_comes_from_the_cache_as_well() {
    let server = server(job());
    let words = " one two three four".repeat(64);
    let first = format!(
        r#"{{"model":"m","max_tokens":256,"messages":[{{"role":"user","content":"{words}"}}]}}"#
    );
    let answer = ask(&server, "/v1/chat/completions", "x-session-id: a\r\n", &first);
    let json: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    let said = json["choices"][0]["message"]["content"].as_str().expect("text").to_owned();
    let later = format!(
        r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"user","content":"{words}"}},{{"role":"assistant","content":"{said}"}},{{"role":"user","content":" yes"}}]}}"#
    );
    let answer = ask(&server, "/v1/chat/completions", "x-session-id: a\r\n", &later);
    let json: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(json["usage"]["prompt_tokens"], 513);
    let cached = json["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64();
    assert!(cached > Some(256), "{json}");
}

#[test]
fn a_request_that_the_engine_refuses_is_told_why_in_the_words_of_the_simulator() {
    let mut job = job();
    job.deployment.context_length = ContextLength::Tokens(Tokens::new(100));
    let server = server(job);
    let body = |words: usize| {
        let words = " one".repeat(words);
        format!(r#"{{"max_tokens":2,"messages":[{{"role":"user","content":"{words}"}}]}}"#)
    };
    let refused = ask(&server, "/v1/chat/completions", "", &body(120));
    assert_eq!(refused.status(), "400");
    let json: serde_json::Value = serde_json::from_slice(&refused.body).expect("JSON");
    assert_eq!(
        json["error"]["message"],
        "this model's maximum context length is 100 tokens: the request has a prompt of 120 tokens, and the context limit is 100"
    );
    assert_eq!(ask(&server, "/v1/chat/completions", "", &body(80)).status(), "200");
}

#[test]
fn a_server_with_an_engine_is_gone_when_it_is_dropped_though_requests_run() {
    use std::io::{Read, Write};
    let server = server(job());
    let mut stream = super::support::connect(&server);
    let body = chat_body(100_000);
    stream.write_all(&super::support::request("/v1/chat/completions", "", &body)).expect("written");
    let mut read = [0; 512];
    assert!(stream.read(&mut read).expect("the first token") > 0);
    drop(server);
}

/// Returns the job with prompts that are computed whole, and passes too short for longer ones.
fn whole_prompts() -> SimulationJob {
    let mut job = job();
    job.deployment.enable_chunked_prefill = Some(false);
    let Workers::Aggregated(worker) = &mut job.deployment.workers else { panic!("one pool") };
    worker.scheduler.max_batched_tokens = Tokens::new(64);
    job
}

#[test]
fn an_engine_that_can_never_go_on_says_why_to_who_waits_and_to_who_comes_later() {
    let server = server(whole_prompts());
    let words = " one two three four".repeat(100);
    let body = format!(
        r#"{{"model":"m","max_tokens":2,"messages":[{{"role":"user","content":"{words}"}}]}}"#
    );
    for _ in 0..2 {
        let answer = ask(&server, "/v1/chat/completions", "", &body);
        assert_eq!(answer.status(), "503", "{}", answer.text());
        assert!(answer.text().contains("a pass computes at most 64"), "{}", answer.text());
    }
}
