//! `bench man`: print the manual page of the program or of one command.

use clap::CommandFactory;

use crate::cli::args::ManArgs;
use crate::cli::{Arguments, Context, Exit, Failure, print};
use crate::diag::{Code, Problem};

/// Runs the command.
pub(super) fn run(args: &ManArgs, _context: &Context) -> Result<Exit, Failure> {
    let mut program = Arguments::command();
    program.build();
    let mut command = &program;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| unknown(&args.command))?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).expect("a Vec takes every write");
    print(page)?;
    Ok(Exit::Success)
}

/// Returns the finding for a name that is no command.
fn unknown(words: &[String]) -> Problem {
    Problem::new(Code::UnknownCommand, format!("`{}` is no command", words.join(" ")))
        .help("`bench --help` lists the commands")
}
