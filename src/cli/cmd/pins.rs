//! `bench pins`: list or verify the pinned inputs.

use crate::cli::args::PinsArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &PinsArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("pins"))
}
