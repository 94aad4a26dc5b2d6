//! Streams of server-sent events: however reads fall, what comes is what the whole stream gives read naively.

use touchstone::replay::sse::{Message, Parser, StreamError, naive};

/// Messages and end of a stream.
type Parsed = (Vec<(String, String)>, Result<(), StreamError>);

/// Checks a stream; its first eight bytes say how long reads are, in turn.
pub(crate) fn check(bytes: &[u8]) {
    let (sizes, stream) = bytes.split_at(bytes.len().min(8));
    let naively = naive(stream);
    assert_eq!(parsed(reads(sizes, stream)), naively, "as the input says");
    assert_eq!(parsed([stream]), naively, "in one read");
}

/// Cuts a stream into reads of these sizes, in turn.
fn reads<'a>(sizes: &'a [u8], mut stream: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = usize::from(*sizes.next()?).min(stream.len());
        let (read, rest) = stream.split_at(size.max(1).min(stream.len()));
        stream = rest;
        (!read.is_empty()).then_some(read)
    })
}

/// Parses a stream that comes in these reads.
fn parsed<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> Parsed {
    let (mut parser, mut messages, mut last) = (Parser::new(), Vec::new(), 0);
    let mut read_so_far = 0;
    for read in reads {
        read_so_far += read.len() as u64;
        let mut deliver = |message: Message<'_>| {
            assert!(last <= message.offset && message.offset <= read_so_far, "where it begins");
            last = message.offset;
            messages.push((message.event.to_owned(), message.data.to_owned()));
        };
        if let Err(error) = parser.push(read, &mut deliver) {
            return (messages, Err(error));
        }
    }
    let end = parser.finish();
    (messages, end)
}
