//! Engine pins: `pins/engines/NAME/pin.kdl`.

use std::path::Path;

use crate::diag::Bag;
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};

use super::PinKind;
use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};

static VERSION: Shape =
    Shape::new("version", "The exact version; for `native` the version of its behaviour.")
        .once()
        .args(&[Field::version("VERSION", "The version.")])
        .props(&[
            Field::text("checksum", "The registry checksum of an upstream engine.").optional()
        ]);

static REFERENCE: Shape =
    Shape::new("reference", "The upstream behaviour that `native` imitates by default.")
        .args(&[Field::version("VERSION", "The upstream version.")]);

static CANNOT_PROMISE: Shape =
    Shape::new("cannot-promise", "Something that differs from run to run of this engine.")
        .repeated()
        .args(&[Field::text("WHAT", "What it is; the runner removes it.")]);

static ENGINE: Shape = Shape::new("engine", "An engine at one exact version.")
    .keyed_once()
    .args(&NAME)
    .block(&[&ABOUT, &VERSION, &REFERENCE, &CANNOT_PROMISE, &ORIGIN]);

/// What the file of an engine pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&ENGINE]);

/// A pinned engine. Scenarios pin it by version and checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnginePin {
    /// Its name.
    pub name: String,
    /// The exact version.
    pub version: String,
    /// The registry checksum of an upstream engine.
    pub checksum: Option<String>,
    /// The upstream behaviour that `native` imitates by default.
    pub reference: Option<String>,
    /// What differs from run to run.
    pub cannot_promise: Vec<String>,
}

impl EnginePin {
    /// Reads the pin's file.
    pub(super) fn load(root: &Path, name: &str) -> Result<Self, Bag> {
        PinFile { files: Files::Folder(root), kind: PinKind::Engine, name }
            .load(&FILE, |node, _| decode(name, node))
    }

    /// Returns the pin's digest. Scenarios pin engines by version and checksum; this one is for listings.
    pub fn digest(&self) -> Sha256 {
        let optional = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::text);
        let fields = object([
            ("checksum", optional(&self.checksum)),
            ("reference", optional(&self.reference)),
            ("version", Value::text(&self.version)),
        ]);
        digest(PinKind::Engine, fields)
    }
}

/// Decodes an `engine` node.
fn decode(name: &str, node: &View<'_>) -> Option<EnginePin> {
    let version = node.child("version")?;
    let reference = node.child("reference").and_then(|reference| reference.text("VERSION"));
    let unpromised = |view: &View<'_>| view.text("WHAT").map(str::to_owned);
    Some(EnginePin {
        name: name.to_owned(),
        version: version.text("VERSION")?.to_owned(),
        checksum: version.text("checksum").map(str::to_owned),
        reference: reference.map(str::to_owned),
        cannot_promise: node.all("cannot-promise").map(unpromised).collect::<Option<_>>()?,
    })
}
