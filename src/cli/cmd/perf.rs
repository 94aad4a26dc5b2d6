//! `bench perf`: measure the simulator: requests and passes per second.

use crate::cli::args::PerfArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &PerfArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("perf"))
}
