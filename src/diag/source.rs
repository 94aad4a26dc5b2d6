//! A named text and a place in it.

use std::sync::{Arc, OnceLock};

use super::secret::hidden;

/// A byte range in a [`SourceFile`]: offset and length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    offset: usize,
    length: usize,
}

/// A text with the name a person knows it by. Cheap to clone, and one pointer wide, because every problem holds one.
#[derive(Debug, Clone)]
pub struct SourceFile(Arc<Part>);

/// A text and where in its file it stands.
#[derive(Debug, Clone)]
struct Part {
    name: Box<str>,
    text: Box<str>,
    /// The text without secrets, once it was to be shown; `None` within where it has none.
    shown: OnceLock<Option<Box<str>>>,
    first_line: usize,
    first_column: usize,
}

impl Span {
    /// Returns the range of `length` bytes at `offset`.
    pub const fn new(offset: usize, length: usize) -> Self {
        Self { offset, length }
    }

    /// Returns the first byte.
    pub const fn offset(self) -> usize {
        self.offset
    }

    /// Returns how many bytes.
    pub const fn length(self) -> usize {
        self.length
    }
}

impl From<Span> for miette::SourceSpan {
    fn from(span: Span) -> Self {
        (span.offset, span.length).into()
    }
}

impl SourceFile {
    /// Returns `text` under `name` (a relative path with `/`, or what stands for one).
    pub fn new(name: &str, text: &str) -> Self {
        Self::excerpt(name, text, 1)
    }

    /// Returns a part of the file `name` that starts at line `first_line` (from 1): a row of a trace too big to keep.
    ///
    /// Spans are offsets into the part; lines are reported as the whole file counts them.
    pub fn excerpt(name: &str, text: &str, first_line: usize) -> Self {
        Self(Arc::new(Part {
            name: name.into(),
            text: text.into(),
            shown: OnceLock::new(),
            first_line,
            first_column: 1,
        }))
    }

    /// Returns it as a part whose first line starts at column `first_column` (from 1) of the file's line.
    pub fn from_column(self, first_column: usize) -> Self {
        Self(Arc::new(Part { first_column, ..Arc::unwrap_or_clone(self.0) }))
    }

    /// Returns the line of the file, from 1, at which the text starts.
    pub fn first_line(&self) -> usize {
        self.0.first_line
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the column of the file, from 1, at which the text starts.
    pub fn first_column(&self) -> usize {
        self.0.first_column
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the text as findings show it: each byte where it stands, those of secrets as stars.
    pub(super) fn shown(&self) -> &str {
        let shown = self.0.shown.get_or_init(|| hidden(self.text()).map(String::into_boxed_str));
        shown.as_deref().unwrap_or_else(|| self.text())
    }

    /// Returns line and column of a byte offset, both from 1; the column counts characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text().len());
        while !self.text().is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text()[..end];
        let line = before.matches('\n').count() + self.first_line();
        let column = |from: usize| before[from..].chars().count();
        match before.rfind('\n') {
            Some(end) => (line, column(end + 1) + 1),
            None => (line, column(0) + self.first_column()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_reports_the_lines_and_columns_of_its_file() {
        let part = SourceFile::excerpt("trace.jsonl", "{\"a\":1}\n{\"b\":", 41);
        assert_eq!(part.line_column(0), (41, 1));
        assert_eq!(part.line_column(13), (42, 6));
        let part = part.from_column(101);
        assert_eq!((part.line_column(2), part.line_column(13)), ((41, 103), (42, 6)));
    }
}
