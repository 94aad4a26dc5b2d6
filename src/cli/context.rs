//! What every command is given beside its own arguments.

use std::path::Path;

use super::args::{Arguments, ColorWhen, Global};
use super::environment::{Environment, RunnerFolders, Stderr, runner_folders};

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Errors, warnings, notes and the progress bar.
    Normal,
    /// Also what was read and written.
    Verbose,
}

/// Global options and a snapshot of the environment.
#[derive(Debug)]
pub struct Context {
    global: Global,
    environment: Environment,
}

impl Context {
    /// Returns the context of this process.
    pub fn new(arguments: &Arguments) -> Self {
        Self { global: arguments.global.clone(), environment: Environment::snapshot() }
    }

    /// Returns the same context with nothing but errors on stderr.
    pub(crate) fn quiet(&self) -> Self {
        let global = Global { quiet: true, verbose: false, ..self.global.clone() };
        Self { global, environment: self.environment }
    }

    /// Returns the project root given with `--root`; without it, the root is found from the scenario.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.global.root.as_deref()
    }

    /// Returns how much is said on stderr.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.global.quiet, self.global.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }

    /// Returns whether stderr gets colours.
    pub(crate) fn is_coloured(&self) -> bool {
        match self.global.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                self.environment.stderr == Stderr::Terminal && !self.environment.no_color
            }
        }
    }

    /// Returns where runners of upstream engines are.
    #[expect(clippy::unused_self, reason = "the context answers for the environment")]
    pub(crate) fn runners(&self) -> RunnerFolders {
        runner_folders()
    }

    /// Returns the environment.
    pub(crate) fn environment(&self) -> Environment {
        self.environment
    }
}
