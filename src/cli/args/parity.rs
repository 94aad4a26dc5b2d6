//! `parity`: recorded answers against this program.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Arguments of `parity`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ParityArgs {
    /// Folders of recorded cases, with `--engine` scenarios too [default: tests/fixtures/oracle of the project]
    #[arg(value_name = "PATH")]
    pub(crate) folders: Vec<PathBuf>,

    /// Run the same jobs on this pinned engine and compare with it instead of with what was recorded
    #[arg(long, value_name = "ENGINE", requires = "version")]
    pub(crate) engine: Option<String>,

    /// The engine's version, a nightly by its number too
    #[arg(long = "version", id = "version", value_name = "VERSION", requires = "engine")]
    pub(crate) version: Option<String>,

    /// Only cases or jobs whose names begin so; repeat for more
    #[arg(long, value_name = "PREFIX")]
    pub(crate) only: Vec<String>,

    /// How to print the table
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

impl ParityArgs {
    /// Returns whether a case or job is asked for.
    pub(crate) fn is_wanted(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| name.starts_with(prefix))
    }
}
