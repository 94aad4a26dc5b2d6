//! The faults that real tools shipped, case by case (each named by its number among them), and the shapes of every API.

use super::*;
use crate::record::{Channel, Delivery, ExchangeError, ToolCall, Truncation, Usage};
use crate::units::{Nanos, Tokens};
use crate::workload::live::Api;

type Judged = (Assembly, Result<(), ExchangeError>);

/// A read: when it came, and its bytes.
type Read<'a> = (u64, &'a [u8]);

/// Returns a chunk with content.
fn delta(text: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

/// Reads an answer of `chat` that comes in these reads.
fn read(reads: &[Read<'_>]) -> Judged {
    read_as(Api::Chat, reads)
}

/// Reads an answer that comes in these reads.
fn read_as(api: Api, reads: &[Read<'_>]) -> Judged {
    let mut reader = AnswerReader::new(api);
    for (at, bytes) in reads {
        if let Err(error) = reader.read(bytes, Nanos::new(*at)) {
            return reader.broken(error);
        }
    }
    reader.end(Nanos::new(reads.last().map_or(0, |(at, _)| *at)))
}

/// Reads an answer of `chat` that comes at once.
fn at_once(body: &str) -> Judged {
    read(&[(1, body.as_bytes())])
}

/// Returns when output came.
fn outputs(answer: &Judged) -> Vec<u64> {
    let events = answer.0.events.iter();
    events.filter(|event| event.channel.is_output()).map(|event| event.at.get()).collect()
}

/// Returns the channels of the messages.
fn channels(answer: &Judged) -> Vec<Channel> {
    answer.0.events.iter().map(|event| event.channel).collect()
}

/// Returns the message and the code of the error that the answer told.
fn told(answer: &Judged) -> (String, Option<String>) {
    match &answer.1 {
        Err(ExchangeError::InBand { message, code }) => (message.clone(), code.clone()),
        other => panic!("no error of the answer: {other:?}"),
    }
}

#[test]
fn s1_several_messages_in_one_read_are_all_there_with_one_stamp() {
    let answer = at_once(&format!("{}{}{}data: [DONE]\n\n", delta("a"), delta("b"), delta("c")));
    assert_eq!((answer.0.reply.text.as_str(), &answer.1), ("abc", &Ok(())));
    assert_eq!(outputs(&answer), [1, 1, 1]);
}

#[test]
fn s2_every_cut_gives_the_same_and_stamps_are_of_the_read_that_completes() {
    let body = format!("{}{}{}data: [DONE]\n\n", delta("a"), delta("b"), delta("c"));
    let first = delta("a").len();
    for cut in 1..body.len() {
        let (before, after) = body.as_bytes().split_at(cut);
        let answer = read(&[(10, before), (20, after)]);
        assert_eq!((answer.0.reply.text.as_str(), &answer.1), ("abc", &Ok(())));
        assert_eq!(outputs(&answer)[0], if cut < first { 20 } else { 10 }, "cut at {cut}");
    }
    let single: Vec<Read<'_>> = (1..).zip(body.as_bytes().chunks(1)).collect();
    let answer = read(&single);
    let at = |count: usize| u64::try_from(first * count).expect("short");
    assert_eq!((outputs(&answer), answer.1), (vec![at(1), at(2), at(3)], Ok(())));
}

#[test]
fn s3_s4_characters_split_over_reads_are_whole_and_no_text_is_an_error_with_its_offset() {
    let body = format!("{}data: [DONE]\n\n", delta("你"));
    let middle = body.find('你').expect("it is there") + 2;
    let (before, after) = body.as_bytes().split_at(middle);
    let answer = read(&[(1, before), (2, after)]);
    assert_eq!((answer.0.reply.text.as_str(), answer.1), ("你", Ok(())));
    let bad =
        [b"data: {\"choices\":[{\"delta\":{\"content\":\"".as_slice(), b"\xff\xfe", b"\"}}]}\n\n"];
    let offset = u64::try_from(bad[0].len()).expect("short");
    let expected = ExchangeError::Malformed { offset, reason: "invalid UTF-8".to_owned() };
    assert_eq!(read(&[(1, &bad.concat())]).1, Err(expected));
}

#[test]
fn s5_s6_s7_spaces_line_ends_and_comments_change_nothing() {
    let body = format!(": keep-alive\n\n:\n\n{}data: [DONE]\n\n", delta("x"));
    for end in ["\n", "\r\n", "\r"] {
        for colon in ["data: ", "data:"] {
            let mut reader = AnswerReader::new(Api::Chat);
            let written = body.replace("data: ", colon).replace('\n', end);
            let (comments, rest) = written.split_at(20);
            reader.read(comments.as_bytes(), Nanos::new(5)).expect("comments");
            reader.read(rest.as_bytes(), Nanos::new(9)).expect("a message");
            assert_eq!((reader.keepalives(), reader.first_output()), (2, Some(Nanos::new(9))));
            assert_eq!(reader.end(Nanos::new(9)).1, Ok(()));
        }
    }
}

#[test]
fn white_space_before_a_body_counts_wherever_reads_fall() {
    let blank_line = format!("\n{}data: [DONE]\n\n", delta("a"));
    let odd_field = " data: {}\n\n".to_owned();
    let no_text = "\n {\"a\":\"\u{7f}";
    for body in
        [blank_line.as_bytes(), odd_field.as_bytes(), &[no_text.as_bytes(), b"\xff"].concat()]
    {
        let whole = read(&[(1, body)]);
        for cut in 1..body.len() {
            let (before, after) = body.split_at(cut);
            let cut = read(&[(1, before), (1, after)]);
            assert_eq!((channels(&cut), cut.1), (channels(&whole), whole.1.clone()));
        }
    }
}

#[test]
fn s8_an_error_within_a_successful_stream_fails_the_request_in_every_form() {
    let object = "{\"error\":{\"message\":\"EngineCore died\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}";
    let expected = ("EngineCore died".to_owned(), Some("500".to_owned()));
    let after = at_once(&format!("{}data: {object}\n\ndata: [DONE]\n\n", delta("a")));
    assert_eq!((told(&after), outputs(&after)), (expected.clone(), vec![1]));
    assert_eq!(told(&at_once(&format!("data: {object}\n\ndata: [DONE]\n\n"))), expected);
    assert_eq!(told(&at_once(&format!("event: error\ndata: {object}\n\n"))), expected);
    assert_eq!(told(&at_once(object)), expected);
    assert_eq!(told(&at_once("data: {\"error\":\"boom\"}\n\n")), ("boom".to_owned(), None));
    assert_eq!(told(&at_once("event: error\ndata: boom\n\n")), ("boom".to_owned(), None));
    let old = "data: {\"object\":\"error\",\"message\":\"too long\",\"type\":\"BadRequest\",\"code\":400}\n\n";
    assert_eq!(told(&at_once(old)), ("too long".to_owned(), Some("400".to_owned())));
    let aborted = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"abort\"}]}\n\n";
    assert_eq!(told(&at_once(aborted)).0, "finish reason `abort`");
}

#[test]
fn s8_text_about_errors_and_an_error_that_is_null_are_no_error() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"error\\\"\"}}],\"error\":null}\n\ndata: [DONE]\n\n";
    let answer = at_once(body);
    assert_eq!((answer.0.reply.text.as_str(), answer.1), ("\"error\"", Ok(())));
}

#[test]
fn s9_an_answer_without_output_has_failed_and_one_that_only_calls_a_tool_has_not() {
    assert_eq!(at_once("data: [DONE]\n\n").1, Err(ExchangeError::NoOutput));
    assert_eq!(at_once("").1, Err(ExchangeError::NoOutput));
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"ls\",\"arguments\":\"{\"}}]}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n\
        data: [DONE]\n\n";
    let answer = at_once(call);
    let expected = ToolCall { id: "c1".into(), name: "ls".into(), arguments: "{}".into() };
    assert_eq!((answer.0.reply.tool_calls.as_slice(), &answer.1), (&[expected][..], &Ok(())));
    assert_eq!(channels(&answer), [Channel::ToolCall, Channel::ToolCall, Channel::Done]);
}

#[test]
fn s10_an_end_without_a_last_event_is_truncated_unless_the_model_said_why_it_stopped() {
    let text = format!("{}{}", delta("a"), delta("b"));
    let truncated = |how| Err(ExchangeError::Truncated(how));
    assert_eq!(at_once(&text).1, truncated(Truncation::NoTerminalEvent));
    let finish = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    let finished = at_once(&format!("{text}{finish}"));
    assert_eq!((finished.0.finish_reason.as_deref(), &finished.1), (Some("length"), &Ok(())));
    for partial in ["data: {\"choi", "data: {}\n"] {
        assert_eq!(
            at_once(&format!("{text}{finish}{partial}")).1,
            truncated(Truncation::PartialEvent)
        );
    }
}

#[test]
fn s11_counts_without_choices_are_recorded_and_are_no_output_before_and_behind_the_last_word() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,\"total_tokens\":6,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n";
    let expected = Usage {
        prompt: Some(Tokens::new(5)),
        output: Some(Tokens::new(1)),
        cached: Some(Tokens::new(4)),
        reasoning: None,
    };
    for body in [
        format!("{}{usage}data: [DONE]\n\n", delta("a")),
        format!("{}data: [DONE]\n\n{usage}", delta("a")),
    ] {
        let answer = at_once(&body);
        assert_eq!((answer.0.usage, &answer.1), (Some(expected), &Ok(())));
        assert_eq!(outputs(&answer), [1]);
    }
}

#[test]
fn s11_s15_counts_that_grow_with_each_chunk_tell_its_tokens() {
    let chunk = |text: &str, count: u64| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}],\"usage\":{{\"completion_tokens\":{count}}}}}\n\n"
        )
    };
    let null =
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\n\ndata: [DONE]\n\n";
    let body = format!("{}{}{}{null}", chunk("abc", 3), chunk("d", 4), chunk("efgh", 8));
    let answer = at_once(&body);
    let tokens: Vec<_> =
        answer.0.events.iter().map(|event| event.tokens.map(Tokens::get)).collect();
    assert_eq!(tokens, [Some(3), Some(1), Some(4), None, None]);
    assert_eq!(answer.0.usage.and_then(|usage| usage.output), Some(Tokens::new(8)));
}

