//! One finding: code, message, help, and labels into one source.

use std::fmt;

use super::secret::hidden;
use super::{Code, SourceFile, Span};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is accepted; a person should look.
    Warning,
    /// The input is refused.
    Error,
}

/// A place in the problem's source with a few words.
#[derive(Debug, Clone)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; lower-case, no full stop.
    pub text: String,
}

/// One finding about a user's input. Neither its words nor the lines that it shows hold a password, or a key that stands in a file.
///
/// The message says what was found and what was expected; the help says what to do.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    message: String,
    help: Option<String>,
    labels: Vec<Label>,
    source: Option<SourceFile>,
}

impl Problem {
    /// Returns a finding without place or help.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = shown(message.into());
        Self { code, message, help: None, labels: Vec::new(), source: None }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shown(help.into()));
        self
    }

    /// Adds a place; the first one orders the finding in its file.
    pub fn label(mut self, source: &SourceFile, span: Span, text: impl Into<String>) -> Self {
        self.source.get_or_insert_with(|| source.clone());
        self.labels.push(Label { span, text: shown(text.into()) });
        self
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns what was found and what was expected.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns what to do.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns the places.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the source that the labels point into.
    pub fn source_file(&self) -> Option<&SourceFile> {
        self.source.as_ref()
    }

    /// Returns how bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Returns `file:line:column` of the first label.
    pub fn place(&self) -> Option<String> {
        let (source, label) = (self.source.as_ref()?, self.labels.first()?);
        let (line, column) = source.line_column(label.span.offset());
        Some(format!("{}:{line}:{column}", source.name()))
    }
}

/// Returns a text as findings show it: without secrets.
fn shown(text: String) -> String {
    hidden(&text).unwrap_or(text)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl miette::Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code.as_str()))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity() {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        if self.labels.is_empty() {
            return None;
        }
        Some(Box::new(self.labels.iter().map(|label| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            miette::LabeledSpan::new_with_span(text, label.span)
        })))
    }
}

impl miette::SourceCode for SourceFile {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let inner = self.shown().read_span(span, context_lines_before, context_lines_after)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name().to_owned(),
            inner.data(),
            *inner.span(),
            inner.line() + self.first_line() - 1,
            if inner.line() == 0 {
                inner.column() + self.first_column() - 1
            } else {
                inner.column()
            },
            inner.line_count(),
        )))
    }
}
