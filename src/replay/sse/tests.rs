//! The grammar, case by case, at every split, and against the naive parser.

use proptest::prelude::*;

use super::{LINE_CAP, Parser, StreamError, naive};

/// Messages and end of a stream.
type Parsed = (Vec<(String, String)>, Result<(), StreamError>);

/// Parses a stream that comes in these reads.
fn parsed<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> Parsed {
    let mut parser = Parser::new();
    let mut messages = Vec::new();
    for read in reads {
        let mut deliver = |message: super::Message<'_>| {
            messages.push((message.event.to_owned(), message.data.to_owned()));
        };
        if let Err(error) = parser.push(read, &mut deliver) {
            return (messages, Err(error));
        }
    }
    let end = parser.finish();
    (messages, end)
}

/// Parses a stream whole, asserts that each single cut and byte by byte give the same, and returns the data of its messages.
fn data(stream: &[u8]) -> Vec<String> {
    let whole = parsed([stream]);
    assert_eq!(whole.1, Ok(()), "{}", String::from_utf8_lossy(stream));
    for cut in 0..=stream.len() {
        let (before, after) = stream.split_at(cut);
        assert_eq!(parsed([before, after]), whole, "cut at {cut}");
    }
    assert_eq!(parsed(stream.chunks(1)), whole, "byte by byte");
    assert_eq!(naive(stream), whole);
    whole.0.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn several_messages_in_one_read_all_arrive_and_every_cut_gives_the_same() {
    let stream = b"data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: {\"c\":3}\n\ndata: [DONE]\n\n";
    assert_eq!(data(stream), ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}", "[DONE]"]);
}

#[test]
fn line_ends_of_every_kind_are_one_line_end_each() {
    let lf = "data: {\"a\":1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n";
    let expected = data(lf.as_bytes());
    assert_eq!(data(lf.replace('\n', "\r\n").as_bytes()), expected);
    assert_eq!(data(lf.replace('\n', "\r").as_bytes()), expected);
    let split = parsed([&b"data: x\r"[..], b"\n\r\n"]);
    assert_eq!(split, (vec![(String::new(), "x".to_owned())], Ok(())));
}

#[test]
fn one_space_at_most_is_taken_behind_the_colon() {
    assert_eq!(
        data(b"data:x\n\ndata: x\n\ndata:  x\n\ndata:\n\ndata\n\n"),
        ["x", "x", " x", "", ""]
    );
}

#[test]
fn comments_and_fields_without_data_make_no_message_and_comments_are_counted() {
    let stream = b": keep-alive\n\n:\n\nid: 7\nretry: 3\nevent: x\n\nunknown: y\n\ndata: a\n\n";
    assert_eq!(data(stream), ["a"]);
    let mut parser = Parser::new();
    parser.push(stream, &mut |message| assert_eq!(message.event, "")).expect("it is text");
    assert_eq!(parser.comments(), 2);
}

#[test]
fn data_over_several_lines_are_joined_and_the_event_is_named() {
    let stream = b"event: error\ndata: {\ndata: }\n\ndata: z\n\n";
    data(stream);
    let named = |event: &str, data: &str| (event.to_owned(), data.to_owned());
    assert_eq!(parsed([&stream[..]]).0, [named("error", "{\n}"), named("", "z")]);
}

#[test]
fn a_character_split_over_reads_is_whole_and_a_byte_order_mark_is_taken_once() {
    assert_eq!(data("data: 你\n\n".as_bytes()), ["你"]);
    assert_eq!(data("\u{feff}data: x\n\n\u{feff}data: y\n\n".as_bytes()), ["x"]);
}

#[test]
fn bytes_that_are_no_text_are_an_error_at_their_offset_and_are_never_replaced() {
    let stream = b"data: a\n\ndata: b\xff\xfe\n\ndata: c\n\n";
    let expected = (vec![(String::new(), "a".to_owned())], Err(StreamError::Utf8 { offset: 16 }));
    assert_eq!(parsed([&stream[..]]), expected);
    assert_eq!(parsed(stream.chunks(1)), expected);
    assert_eq!(naive(stream), expected);
    assert_eq!(parsed([&b"data: \xe4\xbd"[..]]).1, Err(StreamError::Utf8 { offset: 6 }));
}

#[test]
fn an_end_within_a_line_or_a_message_is_an_error_but_for_the_last_word() {
    for partial in ["data: x", "data: x\n", "data: [DONE]", ": x", "event"] {
        assert_eq!(parsed([partial.as_bytes()]).1, Err(StreamError::Partial), "{partial:?}");
    }
    assert_eq!(parsed([&b"data: [DONE]\n"[..]]), (Vec::new(), Ok(())));
    assert_eq!(parsed([&b""[..]]), (Vec::new(), Ok(())));
}

#[test]
fn the_offset_of_a_message_is_that_of_its_first_value() {
    let stream = b"\xef\xbb\xbf: c\r\ndata: a\r\ndata:b\r\n\r\ndata:c\n\n";
    let mut offsets = Vec::new();
    let mut parser = Parser::new();
    parser.push(stream, &mut |message| offsets.push(message.offset)).expect("it is text");
    assert_eq!(offsets, [14, 32]);
    let at = |offset: usize| char::from(stream[offset]);
    assert_eq!((at(14), at(32)), ('a', 'c'));
}

#[test]
fn a_line_at_the_cap_is_read_and_one_beyond_it_is_refused_wherever_reads_fall() {
    let read = vec![b'x'; 1 << 20];
    let mut parser = Parser::new();
    let mut lengths = Vec::new();
    let mut deliver = |message: super::Message<'_>| lengths.push(message.data.len());
    parser.push(b"data:", &mut deliver).expect("it is short");
    for _ in 0..63 {
        parser.push(&read, &mut deliver).expect("it is below the cap");
    }
    parser.push(&read[..(1 << 20) - 5], &mut deliver).expect("it is at the cap");
    parser.push(b"\n\n", &mut deliver).expect("it ends");
    for _ in 0..64 {
        parser.push(&read, &mut deliver).expect("it is at the cap");
    }
    let refused = parser.push(b"x", &mut deliver);
    assert_eq!(refused, Err(StreamError::TooLong { what: "line" }));
    assert_eq!(lengths, [LINE_CAP - 5]);
}

#[test]
fn the_data_of_one_message_have_the_same_cap() {
    let line = [b"data:".as_slice(), &vec![b'x'; 1 << 20], b"\n"].concat();
    let mut parser = Parser::new();
    let pushed: Vec<_> = (0..64).map(|_| parser.push(&line, &mut |_| {})).collect();
    assert_eq!(pushed.iter().filter(|pushed| pushed.is_ok()).count(), 63);
    assert_eq!(pushed[63], Err(StreamError::TooLong { what: "message" }));
}

/// Bytes that the grammar cares for, and some that it does not.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        4 => prop::sample::select(vec![
            &b"data"[..], b"data: ", b"event", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"[DONE]", b"id", "你".as_bytes(),
            b"\xef\xbb\xbf", b"{}",
        ]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..3),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_split_of_any_bytes_gives_what_the_whole_gives_read_naively(
        stream in bytes(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let reads = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
        prop_assert_eq!(parsed(reads), naive(&stream));
    }
}
