//! `bench docs`: write or check the generated pages.

use std::path::Path;

use crate::cli::args::{DocsArgs, DocsMode};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{self, Code, Problem};
use crate::scenario::reference::{self, NotRun};
use crate::scenario::table;
use crate::sim::LIMITATIONS;

use super::parity::{FIDELITY, fidelity};

/// Runs the command in the project root, or in the working directory; stdout names the pages that changed, or differ.
pub(super) fn run(args: DocsArgs, context: &Context) -> Result<Exit, Failure> {
    let root = context.root().unwrap_or(Path::new("."));
    let mut differing = Vec::new();
    let counted = fidelity(root, context)?.map(|text| (FIDELITY, text));
    for (name, text) in pages().into_iter().chain(counted) {
        let path = root.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
            continue; // the page is as it should be
        }
        differing.push(name);
        if args.mode() == DocsMode::Write {
            write(&path, &text)?;
        }
    }
    print(differing.iter().flat_map(|name| [*name, "\n"]).collect::<String>())?;
    match args.mode() {
        DocsMode::Check if !differing.is_empty() => {
            context.note("these pages are generated; run `bench docs --write`");
            Ok(Exit::Drift)
        }
        DocsMode::Check | DocsMode::Write => Ok(Exit::Success),
    }
}

/// Returns every page that is generated from the program alone: its path in the project, and its text.
fn pages() -> [(&'static str, String); 2] {
    let scenario = reference::page(&table::ROOT, &not_run());
    [("docs/diagnostics.md", diag::page()), ("docs/scenario.md", scenario)]
}

/// Returns what this build does not run: the list by which runs are refused.
fn not_run() -> Vec<NotRun> {
    let words = |path: &str| path.split('.').map(str::to_owned).collect::<Vec<String>>();
    let node = |setting: &str| {
        if setting.starts_with("workload.") {
            return words(&format!("scenario.{setting}"));
        }
        let mut path = words(&format!("scenario.deployment.{setting}"));
        // A role of a worker is no node.
        if path.get(2).is_some_and(|name| name == "worker") {
            path.remove(3);
        }
        path
    };
    let simulated = LIMITATIONS.iter().map(|limitation| NotRun {
        what: limitation.what.to_owned(),
        nodes: limitation.settings.iter().map(|setting| node(setting)).collect(),
    });
    simulated.collect()
}

/// Writes a page.
fn write(path: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(path, text).map_err(|error| {
        Problem::new(Code::KdlWrite, format!("`{}` cannot be written: {error}", path.display()))
            .help("run it in the project root, or name the root with `--root`")
    })
}
