//! `bench pin`: fill in or move the digests of a scenario, or those that a pin states of the files beside it.

use std::path::Path;

use crate::cli::args::PinArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Bag, Code, Problem};
use crate::pin::{PinKind, Registry, Scope};
use crate::plan::repin;
use crate::scenario::edit;

use super::forbid::forbid_pins_write;

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

/// Fills in what a pin's file should state of the files beside it; with `--update`, moves what it states.
fn pin_file(
    args: &PinArgs,
    context: &Context,
    (root, kind, name): (&Path, PinKind, &str),
) -> Result<Exit, Failure> {
    if let Some(other) = args.update.iter().find(|update| *update != name) {
        let message = format!("`{}` is the pin `{name}`, not `{other}`", args.file.display());
        let help = format!("did you mean `--update {name}`?");
        return Err(Problem::new(Code::PinUnknown, message).help(help).into());
    }
    let scope = if args.update.is_empty() { Scope::Missing } else { Scope::All };
    let registry = Registry::open(root)?;
    let described = registry.describe(kind, name, scope).map_err(Bag::from)?;
    if described.is_changed {
        forbid_pins_write(Code::PinForbidden, &args.file, context)?;
        edit::replace_file(&args.file, &described.text)?;
    }
    let pin = registry.pin(kind, name).map_err(Bag::from)?;
    pin.verify(root)?;
    if described.is_changed {
        print(format!("{} {name}: {}\n", kind.name(), pin.digest()))?;
    } else {
        context.note(&format!("{}: every file is as pinned", args.file.display()));
    }
    Ok(Exit::Success)
}
