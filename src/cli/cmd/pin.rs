//! `bench pin`: fill in the digests a scenario leaves out, in place.

use crate::cli::args::PinArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &PinArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("pin"))
}
