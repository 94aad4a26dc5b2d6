//! The nodes of a script, in the language of scenarios.

use crate::scenario::shape::{Field, Kind, Shape};

/// What a script's file may hold.
pub(super) static FILE: Shape = Shape::root(&[&HANDSHAKE, &STALL, &ANSWER]);

static HANDSHAKE: Shape = Shape::new("handshake", "What a TLS handshake waits for.")
    .props(&[Field::duration("delay", "Before it begins.")]);

static STALL: Shape =
    Shape::new("stall", "A time in which the whole server stands still.").repeated().props(&[
        Field::duration("after", "Its begin, from the first request."),
        Field::duration("lasts", "How long it lasts."),
    ]);

static ANSWER: Shape =
    Shape::new("answer", "What requests get; of several that fit a request the first.")
        .repeated()
        .props(&[
            Field::count("from", "The first request it is for, counted from 1.")
                .at_least(1)
                .or_count(1),
            Field::count("to", "The last.").at_least(1).derived("no last"),
            Field::count("every", "From the first on, each so-manieth.").at_least(1).or_count(1),
            Field::text("header", "A header that the request carries: `name: value`.").optional(),
        ])
        .block(&[
            &HEADERS,
            &FIRST,
            &GAP,
            &ROLE,
            &TOKENS,
            &TOOL,
            &USAGE,
            &WRITE,
            &LINES,
            &KEEP_ALIVE,
            &STATUS,
            &FAULT,
            &CLOSE,
            &RAW,
            &RAW_HEX,
        ]);

static HEADERS: Shape = Shape::new("headers", "When the headers are written.")
    .args(&[Field::duration("AT", "From the request's arrival.")]);
static FIRST: Shape =
    Shape::new("first-token", "When the first output is written; at once without this node.")
        .args(&[Field::duration("AT", "From the request's arrival.")]);
static GAPS: Field = Field::duration("GAP", "A gap.");
static GAP: Shape = Shape::new(
    "gap",
    "Gaps between outputs, in turn and from the start again; none without this node.",
)
.rest(&GAPS);
static ROLE: Shape =
    Shape::new("role", "When the role is written; with the first output without this node.")
        .args(&[Field::duration("AT", "From the request's arrival.")]);
static TOKENS: Shape = Shape::new("tokens", "How long the output is.")
    .args(&[Field::count("TOKENS", "Tokens.")
        .at_most(1 << 32)
        .derived("what the request asks for; 16 where it asks for nothing")])
    .props(&[
        Field::count("per-event", "Tokens of a message.").at_least(1).or_count(1),
        Field::count("reasoning", "How many of the tokens are reasoning: the first ones.")
            .or_count(0),
        Field::text("finish", "Why the output ends.")
            .derived("`length` where the request's limit is reached, else `stop`"),
    ]);
static TOOL: Shape = Shape::new("tool", "A tool that is called instead of text.")
    .args(&[Field::text("NAME", "The tool."), Field::text("ARGUMENTS", "Its arguments, in JSON.")]);
static USAGE: Shape = Shape::new("usage", "What is counted.")
    .args(&[Field::word(
        "WHEN",
        &["asked", "always", "every-event", "never"],
        "At the end where the request asks, at the end anyway, with each message, or never.",
    )])
    .props(&[Field::count("cached", "Prompt tokens that came from a cache.").or_count(0)]);
static WRITE: Shape =
    Shape::new("write", "How bytes are written: a message each without this node.").kinds(&[
        Kind::new("events", "Several messages at once, when the last of them is due.")
            .args(&[Field::count("COUNT", "Messages of a write.").at_least(1)]),
        Kind::new("bytes", "So many bytes at once.")
            .args(&[Field::count("COUNT", "Bytes of a write.").at_least(1).at_most(1 << 30)])
            .props(&[Field::duration("gap", "Between two writes.").or_ms(0.0)]),
    ]);
static LINES: Shape =
    Shape::new("lines", "How lines of the stream end, and what follows the colon.")
        .args(&[Field::word("END", &["lf", "crlf", "cr"], "The end of a line.")])
        .props(&[Field::flag("space", "A space follows the colon.").or_on()]);
static KEEP_ALIVE: Shape =
    Shape::new("keep-alive", "A comment that is written while nothing else is.").props(&[
        Field::duration("every", "How often; more than nothing."),
        Field::text("text", "What it says.").or_text("keep-alive"),
    ]);
static STATUS: Shape = Shape::new("status", "A refusal instead of an answer.")
    .args(&[Field::count("CODE", "Its status.").at_least(400).at_most(599)])
    .props(&[
        Field::count("retry-after", "Seconds after which to try again.").optional(),
        Field::text("body", "Its body.").derived("an error object of the API"),
    ]);
static FAULT: Shape = Shape::new("fault", "What goes wrong.")
    .props(&[Field::count("after", "After so many messages of output.").or_count(0)])
    .kinds(&[
        Kind::new("unanswered", "The connection is closed without a byte of an answer."),
        Kind::new("cut", "The connection breaks when the next message is due."),
        Kind::new("end", "The stream ends as if it were complete, without what ends an answer."),
        Kind::new("stall", "Nothing comes for a while; then the answer goes on.")
            .props(&[Field::duration("lasts", "How long.")]),
        Kind::new("error", "An error stands in the stream, and its end.").props(&[
            Field::word(
                "form",
                &["object", "text", "event"],
                "An error object, its text alone, or the object in an event named `error`.",
            )
            .or_text("object"),
            Field::text("message", "What it says.").or_text("the engine died"),
        ]),
    ]);
static CLOSE: Shape = Shape::new("close", "The connection is closed after the answer.")
    .props(&[Field::duration("after", "How long after it.").or_ms(0.0)]);
static RAW: Shape = Shape::new(
    "raw",
    "Text that is written as it is, when an output would be; it replaces the stream.",
)
.repeated()
.args(&[Field::text("TEXT", "The text.")]);
static RAW_HEX: Shape = Shape::new("raw-hex", "The same as bytes, two hexadecimal digits each.")
    .repeated()
    .args(&[Field::text("BYTES", "The bytes.")]);
