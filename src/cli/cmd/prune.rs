//! `bench prune`: remove what no later command needs below `runs/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::cli::args::PruneArgs;
use crate::cli::{Context, Exit, Failure, is_older_than_a_day, print};
use crate::diag::{Code, Problem, counted};
use crate::report::{Prunable, PruneRule, prunable};
use crate::scenario::project_root;

use super::program::program_digest;
use super::run::unwritable;

/// Runs the command.
pub(super) fn run(args: &PruneArgs, context: &Context) -> Result<Exit, Failure> {
    let runs = runs(args, context)?;
    let keep = args.keep.map(|keep| usize::try_from(keep).unwrap_or(usize::MAX));
    let program = program_digest(context);
    let rule = PruneRule { program, keep, is_stale: &is_older_than_a_day };
    let found = prunable(&runs, &rule).map_err(|error| unwritable(&runs, &error))?;
    if !args.dry_run {
        for folder in &found {
            std::fs::remove_dir_all(&folder.path)
                .map_err(|error| unwritable(&folder.path, &error))?;
        }
    }
    print(list(&runs, &found))?;
    let done = if args.dry_run { "would be removed" } else { "removed" };
    context.note(&format!("{} {done} below {}", counted(found.len(), "folder"), runs.display()));
    Ok(Exit::Success)
}

/// Returns where runs are kept.
fn runs(args: &PruneArgs, context: &Context) -> Result<PathBuf, Failure> {
    if let Some(runs) = &args.runs {
        if !runs.is_dir() {
            let message = format!("`{}` is no folder", runs.display());
            let problem = Problem::new(Code::RunUnreadable, message);
            return Err(problem
                .help("name the folder that `bench run --runs DIR` was given")
                .into());
        }
        return Ok(runs.clone());
    }
    let root = context
        .root()
        .map_or_else(|| project_root(Path::new("runs")), |root| Ok(root.to_owned()))?;
    Ok(root.join("runs"))
}

/// Returns a line for each folder.
fn list(runs: &Path, found: &[Prunable]) -> String {
    let mut text = String::new();
    for folder in found {
        let path = folder.path.strip_prefix(runs).unwrap_or(&folder.path).display();
        writeln!(text, "{path}  {}", folder.why.text()).expect("a String takes every write");
    }
    text
}
