//! One finding as text.

use std::fmt;

use miette::{Diagnostic, MietteHandler, MietteHandlerOpts, ReportHandler};

use crate::diag::{Problem, Severity};

/// What a finding looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Boxes and colours, wrapped to the terminal.
    Coloured,
    /// Boxes, wrapped to the terminal.
    Drawn,
    /// ASCII in unwrapped lines, for files and logs.
    Plain,
}

/// Returns a finding as a person reads it: header, message, the place in its file, help.
pub(super) fn rendered(problem: &Problem, look: Look) -> String {
    let options = MietteHandlerOpts::new()
        .force_graphical(true)
        .terminal_links(false)
        .color(look == Look::Coloured);
    let handler = match look {
        Look::Coloured | Look::Drawn => options,
        Look::Plain => options.unicode(false).width(usize::MAX).wrap_lines(false),
    }
    .build();
    Drawing { finding: Headed(problem), handler }.to_string()
}

/// Returns how many findings there are and where to read more, or `None` without findings.
pub(super) fn summary(problems: &[Problem]) -> Option<String> {
    let first = problems.first()?;
    let errors = problems.iter().filter(|problem| problem.severity() == Severity::Error).count();
    let counts: Vec<String> = [(errors, "error"), (problems.len() - errors, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
        .collect();
    let code = first.code().as_str();
    Some(format!("{}; `bench explain-code {code}` says more", counts.join(", ")))
}

/// A finding and who draws it.
struct Drawing<'a> {
    finding: Headed<'a>,
    handler: MietteHandler,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handler.debug(&self.finding, f)?;
        writeln!(f)
    }
}

/// A finding whose header says how bad it is: `error[area::name]`.
#[derive(Debug)]
struct Headed<'a>(&'a Problem);

impl fmt::Display for Headed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Headed<'_> {}

impl Diagnostic for Headed<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let severity = match self.0.severity() {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        Some(Box::new(format!("{severity}[{}]", self.0.code().as_str())))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Diagnostic::severity(self.0)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Diagnostic::help(self.0)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = miette::LabeledSpan> + '_>> {
        Diagnostic::labels(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, SourceFile, Span};

    fn finding() -> Problem {
        let source = SourceFile::new("scenarios/a.kdl", "scenario \"a\" {\n    sed 1\n}\n");
        Problem::new(Code::KdlSyntax, "`sed` is no node of a scenario")
            .label(&source, Span::new(19, 3), "not known here")
            .help("did you mean `seed`?")
    }

    #[test]
    fn a_finding_in_a_log_is_plain_and_names_severity_code_and_place() {
        insta::assert_snapshot!(rendered(&finding(), Look::Plain), @r#"
        error[kdl::syntax]

          x `sed` is no node of a scenario
           ,-[scenarios/a.kdl:2:5]
         1 | scenario "a" {
         2 |     sed 1
           :     ^|^
           :      `-- not known here
         3 | }
           `----
          help: did you mean `seed`?
        "#);
    }

    #[test]
    fn only_a_coloured_finding_has_colours() {
        assert!(rendered(&finding(), Look::Coloured).contains('\u{1b}'));
        assert!(!rendered(&finding(), Look::Drawn).contains('\u{1b}'));
    }

    #[test]
    fn findings_are_counted_by_severity() {
        assert_eq!(summary(&[]), None);
        let expected = "2 errors; `bench explain-code kdl::syntax` says more";
        assert_eq!(summary(&[finding(), finding()]).as_deref(), Some(expected));
    }
}
