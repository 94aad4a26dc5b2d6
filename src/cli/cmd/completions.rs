//! `bench completions`: print the completions of a shell.

use clap::CommandFactory;

use crate::cli::args::CompletionsArgs;
use crate::cli::{Arguments, Context, Exit, Failure, print};

/// Runs the command.
pub(super) fn run(args: &CompletionsArgs, _context: &Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "bench", &mut script);
    print(script)?;
    Ok(Exit::Success)
}
