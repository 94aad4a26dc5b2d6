//! Reading a pin's KDL file.

use std::path::Path;

use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::digest::canonical::{Value, object};
use crate::digest::{Domain, Sha256};
use crate::scenario::cursor::{self, View};
use crate::scenario::shape::{Field, Shape};
use crate::scenario::syntax;

use super::{PinKind, bundle};

/// What the pin is, for people; not hashed.
pub(super) static ABOUT: Shape = Shape::new("about", "What it is, for people; not hashed.")
    .args(&[Field::text("TEXT", "A sentence.")]);

/// Where the facts or the data come from; not hashed.
pub(super) static ORIGIN: Shape =
    Shape::new("origin", "Where facts or data come from; not hashed.")
        .repeated()
        .args(&[Field::text("SOURCE", "A document, repository or package.")])
        .props(&[
            Field::text("path", "The file in it.").optional(),
            Field::text("commit", "The commit.").optional(),
            Field::text("url", "Where it is found.").optional(),
            Field::text("license", "The licence of the data, as an SPDX expression.").optional(),
        ]);

/// The one argument of every pin.
pub(super) static NAME: [Field; 1] =
    [Field::name("NAME", "Its name: the file's name without `.kdl`.")];

/// Where pins and the files beside them are read from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Files<'a> {
    /// Below the root of a project.
    Folder(&'a Path),
    /// In the program itself.
    Bundled,
}

impl Files<'_> {
    /// Returns what a file holds; `path` is relative to the root, with `/`.
    pub(super) fn read(self, path: &str) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Folder(root) => std::fs::read(root.join(path)),
            Self::Bundled => match bundle::file(path) {
                Some(bytes) => Ok(bytes.to_vec()),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
        }
    }
}

/// A pin's file: where it is and what must be in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PinFile<'a> {
    /// Where it is read from.
    pub(super) files: Files<'a>,
    /// The kind of pin.
    pub(super) kind: PinKind,
    /// The pin's name.
    pub(super) name: &'a str,
}

impl PinFile<'_> {
    /// Reads and checks the file against `shape` and hands its one node to `decode`.
    ///
    /// # Errors
    /// Everything wrong with it, in file order.
    pub(super) fn load<T>(
        self,
        shape: &'static Shape,
        decode: impl FnOnce(&View<'_>, &mut Bag) -> Option<T>,
    ) -> Result<T, Bag> {
        let relative = self.kind.file(self.name);
        let bytes = self.files.read(&relative).map_err(|error| {
            Problem::new(Code::PinRead, format!("cannot read the pin `{relative}`: {error}"))
        })?;
        let text = diag::utf8(Code::PinRead, &relative, bytes)?;
        let source = SourceFile::new(&relative, &text);
        let document = syntax::parse(&source)?;
        let mut bag = Bag::new();
        let view = cursor::check(&document, shape, &mut bag);
        let Some(node) = view.child(self.kind.name()) else { return Err(bag) };
        if node.text("NAME").is_some_and(|name| !self.kind.is_called(self.name, name)) {
            let message = format!("a pin is named after its file: `{}`", self.name);
            let problem = node.problem(Code::PinName, "NAME", message, "another name");
            bag.push(problem.help(format!("rename the pin to `{}`, or move the file", self.name)));
        }
        match decode(node, &mut bag) {
            Some(pin) if !bag.has_errors() => Ok(pin),
            Some(_) | None => {
                assert!(bag.has_errors(), "a bug: a pin was refused without a reason: {relative}");
                Err(bag)
            }
        }
    }
}

/// Returns the digest of a pin: its kind and every field that can change a number.
pub(super) fn digest(kind: PinKind, fields: Value) -> Sha256 {
    let canonical = object([("fields", fields), ("kind", Value::text(kind.name()))]);
    Domain::Pin.digest(&canonical.to_bytes())
}
