//! `bench docs`: write or check the generated pages.

use crate::cli::args::DocsArgs;
use crate::cli::{Context, Exit, Failure};

/// Runs the command.
pub(super) fn run(_args: DocsArgs, _context: &Context) -> Result<Exit, Failure> {
    Err(Failure::unwritten("docs"))
}
