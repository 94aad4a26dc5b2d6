//! `bench pin`: fill in or move the digests of a scenario.

use crate::cli::args::PinArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::plan::repin;
use crate::scenario::edit;

/// Runs the command; stdout names what changed.
pub(super) fn run(args: &PinArgs, context: &Context) -> Result<Exit, Failure> {
    let repinned = repin(&args.file, context.root(), &args.update)?;
    if repinned.changes.is_empty() {
        context.note(&format!("{}: every pin is in place", args.file.display()));
        return Ok(Exit::Success);
    }
    edit::replace_file(&args.file, &repinned.text)?;
    print(
        repinned
            .changes
            .iter()
            .flat_map(|line| {
                [
                    line.as_str(),
                    "
",
                ]
            })
            .collect::<String>(),
    )?;
    Ok(Exit::Success)
}
