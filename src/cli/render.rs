//! What is written where: results to stdout, everything else to stderr.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use crate::diag::{Bag, Code, Problem, Severity};

use super::context::Verbosity;
use super::environment::Stderr;
use super::{Context, Exit, Failure};

/// Writes results to stdout. A reader that has gone away (`bench … | head`) is no failure.
///
/// # Errors
/// [`Code::Output`] with exit 1 when stdout cannot be written.
pub(crate) fn print(results: impl AsRef<[u8]>) -> Result<(), Failure> {
    write_results(&mut io::stdout().lock(), results.as_ref()).map_err(|error| {
        let problem = Problem::new(Code::Output, format!("cannot write the results: {error}"))
            .help("results go to stdout; see where it leads and whether there is room");
        Failure::new(Exit::JobFailed, problem)
    })
}

impl Context {
    /// Writes findings to stderr, in file order, and how many there are; warnings are left out under `--quiet`.
    pub(crate) fn report(&self, findings: Bag) {
        let wanted = |problem: &Problem| {
            problem.severity() == Severity::Error || self.verbosity() != Verbosity::Quiet
        };
        let problems: Vec<Problem> = findings.into_sorted().into_iter().filter(wanted).collect();
        for problem in &problems {
            stderr_text(&self.rendered(problem));
        }
        if let Some(line) = summary(&problems) {
            stderr_line(&line);
        }
    }

    /// Writes a line to stderr, unless `--quiet`.
    pub(crate) fn note(&self, line: &str) {
        if self.verbosity() != Verbosity::Quiet {
            stderr_line(line);
        }
    }

    /// Writes a line to stderr under `--verbose`.
    pub(crate) fn detail(&self, line: &str) {
        if self.verbosity() == Verbosity::Verbose {
            stderr_line(line);
        }
    }

    /// Returns a finding as a person reads it.
    fn rendered(&self, problem: &Problem) -> String {
        let look = match (self.is_coloured(), self.environment().stderr) {
            (true, _) => Look::Coloured,
            (false, Stderr::Terminal) => Look::Drawn,
            (false, Stderr::Plain) => Look::Plain,
        };
        rendered(problem, look)
    }
}

/// What a finding looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Boxes and colours, wrapped to the terminal.
    Coloured,
    /// Boxes, wrapped to the terminal.
    Drawn,
    /// ASCII in unwrapped lines, for files and logs.
    Plain,
}

/// Returns a finding as text.
fn rendered(problem: &Problem, look: Look) -> String {
    let theme = match look {
        Look::Coloured => GraphicalTheme::unicode(),
        Look::Drawn => GraphicalTheme::unicode_nocolor(),
        Look::Plain => GraphicalTheme::none(),
    };
    let mut handler = GraphicalReportHandler::new_themed(theme).with_links(false);
    if look == Look::Plain {
        handler = handler.with_width(usize::MAX).with_wrap_lines(false);
    }
    let mut text = String::new();
    handler.render_report(&mut text, &Headed(problem)).expect("a String takes every write");
    text
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

/// Returns how many findings there are and where to read more, or `None` without findings.
fn summary(problems: &[Problem]) -> Option<String> {
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

/// Reports a failure, if any, and returns the exit code of the process.
pub fn conclude(outcome: Result<Exit, Failure>, context: &Context) -> Exit {
    match outcome {
        Ok(exit) => exit,
        Err(failure) => {
            let exit = failure.exit();
            context.report(failure.into_bag());
            exit
        }
    }
}

/// Writes a line to stderr; a stderr that cannot be written is nobody's to tell.
pub(crate) fn stderr_line(line: &str) {
    stderr_text(&format!("{line}\n"));
}

/// Writes a text to stderr.
fn stderr_text(text: &str) {
    let _unwritable = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes and flushes; a broken pipe is success.
fn write_results(out: &mut impl Write, results: &[u8]) -> io::Result<()> {
    match out.write_all(results).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{SourceFile, Span};

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

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
    fn findings_are_counted_by_severity() {
        assert_eq!(summary(&[]), None);
        let expected = "2 errors; `bench explain-code kdl::syntax` says more";
        assert_eq!(summary(&[finding(), finding()]).as_deref(), Some(expected));
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_failure_and_a_full_disk_is() {
        assert!(write_results(&mut Failing(ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(write_results(&mut Failing(ErrorKind::StorageFull), b"x").is_err());
    }
}