#[test]
fn s12_reasoning_is_output_under_both_names_and_the_role_is_none() {
    for body in [
        "\"reasoning\":\"Okay\"",
        "\"reasoning_content\":\"Okay\"",
        "\"reasoning\":\"Okay\",\"reasoning_content\":\"Okay\"",
    ] {
        let role =
            b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
        let thought = format!("data: {{\"choices\":[{{\"delta\":{{{body}}}}}]}}\n\n");
        let said = format!("{}data: [DONE]\n\n", delta("x"));
        let answer = read(&[(10, role), (50, thought.as_bytes()), (900, said.as_bytes())]);
        assert_eq!((outputs(&answer), answer.0.reply.reasoning.as_str()), (vec![50, 900], "Okay"));
        let expected = [Channel::Role, Channel::Reasoning, Channel::Content, Channel::Done];
        assert_eq!(channels(&answer), expected);
        let capped = read(&[(50, thought.as_bytes()), (60, b"data: [DONE]\n\n")]);
        assert_eq!((outputs(&capped), capped.1), (vec![50], Ok(())));
    }
}

#[test]
fn s14_arrivals_are_in_order_and_one_an_event() {
    let (a, b, c) = (delta("a"), delta("b"), format!("{}data: [DONE]\n\n", delta("c")));
    let answer = read(&[(1000, a.as_bytes()), (1010, b.as_bytes()), (1020, c.as_bytes())]);
    assert_eq!(outputs(&answer), [1000, 1010, 1020]);
}

