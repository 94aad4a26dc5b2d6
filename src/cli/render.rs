//! What is written where: results to stdout, everything else to stderr.

use std::io::{self, ErrorKind, Write};

use miette::{GraphicalReportHandler, GraphicalTheme};

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
    /// Writes findings to stderr, in file order; warnings are left out under `--quiet`.
    pub(crate) fn report(&self, findings: Bag) {
        for problem in findings.into_sorted() {
            if problem.severity() == Severity::Error || self.verbosity() != Verbosity::Quiet {
                stderr_text(&self.rendered(&problem));
            }
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

    /// Returns a finding as a person reads it: with colours and boxes on a terminal, else in plain unwrapped ASCII.
    fn rendered(&self, problem: &Problem) -> String {
        let theme = match (self.is_coloured(), self.environment().stderr) {
            (true, _) => GraphicalTheme::unicode(),
            (false, Stderr::Terminal) => GraphicalTheme::unicode_nocolor(),
            (false, Stderr::Plain) => GraphicalTheme::none(),
        };
        let mut handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        if self.environment().stderr == Stderr::Plain {
            handler = handler.with_width(usize::MAX).with_wrap_lines(false);
        }
        let mut text = String::new();
        handler.render_report(&mut text, problem).expect("a String takes every write");
        text
    }
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

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_away_is_no_failure_and_a_full_disk_is() {
        assert!(write_results(&mut Failing(ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(write_results(&mut Failing(ErrorKind::StorageFull), b"x").is_err());
    }
}
