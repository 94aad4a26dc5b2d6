//! Every fault of a script.

use std::io::{Read, Write};

use super::support::{ask, chat, chat_body, connect, request, server};

#[test]
fn a_cut_stream_breaks_off_after_the_messages_before_it() {
    let server = server("answer { fault \"cut\" after=2; gap \"1ms\"; }");
    let answer = chat(&server, 5);
    assert_eq!((answer.contents(), answer.is_whole), (2, false));
    assert!(!answer.text().contains("[DONE]"));
}

#[test]
fn a_cut_before_any_output_leaves_the_headers() {
    let server = server("answer { fault \"cut\" after=0; first-token \"2ms\"; role \"0ms\"; }");
    let answer = chat(&server, 5);
    assert_eq!((answer.status(), answer.contents(), answer.is_whole), ("200", 0, false));
    assert!(answer.text().contains("assistant"));
}

#[test]
fn a_cut_without_any_delay_still_sends_what_comes_before() {
    let server = server("answer { fault \"cut\" after=3; }");
    let answer = chat(&server, 5);
    assert_eq!((answer.contents(), answer.is_whole), (3, false));
}

#[test]
fn a_stream_that_ends_early_ends_cleanly_and_lacks_its_end() {
    let server = server("answer { fault \"end\" after=2; }");
    let answer = chat(&server, 5);
    assert_eq!((answer.contents(), answer.is_whole), (2, true));
    assert!(!answer.text().contains("[DONE]") && !answer.text().contains("length"));
}

#[test]
fn a_fault_after_all_output_keeps_back_the_end_alone() {
    let server = server("answer { fault \"end\" after=5; }");
    let answer = chat(&server, 5);
    assert_eq!((answer.contents(), answer.is_whole), (5, true));
    assert!(!answer.text().contains("[DONE]"));
}

#[test]
fn a_stalled_stream_goes_on_later() {
    let server = server("answer { fault \"stall\" after=1 lasts=\"30ms\"; }");
    let answer = chat(&server, 3);
    assert_eq!((answer.contents(), answer.is_whole), (3, true));
    let outputs = &server.take_stamps().answers[0].outputs;
    assert!(outputs[1].get() - outputs[0].get() >= 29_000_000, "{outputs:?}");
}

#[test]
fn errors_stand_in_the_stream_in_three_forms() {
    let server = server(
        "answer from=1 to=1 { fault \"error\" after=1; }\n\
         answer from=2 to=2 { fault \"error\" after=1 form=\"text\" message=\"boom\"; }\n\
         answer from=3 to=3 { fault \"error\" form=\"event\"; }\n",
    );
    let object = chat(&server, 4);
    assert_eq!((object.status(), object.contents()), ("200", 1));
    let last = "data: {\"error\":{\"message\":\"the engine died\",\"type\":\"server_error\",\"param\":null,\"code\":500}}\n\ndata: [DONE]\n\n";
    assert!(object.text().ends_with(last), "{}", object.text());
    assert!(chat(&server, 4).text().ends_with("data: {\"error\":\"boom\"}\n\ndata: [DONE]\n\n"));
    let event = chat(&server, 4);
    assert_eq!(event.contents(), 0);
    assert!(event.text().starts_with("event: error\ndata: {\"error\":{"));
}

#[test]
fn refusals_say_when_to_try_again() {
    let server = server(
        "answer from=1 to=1 { status 429 retry-after=7; }\n\
         answer from=2 to=2 { status 503 body=\"busy\"; }\n",
    );
    let limited = chat(&server, 1);
    assert_eq!(limited.status(), "429");
    assert!(limited.head.contains("retry-after: 7") && limited.text().contains("rate_limit"));
    let busy = chat(&server, 1);
    assert_eq!((busy.status(), busy.text().as_str()), ("503", "busy"));
    assert_eq!(chat(&server, 1).status(), "200");
}

#[test]
fn an_unanswered_request_gets_not_a_byte() {
    let server = server("answer { fault \"unanswered\"; }");
    let answer = chat(&server, 1);
    assert_eq!((answer.head.as_str(), answer.body.len()), ("", 0));
}

