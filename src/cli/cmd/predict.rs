//! `bench predict`: run a DynoSim configuration and write DynoSim's files.

use crate::cli::args::PredictArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: &PredictArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("predict"))
}
