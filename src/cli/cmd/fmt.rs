//! `bench fmt`: format KDL files, keeping comments.

use crate::cli::args::FmtArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &FmtArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("fmt"))
}