#[test]
fn a_header_picks_the_answer() {
    let server = server("answer header=\"X-Case: bad\" { status 500; }");
    let (path, body) = ("/v1/chat/completions", chat_body(1));
    assert_eq!(ask(&server, path, "x-case: bad\r\n", &body).status(), "500");
    assert_eq!(ask(&server, path, "x-case: good\r\n", &body).status(), "200");
}

#[test]
fn bytes_that_are_written_one_by_one_are_the_same_bytes() {
    let server = server(
        "answer from=1 to=1 { write \"bytes\" 1; }\nanswer from=2 to=2 { write \"bytes\" 7 gap=\"10us\"; }\nanswer { write \"events\" 3; }",
    );
    let numbered = |number: u64| chat(&server, 4).text().replace(&format!("-{number}\""), "-N\"");
    let (ones, sevens, threes) = (numbered(1), numbered(2), numbered(3));
    assert_eq!(ones, sevens);
    assert_eq!(ones, threes);
    assert!(ones.ends_with("[DONE]\n\n"));
}

#[test]
fn single_bytes_are_chunks_of_their_own() {
    let server = server("answer { write \"bytes\" 1; raw \"data: é\\n\\n\"; }");
    let mut stream = connect(&server);
    let body = chat_body(1);
    stream
        .write_all(&request("/v1/chat/completions", "connection: close\r\n", &body))
        .expect("written");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("read");
    let at = all.windows(4).position(|four| four == b"\r\n\r\n").expect("headers") + 4;
    let chunks = "data: é\n\n".len();
    assert_eq!(all[at..].len(), chunks * "1\r\nx\r\n".len() + "0\r\n\r\n".len());
}

#[test]
fn lines_end_as_the_script_says_and_the_space_is_left_out() {
    let server =
        server("answer from=1 to=1 { lines \"crlf\" space=#false; }\nanswer { lines \"cr\"; }");
    let crlf = chat(&server, 1).text();
    assert!(crlf.ends_with("\r\n\r\ndata:[DONE]\r\n\r\n"), "{crlf:?}");
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
    let cr = chat(&server, 1).text();
    assert!(cr.ends_with("\r\rdata: [DONE]\r\r") && !cr.contains('\n'), "{cr:?}");
}

#[test]
fn comments_keep_a_silent_stream_open() {
    let server = server("answer { first-token \"30ms\"; keep-alive every=\"5ms\" text=\"wait\"; }");
    let text = chat(&server, 1).text();
    assert!(text.starts_with(": wait\n\n: wait\n\n"), "{text}");
    assert!(text.ends_with("[DONE]\n\n"));
}

#[test]
fn raw_bytes_go_out_as_they_are() {
    let server = server("answer { raw \"data: \"; raw-hex \"ff fe 0a0a\"; }");
    let answer = chat(&server, 1);
    assert_eq!(answer.body, b"data: \xff\xfe\n\n");
}

#[test]
fn a_connection_is_closed_some_time_after_an_answer() {
    let server = server("answer { close after=\"3ms\"; }");
    let mut stream = connect(&server);
    let body = r#"{"model":"m","prompt":"x","max_tokens":1}"#;
    stream.write_all(&request("/v1/completions", "", body)).expect("written");
    let mut all = Vec::new();
    stream.read_to_end(&mut all).expect("closed, not reset");
    let text = String::from_utf8_lossy(&all);
    assert!(text.starts_with("HTTP/1.1 200") && !text.contains("connection: close"), "{text}");
    assert!(text.ends_with('}'), "the answer is whole: {text}");
}

#[test]
fn a_server_that_stands_still_answers_afterwards() {
    let server = server("stall after=\"0ms\" lasts=\"40ms\"\nanswer { tokens 1; }");
    chat(&server, 1);
    let answer = server.take_stamps().answers.remove(0);
    assert!(answer.outputs[0].get() - answer.taken.get() >= 35_000_000, "{answer:?}");
}

#[test]
fn usage_can_come_with_each_message_or_never() {
    let server = server(
        "answer from=1 to=1 { usage \"every-event\" cached=2; tokens 4 per-event=3; }\nanswer { usage \"never\"; }",
    );
    let text = chat(&server, 9).text();
    let counted: Vec<&str> = text
        .split("\"completion_tokens\":")
        .skip(1)
        .filter_map(|rest| rest.split(',').next())
        .collect();
    assert_eq!(counted, ["3", "4", "4"], "{text}");
    assert!(!chat(&server, 9).text().contains("usage"));
}
