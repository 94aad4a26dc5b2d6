//! Files that a pin names: verified before a byte of them means anything.

use std::path::{Component, Path};

use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::scenario::cursor::View;
use crate::scenario::edit::Edit;
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax::Place;
use crate::trace::Shard;

/// The `shard` node of traces and timing tables.
pub(super) static SHARD: Shape =
    Shape::new("shard", "A file of the pin; several are read in the order written.")
        .keyed_once()
        .args(&[Field::path("FILE", "The file, relative to the pin's folder.")])
        .props(&[
            Field::digest("sha256", "The digest of the file."),
            Field::count("bytes", "The size of the file."),
            Field::digest("content-sha256", "The digest of what the file holds once unpacked.")
                .derived("for a file that is not packed, its own digest"),
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
    /// Where the pin states the size.
    bytes_place: Place,
    /// Where the pin states the digest of the contents, or would.
    content_place: Place,
    /// Whether it does.
    content_stated: bool,
    /// The pin's name, for the command that accepts another digest.
    pin: String,
}

impl PinnedFile {
    /// Decodes a `shard` node of the pin `pin`, whose file lies in `folder`.
    pub(super) fn decode(shard: &View<'_>, folder: &str, pin: &str, bag: &mut Bag) -> Option<Self> {
        let file = shard.text("FILE")?;
        let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            let message = format!("a pinned file lies beside its pin, found `{file}`");
            bag.push(shard.problem(Code::PinField, "FILE", message, "leads elsewhere"));
        }
        let packed = Path::new(file).extension().is_some_and(|extension| extension == "gz");
        if packed && shard.digest("content-sha256").is_none() {
            let message = "a packed file needs `content-sha256`, the digest of what it holds";
            let problem = shard.problem(Code::PinField, "FILE", message, "packed");
            bag.push(problem.help(format!("`gzip -dc {file} | sha256sum` prints it")));
        }
        let sha256 = shard.digest("sha256")?;
        Some(Self {
            path: format!("{folder}/{file}"),
            sha256,
            bytes: shard.count("bytes")?,
            content_sha256: shard.digest("content-sha256").unwrap_or(sha256),
            place: shard.place("sha256"),
            bytes_place: shard.place("bytes"),
            content_place: shard.place("content-sha256"),
            content_stated: shard.is_given("content-sha256"),
            pin: pin.to_owned(),
        })
    }

    /// Reads the file into memory and verifies its size, then its digest.
    ///
    /// # Errors
    /// `pin::file` when it cannot be read, `pin::size` and `pin::digest` when it is another file, with both sizes and digests.
    pub fn read(&self, root: &Path) -> Result<Vec<u8>, Problem> {
        let bytes = std::fs::read(root.join(&self.path)).map_err(|error| {
            let message = format!("cannot read `{}`: {error}", self.path);
            self.place.problem(Code::PinFile, message, "pinned here")
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

    /// Returns what the file holds once unpacked, unverified, with the edits that make the pin's file describe it.
    ///
    /// # Errors
    /// A file that cannot be read or unpacked.
    pub(super) fn describe(&self, root: &Path) -> Result<(Vec<u8>, Vec<Edit>), Problem> {
        let shard = Shard::load(&root.join(&self.path), &self.path)?;
        let content = shard.unpack()?.into_owned();
        let quoted = |digest: Sha256| format!("\"{}\"", digest.hex());
        let (found, inside) = (Sha256::of(shard.bytes()), Sha256::of(&content));
        let mut edits = Vec::new();
        if found != self.sha256 {
            edits.push(Edit::replace(&self.place, quoted(found)));
        }
        if u64::try_from(shard.bytes().len()) != Ok(self.bytes) {
            edits.push(Edit::replace(&self.bytes_place, shard.bytes().len().to_string()));
        }
        if self.content_stated && inside != self.content_sha256 {
            edits.push(Edit::replace(&self.content_place, quoted(inside)));
        }
        Ok((content, edits))
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
