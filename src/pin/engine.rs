//! Engine pins: `pins/engines/NAME/pin.kdl`, or `pins/engines/NAME-VERSION/pin.kdl` where one engine is pinned at several versions.

use std::path::Path;

use crate::diag::{Bag, Code};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::scenario::cursor::View;
use crate::scenario::shape::{Field, Shape};

use super::capability::CAPABILITIES;
use super::file::{ABOUT, Files, NAME, ORIGIN, PinFile, digest};
use super::{Capabilities, EngineVersion, PinKind};

static VERSION: Shape =
    Shape::new("version", "The exact version; for `native` the version of its behaviour.")
        .once()
        .args(&[Field::version("VERSION", "The version.")])
        .props(&[
            Field::text("checksum", "The registry checksum of an upstream engine.").optional()
        ]);

static CRATE: Shape = Shape::new("crate", "The package of an upstream engine in the registry.")
    .args(&[Field::text("CRATE", "Its name there.")]);

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
    .block(&[&ABOUT, &VERSION, &CRATE, &REFERENCE, &CAPABILITIES, &CANNOT_PROMISE, &ORIGIN]);

/// What the file of an engine pin may hold.
pub(super) static FILE: Shape = Shape::root(&[&ENGINE]);

/// A pinned engine. Scenarios pin it by version and checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnginePin {
    /// Its folder under `pins/engines`: its name, or its name and version.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// The exact version.
    pub version: String,
    /// The registry checksum of an upstream engine.
    pub checksum: Option<String>,
    /// The package of an upstream engine in the registry.
    pub package: Option<String>,
    /// The upstream behaviour that `native` imitates by default.
    pub reference: Option<String>,
    /// What the runner of an upstream engine can run; what `native` can is in the program.
    pub capabilities: Capabilities,
    /// What differs from run to run.
    pub cannot_promise: Vec<String>,
}

impl EnginePin {
    /// Reads the file of the pin in a folder.
    pub(super) fn load(root: &Path, folder: &str) -> Result<Self, Bag> {
        PinFile { files: Files::Folder(root), kind: PinKind::Engine, name: folder }
            .load(&FILE, |node, bag| decode(folder, node, bag))
    }

    /// Returns the pin's digest. Scenarios pin engines by version and checksum; this one is for listings.
    pub fn digest(&self) -> Sha256 {
        let optional = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::text);
        let has_capabilities = self.capabilities != Capabilities::default();
        let fields = object([
            ("checksum", optional(&self.checksum)),
            ("reference", optional(&self.reference)),
            ("version", Value::text(&self.version)),
        ])
        .with("capabilities", has_capabilities.then(|| self.capabilities.canonical()))
        .with("package", self.package.as_ref().map(Value::text));
        digest(PinKind::Engine, fields)
    }

    /// Returns whether a text means this pin's version: exactly, or by a nightly's number alone.
    pub fn is_version(&self, stated: &str) -> bool {
        let parsed = EngineVersion::parse(&self.version).zip(EngineVersion::parse(stated));
        self.version == stated || parsed.is_some_and(|(own, stated)| own.is_meant_by(&stated))
    }
}

/// Decodes an `engine` node.
fn decode(folder: &str, node: &View<'_>, bag: &mut Bag) -> Option<EnginePin> {
    let version = node.child("version")?;
    let reference = node.child("reference").and_then(|reference| reference.text("VERSION"));
    let package = node.child("crate").and_then(|package| package.text("CRATE"));
    let unpromised = |view: &View<'_>| view.text("WHAT").map(str::to_owned);
    let pin = EnginePin {
        folder: folder.to_owned(),
        name: node.text("NAME")?.to_owned(),
        version: version.text("VERSION")?.to_owned(),
        checksum: version.text("checksum").map(str::to_owned),
        package: package.map(str::to_owned),
        reference: reference.map(str::to_owned),
        capabilities: node.child("capabilities").map(Capabilities::decode).unwrap_or_default(),
        cannot_promise: node.all("cannot-promise").map(unpromised).collect::<Option<_>>()?,
    };
    let full = format!("{}-{}", pin.name, pin.version);
    if folder != pin.name && folder != full {
        let message = format!("an engine pin is in a folder called `{}` or `{full}`", pin.name);
        let found = format!("this one is in `{folder}`");
        bag.push(version.problem(Code::PinName, "VERSION", message, found));
    }
    if pin.package.is_some()
        && (pin.checksum.is_none() || EngineVersion::parse(&pin.version).is_none())
    {
        let message = "an engine from a registry has the registry's version and checksum";
        bag.push(version.problem(Code::PinField, "VERSION", message, "one of them is none"));
    }
    Some(pin)
}