#[test]
fn s16_a_refusal_tells_its_message_in_every_form() {
    let message = |body: &str| {
        let refused = refusal(429, Some("3".to_owned()), body.as_bytes());
        let ExchangeError::Status { status: 429, message, retry_after } = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(retry_after.as_deref(), Some("3"));
        message
    };
    assert_eq!(message("{\"error\":{}}"), "{}");
    assert_eq!(message("{\"error\":{\"message\":\"slow down\"}}"), "slow down");
    assert_eq!(message("{\"detail\":\"Not Found\"}"), "Not Found");
    assert_eq!(message("<html>\nbusy</html>"), "<html>\nbusy</html>");
}

#[test]
fn s17_an_answer_that_came_whole_is_no_stream() {
    let body = "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"completion_tokens\":1000}}";
    let mut reader = AnswerReader::new(Api::Chat);
    reader.read(body.as_bytes(), Nanos::new(1)).expect("it is short");
    assert_eq!(reader.delivery(), Delivery::Whole);
    let answer = reader.end(Nanos::new(2));
    assert_eq!((answer.0.reply.text.as_str(), &answer.1), ("hi", &Ok(())));
    assert_eq!((outputs(&answer), answer.0.events[0].tokens), (vec![2], Some(Tokens::new(1000))));
}

#[test]
fn s19_a_line_of_five_mebibytes_is_one_message_and_one_beyond_the_cap_is_refused() {
    let text = "x".repeat(5 << 20);
    let body = format!("{}data: [DONE]\n\n", delta(&text));
    let reads: Vec<Read<'_>> = body.as_bytes().chunks(1 << 16).map(|read| (1, read)).collect();
    let answer = read(&reads);
    assert_eq!((answer.0.reply.text.len(), answer.1), (5 << 20, Ok(())));
    let read_of = "x".repeat(1 << 20);
    let endless: Vec<Read<'_>> = (0..65).map(|_| (1, read_of.as_bytes())).collect();
    assert_eq!(read(&endless).1, Err(ExchangeError::TooLong { what: "line", cap: 64 << 20 }));
}

