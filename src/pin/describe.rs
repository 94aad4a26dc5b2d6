//! What a pin states of the files beside it, computed from them.

use std::path::Path;

use crate::diag::{Bag, Problem};
use crate::digest::Sha256;
use crate::scenario::cursor::View;
use crate::scenario::edit::{self, Edit};
use crate::scenario::shape::Shape;
use crate::trace::{Shard, TraceFormat, count_rows};

use super::file::{Files, PinFile};
use super::verify::{elsewhere, lies_beside, required};
use super::{PinKind, timing, trace};

/// Which statements are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those that are missing.
    Missing,
    /// All: another file is accepted.
    All,
}

/// A pin's file as it would describe the files beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The text; every other byte is as it was.
    pub text: String,
    /// Whether it differs from what is there.
    pub is_changed: bool,
}

/// Returns the description of a pin's files. Pins without files describe themselves.
pub(super) fn describe(
    root: &Path,
    kind: PinKind,
    name: &str,
    scope: Scope,
) -> Result<Description, Bag> {
    let shape: &'static Shape = match kind {
        PinKind::Trace => &trace::FILE,
        PinKind::Timing => &timing::FILE,
        PinKind::Engine => &super::engine::FILE,
        PinKind::Hardware => &super::hardware::FILE,
        PinKind::Model => &super::model::FILE,
    };
    let describer = Describer { root, kind, scope };
    PinFile { files: Files::Folder(root), kind, name }.load(shape, |node, bag| {
        match describer.edits(node) {
            Ok(edits) => {
                let text = edit::apply(node.head().source().text(), &edits);
                Some(Description { text, is_changed: !edits.is_empty() })
            }
            Err(problem) => {
                bag.push(problem);
                None
            }
        }
    })
}

/// What describing needs to know.
struct Describer<'a> {
    root: &'a Path,
    kind: PinKind,
    scope: Scope,
}

impl Describer<'_> {
    /// Returns the edits of a pin's node.
    fn edits(&self, node: &View<'_>) -> Result<Vec<Edit>, Problem> {
        let mut edits = Vec::new();
        let mut rows = 0;
        let format = format(node);
        for shard in node.all("shard") {
            let Some(file) = shard.text("FILE") else { continue }; // the shape has complained
            let (found, content) = self.shard(shard, file)?;
            edits.extend(found);
            rows += format.map_or(0, |format| count_rows(&content, format));
        }
        edits.extend(format.and_then(|_| self.requests(node, rows)));
        Ok(edits)
    }

    /// Returns the edits of a `shard` node and what its file holds once unpacked.
    fn shard(&self, shard: &View<'_>, file: &str) -> Result<(Vec<Edit>, Vec<u8>), Problem> {
        if !lies_beside(file) {
            return Err(elsewhere(shard, file));
        }
        let path = format!("{}/{file}", self.kind.folder());
        let packed = Shard::load(&self.root.join(&path), &path)?;
        let content = packed.unpack()?.into_owned();
        let quoted = |bytes: &[u8]| format!("\"{}\"", Sha256::of(bytes).hex());
        let mut edits = Vec::new();
        let mut missing = String::new();
        for name in required(file) {
            let found = match *name {
                "bytes" => packed.bytes().len().to_string(),
                "sha256" => quoted(packed.bytes()),
                _ => quoted(&content),
            };
            match shard.value(name) {
                None => missing.extend([" ", name, "=", &found]),
                Some(value) if self.scope == Scope::All && !is_same(&value.text, &found) => {
                    edits.push(Edit::replace(&value.place, found));
                }
                Some(_) => {}
            }
        }
        if !missing.is_empty() {
            edits.push(Edit::insert_after(&shard.head(), missing));
        }
        Ok((edits, content))
    }

    /// Returns the edit of the number of requests, where one is due.
    fn requests(&self, node: &View<'_>, rows: u64) -> Option<Edit> {
        let Some(stated) = node.child("requests") else {
            let format = node.child("format")?;
            return Some(Edit::insert_after(&format.head(), format!("\n    requests {rows}")));
        };
        let is_other = stated.count("COUNT") != Some(rows);
        (self.scope == Scope::All && is_other)
            .then(|| Edit::replace(&stated.place("COUNT"), rows.to_string()))
    }
}

/// Returns whether a value says the same; a digest may be a bare word with its prefix.
fn is_same(stated: &str, found: &str) -> bool {
    let bare = |text: &str| text.trim_matches('"').trim_start_matches("sha256:").to_owned();
    bare(stated) == bare(found)
}

/// Returns the format of a trace.
fn format(node: &View<'_>) -> Option<TraceFormat> {
    let word = node.child("format")?.text("FORMAT")?;
    TraceFormat::ALL.iter().copied().find(|format| format.name() == word)
}
