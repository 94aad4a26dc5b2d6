//! `bench plan`: list the jobs of a scenario with their keys; run nothing.

use crate::cli::args::PlanArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &PlanArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("plan"))
}
