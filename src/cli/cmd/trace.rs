//! `bench trace`: look into traces.

use crate::cli::args::TraceArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &TraceArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("trace"))
}
