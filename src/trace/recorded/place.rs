//! Where in a file something is.

use std::sync::Arc;

use crate::diag::{Code, Problem, SourceFile, Span};

/// Where in a file something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: Arc<str>,
    /// The line, from 1; blank lines count.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
}

impl Place {
    /// Returns a problem at this place, for rules that hold across rows: the text is no longer there to be shown.
    pub fn problem(&self, code: Code, message: impl Into<String>, label: &str) -> Problem {
        let narrow = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let source =
            SourceFile::excerpt(&self.file, "", narrow(self.line)).from_column(narrow(self.column));
        Problem::new(code, message).label(&source, Span::default(), label)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
