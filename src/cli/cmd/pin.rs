//! `bench pin`: fill in or move the digests of a scenario, or those that a pin states of the files beside it.

use std::path::Path;

use crate::cli::args::PinArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Bag, Code, Problem};
use crate::pin::{PinKind, Registry};
use crate::plan::repin;
use crate::scenario::edit;

/// Runs the command; stdout names what changed.
pub(super) fn run(args: &PinArgs, context: &Context) -> Result<Exit, Failure> {
    if let Some((root, kind, name)) = PinKind::locate(&args.file) {
        return pin_file(args, context, (&root, kind, &name));
    }
    let repinned = repin(&args.file, context.root(), &args.update)?;
    if repinned.changes.is_empty() {
        context.note(&format!("{}: every pin is in place", args.file.display()));
        return Ok(Exit::Success);
    }
    edit::replace_file(&args.file, &repinned.text)?;
    print(repinned.changes.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>())?;
    Ok(Exit::Success)
}

/// Moves what a pin's file states of the files beside it.
fn pin_file(
    args: &PinArgs,
    context: &Context,
    (root, kind, name): (&Path, PinKind, &str),
) -> Result<Exit, Failure> {
    if let Some(other) = args.update.iter().find(|update| *update != name) {
        let message = format!("`{}` is the pin `{name}`, not `{other}`", args.file.display());
        return Err(Problem::new(Code::PinUnknown, message)
            .help(format!("did you mean `--update {name}`?"))
            .into());
    }
    let pin = Registry::open(root)?.pin(kind, name).map_err(Bag::from)?;
    if args.update.is_empty() {
        pin.verify(root)?;
        context.note(&format!("{}: every file is as pinned", args.file.display()));
        return Ok(Exit::Success);
    }
    let before = std::fs::read_to_string(&args.file).map_err(|error| {
        Problem::new(Code::PinRead, format!("cannot read `{}`: {error}", args.file.display()))
    })?;
    let after = pin.redescribed(root, &before)?;
    if after == before {
        context.note(&format!("{}: every file is as pinned", args.file.display()));
        return Ok(Exit::Success);
    }
    edit::replace_file(&args.file, &after)?;
    let digest = Registry::open(root)?.pin(kind, name).map_err(Bag::from)?.digest();
    print(format!("{} {name}: {digest}\n", kind.name()))?;
    Ok(Exit::Success)
}
