//! Where something is written.

use crate::diag::{Code, Problem, SourceFile, Span};

/// A range of a source.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    source: SourceFile,
    span: Span,
}

impl Place {
    /// Returns a range of a source.
    pub(crate) fn new(source: &SourceFile, span: Span) -> Self {
        Self { source: source.clone(), span }
    }

    /// Returns a finding here; `label` says what is here.
    pub(crate) fn problem(
        &self,
        code: Code,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        Problem::new(code, message).label(&self.source, self.span, label)
    }

    /// Returns a finding that has been made elsewhere, with this place as its own where it has none.
    pub(crate) fn adopt(&self, problem: Problem, label: impl Into<String>) -> Problem {
        if problem.labels().is_empty() {
            problem.label(&self.source, self.span, label)
        } else {
            problem
        }
    }
}
