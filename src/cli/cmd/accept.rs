//! `bench accept`: run what changed three times in fresh processes, show the difference, write the golden.

use crate::cli::args::AcceptArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &AcceptArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("accept"))
}
