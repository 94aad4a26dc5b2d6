//! What answers say, and when.

use std::io::{Read, Write};

use super::support::{ask, chat, chat_body, connect, parse, request, server};
use crate::units::Nanos;

const STREAMED: &str = r#""stream":true,"stream_options":{"include_usage":true}"#;

#[test]
fn a_chat_is_streamed_token_by_token_with_role_reason_usage_and_end() {
    let server = server("");
    let body = format!(r#"{{"model":"a\"b","messages":[],"max_tokens":3,{STREAMED}}}"#);
    let answer = ask(&server, "/v1/chat/completions", "", &body);
    assert!(answer.is_whole && answer.head.contains("text/event-stream"), "{}", answer.head);
    let text = answer.text();
    let messages: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert_eq!(messages.len(), 7, "{text}");
    assert!(messages[0].contains(r#""role":"assistant""#));
    assert!(messages[1].contains(r#""delta":{"content":" the"}"#));
    assert!(messages[4].contains(r#""finish_reason":"length""#));
    assert!(
        messages[5].contains(r#""choices":[],"usage":{"prompt_tokens":0,"completion_tokens":3"#)
    );
    assert_eq!(messages[6], "data: [DONE]");
    for message in &messages[..6] {
        let json = message.strip_prefix("data: ").expect("data");
        let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(json["model"], "a\"b");
    }
}

#[test]
fn completions_and_responses_speak_their_own_language() {
    let server = server("");
    let body = format!(r#"{{"model":"m","prompt":"x","max_tokens":2,{STREAMED}}}"#);
    let text = ask(&server, "/v1/completions", "", &body).text();
    assert_eq!(text.matches(r#""text":" "#).count(), 2, "{text}");
    assert!(text.contains(r#""completion_tokens":2"#) && text.ends_with("data: [DONE]\n\n"));
    let body = r#"{"model":"m","input":"x","max_output_tokens":2,"stream":true}"#;
    let text = ask(&server, "/v1/responses", "", body).text();
    assert_eq!(text.matches("event: response.output_text.delta\n").count(), 2, "{text}");
    assert!(text.starts_with("event: response.created\n"), "{text}");
    assert!(text.contains("event: response.incomplete\n") && text.contains(r#""output_tokens":2"#));
    assert!(!text.contains("[DONE]"));
}

#[test]
fn an_answer_that_is_not_streamed_is_one_object_with_its_counts() {
    let server = server("answer { tokens 5 reasoning=2; usage \"asked\" cached=1; }");
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#;
    let answer = ask(&server, "/v1/chat/completions", "", body);
    let json: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    let message = &json["choices"][0]["message"];
    assert_eq!(message["reasoning_content"], " the of");
    assert_eq!(message["content"], " and to in");
    assert_eq!(json["usage"]["completion_tokens"], 5);
    assert_eq!(json["usage"]["completion_tokens_details"]["reasoning_tokens"], 2);
    assert_eq!(json["usage"]["prompt_tokens_details"]["cached_tokens"], 1);
    assert_eq!(json["choices"][0]["finish_reason"], "stop");
    let answer = ask(&server, "/v1/responses", "", r#"{"input":"x"}"#);
    let json: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(json["output"][0]["type"], "reasoning");
    assert_eq!(json["output"][1]["content"][0]["text"], " and to in");
}

#[test]
fn reasoning_comes_first_and_a_tool_call_instead_of_text() {
    let server = server(
        "answer from=1 to=1 { tokens 4 reasoning=2 per-event=1; }\n\
         answer { tokens 4 reasoning=1; tool \"look\" \"{\\\"a\\\":\\\"é\\\"}\"; }",
    );
    let text = chat(&server, 9).text();
    assert_eq!(text.matches("reasoning_content").count(), 2, "{text}");
    assert!(text.find("reasoning_content") < text.find(r#""delta":{"content":" and"}"#), "{text}");
    let text = chat(&server, 9).text();
    let mut arguments = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("data: {")) {
        let json: serde_json::Value = serde_json::from_str(&format!("{{{line}")).expect("JSON");
        let call = &json["choices"][0]["delta"]["tool_calls"][0];
        arguments.push_str(call["function"]["arguments"].as_str().unwrap_or_default());
    }
    assert_eq!(arguments, "{\"a\":\"é\"}");
    assert_eq!(text.matches(r#""name":"look""#).count(), 1);
    assert!(text.contains(r#""finish_reason":"tool_calls""#));
}

#[test]
fn no_output_is_written_before_its_instant() {
    let server = server("answer { first-token \"25ms\"; gap \"12ms\" \"3ms\"; tokens 4; }");
    chat(&server, 4);
    let stamps = server.take_stamps();
    let answer = &stamps.answers[0];
    assert_eq!(answer.outputs.len(), 4);
    for (place, due) in [25, 37, 40, 52].into_iter().enumerate() {
        let due = Nanos::new(answer.taken.get() + due * 1_000_000);
        assert!(
            answer.outputs[place] >= due,
            "{place}: {:?} before {due:?}",
            answer.outputs[place]
        );
    }
    assert!(answer.end >= answer.outputs[3]);
}

#[test]
fn stamps_know_a_request_by_its_number_and_its_id() {
    let server = server("");
    let (path, body) = ("/v1/chat/completions", chat_body(2));
    ask(&server, path, "x-request-id: first\r\n", &body);
    ask(&server, path, "", &body);
    let told: Vec<(u64, Option<String>)> = server
        .take_stamps()
        .answers
        .into_iter()
        .map(|answer| (answer.number, answer.request_id))
        .collect();
    assert_eq!(told, [(1, Some("first".to_owned())), (2, None)]);
    assert!(server.take_stamps().answers.is_empty(), "each is told once");
}

#[test]
fn stamps_are_told_over_the_wire_as_well() {
    let server = server("");
    chat(&server, 2);
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /stamps HTTP/1.1\r\nhost: m\r\nconnection: close\r\n\r\n")
        .expect("sent");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("read");
    let json: serde_json::Value = serde_json::from_slice(&parse(&all).body).expect("JSON");
    assert_eq!(json["answers"][0]["outputs_ns"].as_array().map(Vec::len), Some(2));
    assert_eq!((&json["requests"], &json["connections"]), (&1.into(), &2.into()));
}

#[test]
fn a_connection_carries_one_request_after_another() {
    let server = server("");
    let mut stream = connect(&server);
    for _ in 0..3 {
        let body = r#"{"model":"m","prompt":"x","max_tokens":1}"#;
        stream.write_all(&request("/v1/completions", "", body)).expect("written");
        let mut read = [0; 4096];
        let length = stream.read(&mut read).expect("an answer");
        assert!(read[..length].starts_with(b"HTTP/1.1 200"));
    }
    let stamps = server.take_stamps();
    assert_eq!((stamps.connections, stamps.requests, stamps.most_in_flight), (1, 3, 1));
}

#[test]
fn what_is_no_request_of_the_api_is_refused() {
    let server = server("");
    assert_eq!(ask(&server, "/v1/chat/completions", "", "{}").status(), "400");
    assert_eq!(ask(&server, "/v1/embeddings", "", "{}").status(), "404");
    assert_eq!(ask(&server, "/v1/chat/completions", "", "no json").status(), "400");
}

#[test]
fn a_server_that_is_dropped_is_gone() {
    let server = server("answer { first-token \"1h\"; }");
    let mut stream = connect(&server);
    stream.write_all(&request("/v1/chat/completions", "", &chat_body(1))).expect("written");
    let mut head = [0; 512];
    assert!(stream.read(&mut head).expect("headers") > 0);
    let address = super::support::address(&server);
    drop(server);
    let mut rest = Vec::new();
    let _reset = stream.read_to_end(&mut rest);
    assert!(std::net::TcpStream::connect(address).is_err());
}
