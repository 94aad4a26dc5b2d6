//! The body of a successful answer, read by read.

use crate::record::{Delivery, ExchangeError, Truncation};
use crate::replay::sse::{LINE_CAP, Message, Parser, StreamError};
use crate::units::Nanos;
use crate::workload::live::Api;

use super::assembly::Assembly;
use super::{chat, fault, responses};

/// Reads the body of a successful answer.
///
/// What it is shows in its first byte: an object is a whole answer (or an error that came instead of a stream), anything else is a
/// stream. Each message carries the stamp of the read that completed it.
#[derive(Debug)]
pub struct AnswerReader {
    api: Api,
    form: Form,
    assembly: Assembly,
}

/// The form of a body.
#[derive(Debug)]
enum Form {
    /// So many bytes of white space came: a stream may begin with it, and so may an object.
    Unknown(Parser, usize),
    /// One object; its bytes so far, and how many came before them.
    Whole(Vec<u8>, usize),
    /// Messages.
    Stream(Parser),
}

impl AnswerReader {
    /// Returns a reader of an answer of this API.
    pub fn new(api: Api) -> Self {
        Self { api, form: Form::Unknown(Parser::new(), 0), assembly: Assembly::default() }
    }

    /// Takes the bytes of one read.
    ///
    /// # Errors
    /// [`ExchangeError::Malformed`] and [`ExchangeError::TooLong`]: nothing behind the fault can be read.
    pub fn read(&mut self, mut bytes: &[u8], at: Nanos) -> Result<(), ExchangeError> {
        if let Form::Unknown(parser, blank) = &mut self.form
            && let Some(begin) = bytes.iter().position(|byte| !byte.is_ascii_whitespace())
        {
            self.form = if bytes[begin] == b'{' {
                bytes = &bytes[begin..];
                Form::Whole(Vec::new(), *blank + begin)
            } else {
                Form::Stream(std::mem::take(parser))
            };
        }
        match &mut self.form {
            Form::Unknown(parser, blank) => {
                *blank += bytes.len();
                read_stream(parser, &mut self.assembly, self.api, (bytes, at))
            }
            Form::Whole(body, blank) if *blank + body.len() + bytes.len() > LINE_CAP => {
                Err(ExchangeError::TooLong { what: "body", cap: cap() })
            }
            Form::Whole(body, _) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Stream(parser) => read_stream(parser, &mut self.assembly, self.api, (bytes, at)),
        }
    }

    /// Returns the arrival of the first output, where one came.
    pub fn first_output(&self) -> Option<Nanos> {
        self.assembly.first_output()
    }

    /// Returns whether the last message came: what goes wrong behind it changes nothing.
    pub const fn is_done(&self) -> bool {
        self.assembly.is_done
    }

    /// Returns whether the body is one object or a stream of messages.
    pub const fn delivery(&self) -> Delivery {
        match self.form {
            Form::Whole(..) => Delivery::Whole,
            Form::Unknown(..) | Form::Stream(_) => Delivery::Streamed,
        }
    }

    /// Returns how many comments came.
    pub const fn keepalives(&self) -> u64 {
        match &self.form {
            Form::Stream(parser) => parser.comments(),
            Form::Unknown(..) | Form::Whole(..) => 0,
        }
    }

    /// Ends the body, at the stamp of its end, and judges it; an error that the answer told goes first.
    pub fn end(mut self, at: Nanos) -> (Assembly, Result<(), ExchangeError>) {
        let ended = match &mut self.form {
            Form::Unknown(..) => Ok(()),
            Form::Stream(parser) => parser.finish().map_err(stream_error),
            Form::Whole(body, blank) => take_body(&mut self.assembly, self.api, (body, *blank), at),
        };
        let is_stream = matches!(self.form, Form::Stream(_));
        let outcome = judged(&mut self.assembly, ended, is_stream);
        (self.assembly, outcome)
    }

    /// Ends the body where it broke off; a stream that had its last message stays whole.
    pub fn broken(mut self, error: ExchangeError) -> (Assembly, Result<(), ExchangeError>) {
        let ended = if self.assembly.is_done { Ok(()) } else { Err(error) };
        let outcome = judged(&mut self.assembly, ended, true);
        (self.assembly, outcome)
    }
}

/// Judges an answer: what it told of itself, then how it ended, then whether it is all there.
fn judged(
    assembly: &mut Assembly,
    ended: Result<(), ExchangeError>,
    is_stream: bool,
) -> Result<(), ExchangeError> {
    if let Some(failure) = assembly.failure.take() {
        return Err(failure);
    }
    ended?;
    if assembly.is_empty() {
        return Err(ExchangeError::NoOutput);
    }
    if is_stream && !assembly.is_done && assembly.finish_reason.is_none() {
        return Err(ExchangeError::Truncated(Truncation::NoTerminalEvent));
    }
    Ok(())
}

/// Takes the bytes of one read of a stream, and their stamp.
fn read_stream(
    parser: &mut Parser,
    assembly: &mut Assembly,
    api: Api,
    (bytes, at): (&[u8], Nanos),
) -> Result<(), ExchangeError> {
    let mut malformed = None;
    let pushed = parser.push(bytes, &mut |message| {
        if malformed.is_none() {
            malformed = take_message(assembly, api, message, at).err();
        }
    });
    malformed.map_or_else(|| pushed.map_err(stream_error), Err)
}

/// Takes a message of a stream.
fn take_message(
    assembly: &mut Assembly,
    api: Api,
    message: Message<'_>,
    at: Nanos,
) -> Result<(), ExchangeError> {
    let data = message.data.trim();
    if data == "[DONE]" {
        assembly.done(at);
        return Ok(());
    }
    if let Some(error) = fault::in_band(message.event, data) {
        assembly.fail(error);
        return Ok(());
    }
    let taken = match api {
        Api::Chat | Api::Completions => chat::take(assembly, data, at),
        Api::Responses => responses::take_event(assembly, message.event, data, at),
    };
    taken.map_err(|error| ExchangeError::Malformed {
        offset: message.offset,
        reason: error.to_string(),
    })
}

/// Takes a whole body.
fn take_body(
    assembly: &mut Assembly,
    api: Api,
    (body, blank): (&[u8], usize),
    at: Nanos,
) -> Result<(), ExchangeError> {
    let text = std::str::from_utf8(body).map_err(|error| ExchangeError::Malformed {
        offset: u64::try_from(blank + error.valid_up_to()).expect("a body is shorter than its cap"),
        reason: "invalid UTF-8".to_owned(),
    })?;
    if let Some(error) = fault::in_band("", text) {
        assembly.fail(error);
        return Ok(());
    }
    let taken = match api {
        Api::Chat | Api::Completions => chat::take(assembly, text, at),
        Api::Responses => responses::take_whole(assembly, text, at),
    };
    taken.map_err(|error| ExchangeError::Malformed { offset: 0, reason: error.to_string() })
}

/// Returns the error of an exchange that one of its stream is.
fn stream_error(error: StreamError) -> ExchangeError {
    match error {
        StreamError::Utf8 { offset } => {
            ExchangeError::Malformed { offset, reason: "invalid UTF-8".to_owned() }
        }
        StreamError::TooLong { what } => ExchangeError::TooLong { what, cap: cap() },
        StreamError::Partial => ExchangeError::Truncated(Truncation::PartialEvent),
    }
}

/// Returns the cap of a line, of a message and of a body.
fn cap() -> u64 {
    u64::try_from(LINE_CAP).expect("the cap is 64 MiB")
}
