//! `bench docs`: write or check the generated pages.

use std::path::Path;

use crate::cli::args::{DocsArgs, DocsMode};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{self, Code, Problem};
use crate::scenario::{reference, table};

/// Runs the command in the project root, or in the working directory; stdout names the pages that changed, or differ.
pub(super) fn run(args: DocsArgs, context: &Context) -> Result<Exit, Failure> {
    let root = context.root().unwrap_or(Path::new("."));
    let mut differing = Vec::new();
    for (name, text) in pages() {
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

/// Returns every generated page: its path in the project, and its text.
fn pages() -> [(&'static str, String); 2] {
    [("docs/diagnostics.md", diag::page()), ("docs/scenario.md", reference::page(&table::ROOT))]
}

/// Writes a page.
fn write(path: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(path, text).map_err(|error| {
        Problem::new(Code::KdlWrite, format!("`{}` cannot be written: {error}", path.display()))
            .help("run it in the project root, or name the root with `--root`")
    })
}
