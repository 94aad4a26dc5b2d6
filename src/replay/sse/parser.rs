//! The incremental parser: any split of the bytes gives the same messages.

/// The most bytes of one line, and of the data of one message: 64 MiB.
pub const LINE_CAP: usize = 64 << 20;

/// UTF-8's byte order mark, which a stream may begin with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its `event` field; empty without one.
    pub event: &'a str,
    /// Its `data` fields, joined by line ends.
    pub data: &'a str,
    /// Where its first `data` value begins in the stream.
    pub offset: u64,
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// A byte that is not UTF-8.
    #[error("invalid UTF-8 at byte {offset}")]
    Utf8 {
        /// Its offset in the stream.
        offset: u64,
    },
    /// A line, or the data of a message, beyond [`LINE_CAP`].
    #[error("more than {LINE_CAP} bytes in one {what}")]
    TooLong {
        /// `line` or `message`.
        what: &'static str,
    },
    /// The stream ended within a line or a message.
    #[error("the stream ended within an event")]
    Partial,
}

/// A parser of one stream.
///
/// A message is complete with the blank line behind it. Lines end with LF, CRLF or CR; a CR ends its line at once, and an LF that
/// follows belongs to it even where another read brings it. Each byte is looked at once, however the reads fall.
/// Source: WHATWG HTML, 9.2.5 and 9.2.6.
#[derive(Debug, Default)]
pub struct Parser {
    /// The bytes of a line whose end has not come.
    line: Vec<u8>,
    /// Bytes of the stream that lines before the pending one took.
    consumed: u64,
    /// Whether the last byte was a CR: an LF behind it is part of the same line end.
    is_after_cr: bool,
    /// Whether the first line is behind us: only that one may begin with a byte order mark.
    is_begun: bool,
    event: String,
    data: String,
    /// Where the first `data` value of the pending message begins; absent where it has none.
    data_offset: Option<u64>,
    comments: u64,
}

impl Parser {
    /// Returns a parser at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream and hands over each message that they complete.
    ///
    /// # Errors
    /// [`StreamError::Utf8`] and [`StreamError::TooLong`]; messages before the fault have been handed over.
    pub fn push(
        &mut self,
        bytes: &[u8],
        deliver: &mut impl FnMut(Message<'_>),
    ) -> Result<(), StreamError> {
        let mut rest = bytes;
        if self.is_after_cr && !rest.is_empty() {
            rest = rest.strip_prefix(b"\n").inspect(|_| self.consumed += 1).unwrap_or(rest);
            self.is_after_cr = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.end_line(&rest[..end], deliver)?;
            rest = self.behind_line_end(&rest[end..]);
        }
        if self.line.len() + rest.len() > LINE_CAP {
            return Err(StreamError::TooLong { what: "line" });
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Ends the stream.
    ///
    /// Data that no blank line follows are lost to a reader by the standard; here they are an error, unless they are OpenAI's last word.
    ///
    /// # Errors
    /// [`StreamError::Partial`] for a pending line or message, and [`StreamError::Utf8`] for one that is no text.
    pub fn finish(&mut self) -> Result<(), StreamError> {
        self.text(&self.line)?;
        let is_whole = self.line.is_empty() || (!self.is_begun && self.line == MARK);
        let is_dispatched = self.data_offset.is_none() || self.data == "[DONE]\n";
        if is_whole && is_dispatched { Ok(()) } else { Err(StreamError::Partial) }
    }

    /// Returns how many comments came: servers send them to keep a silent connection open.
    pub const fn comments(&self) -> u64 {
        self.comments
    }

    /// Returns what follows a line end, which opens `rest`.
    fn behind_line_end<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let taken = if rest.starts_with(b"\r\n") { 2 } else { 1 };
        self.is_after_cr = rest == b"\r";
        self.consumed += length(taken);
        &rest[taken..]
    }

    /// Ends the pending line with `tail`.
    fn end_line(
        &mut self,
        tail: &[u8],
        deliver: &mut impl FnMut(Message<'_>),
    ) -> Result<(), StreamError> {
        if self.line.len() + tail.len() > LINE_CAP {
            return Err(StreamError::TooLong { what: "line" });
        }
        if self.line.is_empty() {
            return self.take_line(tail, deliver);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(tail);
        let taken = self.take_line(&line, deliver);
        line.clear();
        self.line = line;
        taken
    }

    /// Takes a whole line without its end.
    fn take_line(
        &mut self,
        line: &[u8],
        deliver: &mut impl FnMut(Message<'_>),
    ) -> Result<(), StreamError> {
        let text = self.text(line)?;
        let mark = if self.is_begun { 0 } else { marked(line) };
        self.is_begun = true;
        let text = &text[mark..];
        let begin = self.consumed + length(mark);
        self.consumed += length(line.len());
        if text.is_empty() {
            self.dispatch(deliver);
            return Ok(());
        }
        self.take_field(text, begin)
    }

    /// Takes a line that is not blank; `begin` is its offset.
    fn take_field(&mut self, line: &str, begin: u64) -> Result<(), StreamError> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" => self.comments += 1,
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if self.data.len() + value.len() > LINE_CAP {
                    return Err(StreamError::TooLong { what: "message" });
                }
                let offset = begin + length(line.len() - value.len());
                self.data_offset.get_or_insert(offset);
                self.data.push_str(value);
                self.data.push('\n');
            }
            // The standard ignores `id` and `retry` where nobody reconnects, and every other name.
            _ => {}
        }
        Ok(())
    }

    /// Hands the pending message over, where there is one, and begins the next.
    fn dispatch(&mut self, deliver: &mut impl FnMut(Message<'_>)) {
        if let Some(offset) = self.data_offset.take() {
            let data = self.data.strip_suffix('\n').unwrap_or(&self.data);
            deliver(Message { event: &self.event, data, offset });
        }
        self.event.clear();
        self.data.clear();
    }

    /// Returns a line as text; the line begins where the lines before it end.
    fn text<'a>(&self, line: &'a [u8]) -> Result<&'a str, StreamError> {
        std::str::from_utf8(line).map_err(|error| StreamError::Utf8 {
            offset: self.consumed + length(error.valid_up_to()),
        })
    }
}

/// Returns the bytes of the byte order mark that the line begins with.
pub(super) fn marked(line: &[u8]) -> usize {
    if line.starts_with(MARK) { MARK.len() } else { 0 }
}

/// Returns a length as an offset.
pub(super) fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("no buffer is longer than 2^64 bytes")
}