#[test]
fn what_breaks_off_behind_the_last_message_changes_nothing() {
    let lost = || ExchangeError::Lost("reset".to_owned());
    let mut reader = AnswerReader::new(Api::Chat);
    reader.read(delta("a").as_bytes(), Nanos::new(1)).expect("a message");
    assert_eq!(reader.broken(lost()).1, Err(lost()));
    let mut reader = AnswerReader::new(Api::Chat);
    reader.read(format!("{}data: [DONE]\n\n", delta("a")).as_bytes(), Nanos::new(1)).expect("all");
    assert_eq!((reader.is_done(), reader.broken(lost()).1), (true, Ok(())));
}

#[test]
fn a_model_that_stops_at_once_has_answered_where_its_tokens_are_counted() {
    let stop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]";
    assert_eq!(at_once(&format!("{stop}}}\n\n")).1, Err(ExchangeError::NoOutput));
    assert_eq!(at_once(&format!("{stop},\"usage\":{{\"completion_tokens\":1}}}}\n\n")).1, Ok(()));
}

#[test]
fn completions_have_texts_and_what_is_no_json_is_malformed_at_its_offset() {
    let body = b"data: {\"choices\":[{\"index\":0,\"text\":\"a\"},{\"index\":1,\"text\":\"b\"}]}\n\ndata: [DONE]\n\n";
    let answer = read_as(Api::Completions, &[(1, body)]);
    assert_eq!((answer.0.reply.text.as_str(), &answer.1), ("a", &Ok(())));
    assert_eq!(answer.0.events[0].bytes, 2);
    let bad = at_once(&format!("{}data: nonsense\n\n", delta("a")));
    let offset = u64::try_from(delta("a").len() + 6).expect("short");
    assert!(
        matches!(bad.1, Err(ExchangeError::Malformed { offset: found, .. }) if found == offset)
    );
}

#[test]
fn responses_stream_text_reasoning_and_calls_and_end_with_their_counts() {
    let body = [
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}",
        "event: response.reasoning_text.delta\ndata: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"hm\"}",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}",
        "data: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"ls\",\"arguments\":\"\"}}",
        "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":2,\"delta\":\"{}\"}",
        "data: {\"type\":\"response.output_text.done\",\"text\":\"hi\"}",
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":7,\"output_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":2},\"output_tokens_details\":{\"reasoning_tokens\":1}}}}",
    ];
    let answer = read_as(Api::Responses, &[(1, format!("{}\n\n", body.join("\n\n")).as_bytes())]);
    let expected = [
        Channel::Role,
        Channel::Reasoning,
        Channel::Content,
        Channel::ToolCall,
        Channel::ToolCall,
        Channel::Role,
        Channel::Done,
    ];
    assert_eq!((channels(&answer), &answer.1), (expected.to_vec(), &Ok(())));
    let reply = &answer.0.reply;
    assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("hi", "hm"));
    let call = ToolCall { id: "c".into(), name: "ls".into(), arguments: "{}".into() };
    assert_eq!(reply.tool_calls, [call]);
    let usage = answer.0.usage.expect("it is counted");
    let counts = [usage.prompt, usage.output, usage.cached, usage.reasoning];
    assert_eq!(counts.map(|count| count.map(Tokens::get)), [Some(7), Some(3), Some(2), Some(1)]);
    let cut = read_as(Api::Responses, &[(1, format!("{}\n\n", body[..3].join("\n\n")).as_bytes())]);
    assert_eq!(cut.1, Err(ExchangeError::Truncated(Truncation::NoTerminalEvent)));
}

#[test]
fn responses_tell_failures_and_come_whole_too() {
    let failed = b"data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"died\"}}}\n\n";
    let expected = ("died".to_owned(), Some("server_error".to_owned()));
    assert_eq!(told(&read_as(Api::Responses, &[(1, failed)])), expected);
    let error = b"event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"died\"}\n\n";
    assert_eq!(told(&read_as(Api::Responses, &[(1, error)])), expected);
    let whole = b"{\"status\":\"incomplete\",\"error\":null,\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[{\"type\":\"reasoning\",\"summary\":[{\"text\":\"hm\"}]},{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]},{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"ls\",\"arguments\":\"{}\"}],\"usage\":{\"output_tokens\":3}}";
    let answer = read_as(Api::Responses, &[(1, whole)]);
    assert_eq!(answer.1, Ok(()));
    let reply = &answer.0.reply;
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str(), reply.tool_calls.len()),
        ("hi", "hm", 1)
    );
    assert_eq!(answer.0.finish_reason.as_deref(), Some("max_output_tokens"));
}
