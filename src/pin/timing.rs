//! Timing pins: `pins/timing/NAME.kdl`, a table of pass times in a file beside it.

use std::path::Path;

use crate::diag::{Bag, Problem};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use crate::trace::Shard;

use super::file::{ABOUT, NAME, ORIGIN, PinFile, digest};
use super::verify::SHARD;
use super::{PinKind, PinnedFile};

static FORMAT: Shape = Shape::new("format", "The file format.").once().args(&[Field::word(
    "FORMAT",
    &["pass-table"],
    "The file format.",
)]);

static TIMING: Shape = Shape::new("timing", "Times of engine passes, measured.")
    .keyed_once()
    .args(&NAME)
    .block(&[&ABOUT, &FORMAT, &SHARD, &ORIGIN]);

/// What the file of a timing pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&TIMING]);

/// A pinned table of pass times.
#[derive(Debug, Clone)]
pub struct TimingPin {
    /// Its name.
    pub name: String,
    /// The file format.
    pub format: String,
    /// Its files, in order.
    pub files: Vec<PinnedFile>,
}

impl TimingPin {
    /// Reads the pin's file.
    pub(super) fn load(root: &Path, name: &str) -> Result<Self, Bag> {
        PinFile { root, kind: PinKind::Timing, name }
            .load(&FILE, |node, bag| decode(name, node, bag))
    }

    /// Returns the pin's digest: everything that can change a number; names, `about` and `origin` stay out.
    pub fn digest(&self) -> Sha256 {
        let files = self.files.iter().map(|file| {
            object([
                ("bytes", Value::count(file.bytes)),
                ("content_sha256", file.content_sha256.into()),
                ("sha256", file.sha256.into()),
            ])
        });
        let fields = object([
            ("files", Value::List(files.collect())),
            ("format", Value::text(&self.format)),
        ]);
        digest(PinKind::Timing, fields)
    }

    /// Reads and verifies every file and returns what each holds once unpacked.
    ///
    /// # Errors
    /// Everything that is not as pinned.
    pub fn open(&self, root: &Path) -> Result<Vec<Vec<u8>>, Bag> {
        let mut bag = Bag::new();
        let mut contents = Vec::with_capacity(self.files.len());
        for file in &self.files {
            match open_file(file, root) {
                Ok(content) => contents.push(content),
                Err(problem) => bag.push(problem),
            }
        }
        if bag.is_empty() { Ok(contents) } else { Err(bag) }
    }
}

/// Verifies one file and returns what it holds.
fn open_file(file: &PinnedFile, root: &Path) -> Result<Vec<u8>, Problem> {
    let content = Shard::new(&file.path, file.read(root)?).unpack()?.into_owned();
    file.verify_contents(&content)?;
    Ok(content)
}

/// Decodes a `timing` node.
fn decode(name: &str, node: &View<'_>, bag: &mut Bag) -> Option<TimingPin> {
    let folder = PinKind::Timing.folder();
    let files = node
        .all("shard")
        .filter_map(|shard| PinnedFile::decode(shard, folder, name, bag))
        .collect();
    let format = node.child("format")?.text("FORMAT")?.to_owned();
    Some(TimingPin { name: name.to_owned(), format, files })
}
