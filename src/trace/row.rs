//! One line of a trace, and problems that name `file:line:column`.

use std::ops::Range;

use crate::diag::{Code, Problem, SourceFile, Span};
use crate::units::Tokens;

/// How much of a line is shown before, at and after the place of a problem, in bytes each: rows can be very long.
pub(super) const SHOWN: usize = 60;

/// One line of a shard, without its line end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The shard's name.
    pub(super) file: &'a str,
    /// The line of the shard, from 1; blank lines count.
    pub(super) number: u64,
    /// The line counted through all shards; the same as `number` in a trace of one.
    pub(super) running: u64,
    /// The text.
    pub(super) text: &'a str,
}

/// One request as a format's parser hands it over; rules across rows come after.
#[derive(Debug)]
pub(super) struct Row<'a> {
    /// Where it is.
    pub(super) line: Line<'a>,
    /// The arrival in milliseconds, and the bytes of the line that say it.
    pub(super) arrival_ms: Option<f64>,
    /// The bytes of the line that say the arrival; the whole line where none do.
    pub(super) arrival_at: Range<usize>,
    /// Prompt tokens.
    pub(super) input: Tokens,
    /// Requested output tokens.
    pub(super) output: Tokens,
    /// The session that the row names.
    pub(super) session_id: Option<String>,
    /// Think time that the row states, in milliseconds.
    pub(super) delay_ms: Option<f64>,
    /// The bytes of the line that say the delay.
    pub(super) delay_at: Range<usize>,
    /// The request's own name.
    pub(super) request_id: Option<String>,
}

impl<'a> Line<'a> {
    /// Returns the lines of a shard's text; `lines_before` counts the lines of earlier shards.
    pub(super) fn all(
        file: &'a str,
        text: &'a str,
        lines_before: u64,
    ) -> impl Iterator<Item = Self> + use<'a> {
        (1_u64..).zip(text.lines()).map(move |(number, text)| Self {
            file,
            number,
            running: lines_before + number,
            text,
        })
    }

    /// Returns whether the line holds nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the whole line.
    pub(super) fn whole(&self) -> Range<usize> {
        0..self.text.len()
    }

    /// Returns a problem at bytes `at` of the line; `label` says what is there.
    pub(super) fn problem(
        &self,
        code: Code,
        at: Range<usize>,
        message: impl Into<String>,
        label: &str,
    ) -> Problem {
        let around = Around::of(self.text, self.whole(), at);
        let column = self.text[..around.from].chars().count() + 1;
        around.problem((self.file, self.number, column), code, message, label)
    }
}

/// What is shown of a text around the place of a problem.
#[derive(Debug)]
pub(super) struct Around<'a> {
    /// Where in the text it begins.
    pub(super) from: usize,
    shown: &'a str,
    /// The place, in what is shown.
    span: Span,
}

impl<'a> Around<'a> {
    /// Returns what is shown around bytes `at`, which are of the line that is bytes `line` of the text.
    pub(super) fn of(text: &'a str, line: Range<usize>, at: Range<usize>) -> Self {
        let start = floor(text, at.start.min(line.end));
        let end = floor(text, at.end.min(start + SHOWN).min(line.end)).max(start);
        let from = floor(text, start.saturating_sub(SHOWN)).max(line.start);
        let shown = &text[from..floor(text, (end + SHOWN).min(line.end))];
        Self { from, shown, span: Span::new(start - from, end - start) }
    }

    /// Returns a problem with the place; what is shown starts at a line and a column of a file.
    pub(super) fn problem(
        &self,
        (file, line, column): (&str, u64, usize),
        code: Code,
        message: impl Into<String>,
        label: &str,
    ) -> Problem {
        let first_line = usize::try_from(line).unwrap_or(usize::MAX);
        let source = SourceFile::excerpt(file, self.shown, first_line).from_column(column);
        Problem::new(code, message).label(&source, self.span, label)
    }
}

/// Returns the last character boundary of `text` at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
