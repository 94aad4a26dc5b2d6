//! `bench`: plans, simulates, reports and gates what a scenario asks.

use std::process::ExitCode;

use touchstone::cli::{self, Context};

fn main() -> ExitCode {
    let arguments = match cli::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(exit) => return exit.into(),
    };
    let context = Context::new(&arguments);
    let outcome = cli::dispatch(&arguments, &context);
    cli::conclude(outcome, &context).into()
}
