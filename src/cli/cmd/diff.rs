//! `bench diff`: compare two runs, or a run and a golden, metric by metric.

use crate::cli::args::DiffArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &DiffArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("diff"))
}
