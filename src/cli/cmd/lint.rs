//! `bench lint`: report every error and warning of a scenario; run nothing.

use crate::cli::args::LintArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &LintArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("lint"))
}
