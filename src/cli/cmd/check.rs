//! `bench check`: run without the cache, compare with the golden, write nothing.

use crate::cli::args::CheckArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &CheckArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("check"))
}
