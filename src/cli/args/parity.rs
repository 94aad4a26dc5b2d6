//! `parity`: recorded answers against this program.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Arguments of `parity`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ParityArgs {
    /// Folders of recorded cases [default: tests/fixtures/oracle of the project]
    #[arg(value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,

    /// Only cases whose names begin so; repeat for more
    #[arg(long, value_name = "PREFIX")]
    pub(crate) only: Vec<String>,

    /// How to print the table
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}
