//! `bench explain-code`: explain a diagnostic code.

use crate::cli::args::ExplainCodeArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &ExplainCodeArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("explain-code"))
}
