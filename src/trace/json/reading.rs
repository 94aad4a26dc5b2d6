//! A JSON text while it is read.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::diag::{Code, Problem};
use crate::trace::recorded::Place;
use crate::trace::row::{Around, SHOWN};

use super::marks::Marks;

/// How many mistakes of one text are kept: the rest is most likely wrong in the same way.
const PROBLEMS_MAX: usize = 1_000;

/// A JSON text while it is read: one line of a file, or a whole one.
///
/// Mistakes in values are kept here and reading goes on, so that one run shows all of them.
#[derive(Debug)]
pub(in super::super) struct Reading<'t> {
    file: Arc<str>,
    first_line: u64,
    text: &'t str,
    /// What is wrong.
    pub(in super::super) problems: Vec<Problem>,
    /// How many objects have a key that the format does not know, by key.
    pub(in super::super) unknown: BTreeMap<String, u64>,
    /// How many objects have a key that the format knows and that changes nothing here, by key.
    pub(in super::super) unused: BTreeMap<String, u64>,
    /// The last place that was asked for: byte, line and column. Places are asked for in order.
    last: (usize, u64, u64),
    /// By what the places of mistakes are told; made for the first one.
    marks: OnceCell<Marks>,
}

impl<'t> Reading<'t> {
    /// Returns a text of which nothing is read; its first line is line `first_line` of `file`.
    pub(in super::super) fn new(file: &Arc<str>, first_line: u64, text: &'t str) -> Self {
        Self {
            file: Arc::clone(file),
            first_line,
            text,
            problems: Vec::new(),
            unknown: BTreeMap::new(),
            unused: BTreeMap::new(),
            last: (0, first_line, 1),
            marks: OnceCell::new(),
        }
    }

    /// Returns the text.
    pub(in super::super) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the bytes of the text that `part` is.
    fn at(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        if start + part.len() <= self.text.len() { start..start + part.len() } else { 0..0 }
    }

    /// Returns where `part`, which is of the text, starts.
    pub(in super::super) fn place(&mut self, part: &str) -> Place {
        let start = self.at(part).start;
        let (mut at, mut line, mut column) =
            if self.last.0 <= start { self.last } else { (0, self.first_line, 1) };
        for character in self.text[at..start].chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = start;
        self.last = (at, line, column);
        Place { file: Arc::clone(&self.file), line, column }
    }

    /// Counts a value that is known and changes nothing here.
    pub(in super::super) fn note_unused(&mut self, key: &str, value: Option<&'t str>) {
        if value.is_some() {
            *self.unused.entry(key.to_owned()).or_default() += 1;
        }
    }

    /// Returns a problem with `part`, which is of the text; `label` says what is there.
    pub(in super::super) fn problem(
        &self,
        part: &str,
        code: Code,
        message: impl Into<String>,
        label: &str,
    ) -> Problem {
        self.problem_at(self.at(part), code, message, label)
    }

    /// Keeps a problem with `part`, which is of the text.
    pub(in super::super) fn refuse(
        &mut self,
        part: &str,
        code: Code,
        message: String,
        label: &str,
    ) {
        if self.problems.len() < PROBLEMS_MAX {
            let problem = self.problem(part, code, message, label);
            self.problems.push(problem);
        }
    }

    /// Keeps a problem with `part`, which must be what `expected` says.
    pub(in super::super) fn refuse_value(&mut self, key: &str, part: &str, expected: &str) {
        let shown: String = part.chars().take(40).collect();
        let message = format!("`{key}` must be {expected}, found `{shown}`");
        self.refuse(part, Code::TraceField, message, &format!("expected {expected}"));
    }

    /// Keeps a problem with a value that is not there and must be; `whole` is what it is missing in.
    pub(in super::super) fn missing(&mut self, key: &str, expected: &str, whole: &str) {
        let message = format!("`{key}` is missing: expected {expected}");
        self.refuse(whole, Code::TraceField, message, "in this");
    }

    /// Returns what a word of a fixed set means; its first one for a word that is another one, or absent.
    pub(in super::super) fn word<T: Copy>(
        &mut self,
        key: &str,
        value: Option<&'t str>,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> T {
        let word = value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
        if let Some(known) = all.iter().find(|known| Some(name(**known)) == word) {
            return *known;
        }
        let names: Vec<&str> = all.iter().map(|known| name(*known)).collect();
        let expected = format!("one of {}", names.join(", "));
        match value {
            Some(part) => self.refuse_value(key, part, &expected),
            None => self.missing(key, &expected, self.text()),
        }
        all[0]
    }

    /// Returns the problem of a text that is no JSON.
    pub(in super::super) fn syntax(&self, error: &serde_json::Error) -> Problem {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        let line_start = self
            .text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1))
            .map(str::len)
            .sum::<usize>();
        let at = line_start + error.column().saturating_sub(1);
        let at = at.min(self.text.len());
        self.problem_at(at..at + 1, Code::TraceSyntax, format!("no JSON object: {reason}"), reason)
    }

    fn problem_at(
        &self,
        at: Range<usize>,
        code: Code,
        message: impl Into<String>,
        label: &str,
    ) -> Problem {
        let marks = self.marks.get_or_init(|| Marks::of(self.text));
        let start = self.text.floor_char_boundary(at.start);
        let (lines, line_start) = marks.line(self.text, start);
        let around = Around::of(self.text, line_start..self.line_end(start), at);
        let column = marks.characters(self.text, line_start, around.from) + 1;
        around.problem((&self.file, self.first_line + lines, column), code, message, label)
    }

    /// Returns where the line of byte `start` ends, or a place of it behind all that is shown.
    fn line_end(&self, start: usize) -> usize {
        let text = self.text;
        let rest = &text[start..text.floor_char_boundary(start + 4 * SHOWN)];
        match rest.find('\n') {
            Some(length) => start + rest[..length].strip_suffix('\r').map_or(length, str::len),
            None => start + rest.len(),
        }
    }
}
