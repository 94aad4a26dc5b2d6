//! `bench run`: run a scenario: plan, simulate, print a table, write the run folder, check the golden.

use crate::cli::args::RunArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &RunArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("run"))
}
