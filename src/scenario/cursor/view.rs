//! Typed access to a node that was checked.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::scenario::scalar::Datum;
use crate::scenario::shape::{Kind, Shape};
use crate::scenario::syntax::{Node, Place, Value};

/// A node that was checked against its shape.
///
/// Accessors take the names of the shape. They answer `None` where the field is absent without a default, or was refused.
#[derive(Debug)]
pub struct View<'a> {
    pub(super) shape: &'static Shape,
    pub(super) kind: Option<&'static Kind>,
    pub(super) node: Option<&'a Node>,
    pub(super) fields: BTreeMap<&'a str, Given<'a>>,
    pub(super) rest: Vec<(&'a Value, Datum)>,
    pub(super) open: Vec<(&'a str, &'a Value, Datum)>,
    pub(super) children: Vec<Self>,
    pub(super) place: Place,
}

/// A field's value and where it stands; defaults stand nowhere.
#[derive(Debug)]
pub(super) struct Given<'a> {
    pub(super) datum: Datum,
    pub(super) value: Option<&'a Value>,
}

impl<'a> View<'a> {
    /// Returns a count.
    pub fn count(&self, name: &str) -> Option<u64> {
        if let Datum::Count(count) = self.datum(name)? { Some(*count) } else { None }
    }

    /// Returns a count whose shape keeps it within 32 bits.
    pub fn count32(&self, name: &str) -> Option<u32> {
        self.count(name).map(|count| {
            u32::try_from(count).expect("the shape of a 32-bit count limits it to 32 bits")
        })
    }

    /// Returns a number, or a duration in milliseconds.
    pub fn real(&self, name: &str) -> Option<f64> {
        if let Datum::Real(number) = self.datum(name)? { Some(*number) } else { None }
    }

    /// Returns several numbers.
    pub fn reals(&self, name: &str) -> Option<&[f64]> {
        if let Datum::Reals(numbers) = self.datum(name)? { Some(numbers) } else { None }
    }

    /// Returns a switch.
    pub fn flag(&self, name: &str) -> Option<bool> {
        if let Datum::Flag(flag) = self.datum(name)? { Some(*flag) } else { None }
    }

    /// Returns a string, word, name, version or path.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Datum::Text(text) = self.datum(name)? { Some(text) } else { None }
    }

    /// Returns a digest.
    pub fn digest(&self, name: &str) -> Option<Sha256> {
        if let Datum::Digest(digest) = self.datum(name)? { Some(*digest) } else { None }
    }

    /// Returns whatever a field holds.
    pub fn datum(&self, name: &str) -> Option<&Datum> {
        debug_assert!(self.knows(name), "`{}` has no field `{name}`", self.shape.name);
        self.fields.get(name).map(|given| &given.datum)
    }

    /// Returns the word of the first argument, where it decides what else the node takes.
    pub fn kind(&self) -> Option<&'static str> {
        self.kind.map(|kind| kind.word)
    }

    /// Returns whether the file itself gives the field.
    pub fn is_given(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Returns the value that the file itself gives.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).and_then(|given| given.value)
    }

    /// Returns where the field's value stands, or where the node's head does.
    pub fn place(&self, name: &str) -> Place {
        self.value(name).map_or_else(|| self.head(), |value| value.place.clone())
    }

    /// Returns where the node's head stands: its name and first argument.
    pub fn head(&self) -> Place {
        self.node.map_or_else(|| self.place.clone(), Node::head)
    }

    /// Returns the node itself; a file has none.
    pub fn node(&self) -> Option<&'a Node> {
        self.node
    }

    /// Returns all fields, defaults too, by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Datum)> {
        self.fields.iter().map(|(name, given)| (*name, &given.datum))
    }

    /// Returns the fields that the file itself gives, by name.
    pub fn given(&self) -> impl Iterator<Item = (&str, &Datum)> {
        let given = self.fields.iter().filter(|(_, given)| given.value.is_some());
        given.map(|(name, given)| (*name, &given.datum))
    }

    /// Returns the further arguments.
    pub fn rest(&self) -> &[(&'a Value, Datum)] {
        &self.rest
    }

    /// Returns the properties of any name.
    pub fn open(&self) -> &[(&'a str, &'a Value, Datum)] {
        &self.open
    }

    /// Returns the node of this name in the block, the first where several stand.
    pub fn child(&self, name: &str) -> Option<&View<'a>> {
        self.children.iter().find(|child| child.shape.name == name)
    }

    /// Returns the nodes of this name in the block, in file order.
    pub fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s View<'a>> {
        self.children.iter().filter(move |child| child.shape.name == name)
    }

    /// Returns all nodes of the block, in file order.
    pub fn children(&self) -> &[View<'a>] {
        &self.children
    }

    /// Returns the node's name.
    pub fn name(&self) -> &'static str {
        self.shape.name
    }

    /// Returns a problem at a field's value, or at the node's head where it is not given.
    pub fn problem(
        &self,
        code: Code,
        field: &str,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Problem {
        self.place(field).problem(code, message, label)
    }

    /// Returns whether the shape declares the field, for catching slips in decoders.
    fn knows(&self, name: &str) -> bool {
        let shape = self.shape;
        shape.open_props.is_some()
            || name == "KIND"
            || shape
                .args
                .iter()
                .chain(shape.kinds.iter().flat_map(|kind| kind.args))
                .any(|field| field.name == name)
            || shape.prop(name).is_some()
    }
}
