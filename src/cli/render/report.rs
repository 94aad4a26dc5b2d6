//! What a command found, on stderr; and how the process ends.

use crate::cli::context::Verbosity;
use crate::cli::environment::Stderr;
use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Problem, Severity};

use super::finding::{Look, rendered, summary};
use super::streams::{stderr_line, stderr_text};

impl Context {
    /// Writes findings to stderr, in file order, and how many there are; warnings are left out under `--quiet`.
    pub(crate) fn report(&self, findings: Bag) {
        let wanted = |problem: &Problem| {
            problem.severity() == Severity::Error || self.verbosity() != Verbosity::Quiet
        };
        let problems: Vec<Problem> = findings.into_sorted().into_iter().filter(wanted).collect();
        for problem in &problems {
            stderr_text(&rendered(problem, self.look()));
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

    /// Returns what findings look like where stderr leads.
    fn look(&self) -> Look {
        match (self.is_coloured(), self.environment().stderr) {
            (true, _) => Look::Coloured,
            (false, Stderr::Terminal) => Look::Drawn,
            (false, Stderr::Plain) => Look::Plain,
        }
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
