//! Pinned graphs that somebody wrote: a trace pin whose files hold no rows.

use crate::diag::{Bag, Code, Problem};
use crate::scenario::cursor::View;

/// A format of graphs that somebody wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// A topology and the traces that run it. Source: spec/REPLAY.md §7.1.
    Native,
    /// Sessions with forks and spawns, one a line. Source: spec/REPLAY.md §7.3.
    DagJsonl,
}

/// What a pin says of rows alone: nodes, and flags.
const OF_ROWS: [&str; 6] =
    ["block-size", "nested-timestamp-basis", "timestamps", "columns", "hashes", "requests"];
const FLAGS_OF_ROWS: [&str; 2] = ["sort", "lenient"];

impl GraphFormat {
    /// Returns the word of pins and scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::DagJsonl => "dag-jsonl",
        }
    }

    /// Returns the format of a word.
    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Native, Self::DagJsonl].into_iter().find(|format| format.name() == word)
    }
}

/// Refuses what means nothing where there are no rows.
pub(super) fn check(format: GraphFormat, node: &View<'_>, bag: &mut Bag) {
    let message = |what: &str| {
        format!("`{what}` is about rows, and `{}` is a format of graphs", format.name())
    };
    for name in OF_ROWS {
        if let Some(stated) = node.child(name) {
            bag.push(stated.head().problem(Code::PinField, message(name), "remove this"));
        }
    }
    for name in FLAGS_OF_ROWS {
        if node.flag(name) == Some(true) {
            bag.push(node.problem(Code::PinField, name, message(name), "remove this"));
        }
    }
}

/// Returns the problem of rows that are asked of graphs.
pub(super) fn without_rows(name: &str, format: GraphFormat) -> Problem {
    let message =
        format!("the pin `{name}` holds graphs in the format `{}`, and no rows", format.name());
    let help = format!(
        "a workload names it as `graph \"{name}\" format=\"{}\"`, and a `replay` sends it",
        format.name()
    );
    Problem::new(Code::PinField, message).help(help)
}
