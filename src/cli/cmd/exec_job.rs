//! `bench exec-job`: run one job in this process and print its digests.

use crate::cli::args::ExecJobArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &ExecJobArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("exec-job"))
}
