//! `bench fmt`: format KDL files, keeping comments.

use std::path::Path;

use crate::cli::args::FmtArgs;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::scenario::{edit, format};

use super::forbid::forbid_pins_write;

/// Runs the command. Every file is read before any is written; stdout names the files that changed, or would.
pub(super) fn run(args: &FmtArgs, context: &Context) -> Result<Exit, Failure> {
    let mut findings = Bag::new();
    let mut changed: Vec<(&Path, String)> = Vec::new();
    for path in &args.files {
        match formatted(path) {
            Ok(Some(text)) => changed.push((path, text)),
            Ok(None) => {}
            Err(bag) => findings.extend(bag),
        }
    }
    if findings.has_errors() {
        return Err(findings.into());
    }
    if !args.check {
        for (path, _) in &changed {
            forbid_pins_write(Code::PinForbidden, path, context)?;
        }
        for (path, text) in &changed {
            edit::replace_file(path, text)?;
        }
    }
    let names = changed.iter().map(|(path, _)| path.display().to_string());
    print(
        names
            .flat_map(|name| {
                [
                    name,
                    "
"
                    .to_owned(),
                ]
            })
            .collect::<String>(),
    )?;
    Ok(if args.check && !changed.is_empty() { Exit::Drift } else { Exit::Success })
}

/// Returns the new text of a file, or `None` where it is formatted already.
fn formatted(path: &Path) -> Result<Option<String>, Bag> {
    let name = path.to_string_lossy();
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(Code::ScenarioFile, format!("`{name}` cannot be read: {error}"))
            .help("is the path right?")
    })?;
    let text = diag::utf8(Code::ScenarioFile, &name, bytes)?;
    let formatted = format::format(&SourceFile::new(&name, &text))?;
    Ok((formatted != text).then_some(formatted))
}
