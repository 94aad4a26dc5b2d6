//! Files that a pin names: verified before a byte of them means anything.

use std::path::{Component, Path};

use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::Place;
use crate::trace::is_named_packed;

use super::file::Files;

/// What holds where a field that describes a file is absent: nothing is verified until it is there.
const FILLED_IN: &str = "`bench pin PINFILE` fills it in";

/// The `shard` node of traces and timing tables.
pub(super) static SHARD: Shape =
    Shape::new("shard", "A file of the pin; several are read in the order written.")
        .keyed_once()
        .args(&[Field::path("FILE", "The file, relative to the pin's folder.")])
        .props(&[
            Field::digest("sha256", "The digest of the file.").derived(FILLED_IN),
            Field::count("bytes", "The size of the file.").derived(FILLED_IN),
            Field::digest("content-sha256", "The digest of what a packed file holds.")
                .derived(FILLED_IN),
        ]);

/// A file that a pin names.
#[derive(Debug, Clone)]
pub struct PinnedFile {
    /// The path relative to the project root, with `/`.
    pub path: String,
    /// The digest of the file.
    pub sha256: Sha256,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The digest of what it holds once unpacked.
    pub content_sha256: Sha256,
    /// Where the pin states the digest.
    place: Place,
    /// Where the pin states the digest of the contents, or would.
    content_place: Place,
    /// The pin's name, for the command that accepts another digest.
    pin: String,
}

impl PinnedFile {
    /// Decodes a `shard` node of the pin `pin`, whose file lies in `folder`.
    pub(super) fn decode(shard: &View<'_>, folder: &str, pin: &str, bag: &mut Bag) -> Option<Self> {
        let file = shard.text("FILE")?;
        if !lies_beside(file) {
            bag.push(elsewhere(shard, file));
        }
        for name in required(file) {
            if shard.datum(name).is_none() {
                let message = format!("the pin does not state `{name}` of `{file}`");
                bag.push(incomplete(&shard.head(), &message, "not described"));
            }
        }
        let sha256 = shard.digest("sha256")?;
        Some(Self {
            path: format!("{folder}/{file}"),
            sha256,
            bytes: shard.count("bytes")?,
            content_sha256: shard.digest("content-sha256").unwrap_or(sha256),
            place: shard.place("sha256"),
            content_place: shard.place("content-sha256"),
            pin: pin.to_owned(),
        })
    }

    /// Reads the file into memory and verifies its size, then its digest.
    ///
    /// # Errors
    /// `pin::file` when it cannot be read, `pin::size` and `pin::digest` when it is another file, with both sizes and digests.
    pub fn read(&self, root: &Path) -> Result<Vec<u8>, Problem> {
        self.read_from(Files::Folder(root))
    }

    /// As [`PinnedFile::read`], from where the pin itself was read.
    pub(super) fn read_from(&self, files: Files<'_>) -> Result<Vec<u8>, Problem> {
        let bytes = files.read(&self.path).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", self.path);
            let problem = self.place.problem(Code::PinFile, message, "pinned here");
            problem.help("restore the file beside its pin, or pin another one")
        })?;
        let (size, found) = (bytes.len(), Sha256::of(&bytes));
        let code = if u64::try_from(size) != Ok(self.bytes) {
            Code::PinSize
        } else if found != self.sha256 {
            Code::PinDigest
        } else {
            return Ok(bytes);
        };
        let what = format!("`{}` is not the pinned file", self.path);
        let pinned = format!("pinned {} ({} bytes)", self.sha256, self.bytes);
        let found = format!("found  {found} ({size} bytes)");
        Err(self.mismatch(code, &self.place, &format!("{what}\n{pinned}\n{found}")))
    }

    /// Verifies the size of the file, then its digest.
    ///
    /// # Errors
    /// As [`PinnedFile::read`].
    pub fn verify(&self, root: &Path) -> Result<(), Problem> {
        self.read(root).map(drop)
    }

    /// Verifies what the file holds once unpacked.
    ///
    /// # Errors
    /// `pin::contents` with both digests and the size and lines found.
    pub(super) fn verify_contents(&self, text: &[u8]) -> Result<(), Problem> {
        let found = Sha256::of(text);
        if found == self.content_sha256 {
            return Ok(());
        }
        let what = format!("`{}` does not hold the pinned contents", self.path);
        let pinned = format!("pinned {}", self.content_sha256);
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        let found = format!("found  {found} ({} bytes in {lines} lines)", text.len());
        let message = format!("{what}\n{pinned}\n{found}");
        Err(self.mismatch(Code::PinContents, &self.content_place, &message))
    }

    /// Returns a problem with the command that accepts what was found.
    fn mismatch(&self, code: Code, place: &Place, message: &str) -> Problem {
        let (file, pin) = (place.source().name(), &self.pin);
        let help = format!(
            "restore the file; or, where the new one is right, accept it with `bench pin {file} --update {pin}`"
        );
        place.problem(code, message, "pinned here").help(help)
    }
}

/// Returns whether a path leads to a file in the pin's own folder or below it.
pub(super) fn lies_beside(file: &str) -> bool {
    Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns the problem of a path that leads elsewhere.
pub(super) fn elsewhere(shard: &View<'_>, file: &str) -> Problem {
    let message = format!("a pinned file lies beside its pin, found `{file}`");
    shard.problem(Code::PinField, "FILE", message, "leads elsewhere")
}

/// Returns the properties that describe a file: a packed one has a digest of its contents as well.
pub(super) fn required(file: &str) -> &'static [&'static str] {
    if is_named_packed(file) {
        &["sha256", "bytes", "content-sha256"]
    } else {
        &["sha256", "bytes"]
    }
}

/// Returns the problem of a pin that lacks what `bench pin` fills in.
pub(super) fn incomplete(place: &Place, message: &str, label: &str) -> Problem {
    let help = format!("`bench pin {}` fills it in", place.source().name());
    place.problem(Code::PinIncomplete, message, label).help(help)
}
