//! A YAML value with its place.

use super::Place;

/// A value and where it is written.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) data: Data,
    /// Where it is written.
    pub(crate) place: Place,
}

/// A YAML value.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    /// Nothing, `~` or `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number; one beyond 128 bits is held at the limit, which no field accepts.
    Int(i128),
    /// A real.
    Float(f64),
    /// A text.
    Text(String),
    /// Something that no field accepts: a date, or a value with a foreign tag.
    Other(&'static str),
    /// A sequence.
    List(Vec<Node>),
    /// A sequence of token ids; JSON's alone.
    Tokens(Vec<u32>),
    /// A mapping.
    Map(Map),
}

/// A mapping in the order written, each key once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map {
    /// Its entries.
    pub(crate) entries: Vec<Entry>,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key is written.
    pub(crate) place: Place,
    /// The value.
    pub(crate) value: Node,
}

impl Node {
    /// Returns what a reader of an error message should see: the kind, and the value where it is short.
    pub(crate) fn describe(&self) -> String {
        match &self.data {
            Data::Null => "nothing (null)".to_owned(),
            Data::Bool(true) => "the truth value `true`".to_owned(),
            Data::Bool(false) => "the truth value `false`".to_owned(),
            Data::Int(number) => format!("the whole number `{number}`"),
            Data::Float(number) => format!("the real `{number:?}`"),
            Data::Text(text) if text.chars().count() <= 40 => format!("the text `{text}`"),
            Data::Text(_) => "a text".to_owned(),
            Data::Other(kind) => (*kind).to_owned(),
            Data::List(_) | Data::Tokens(_) => "a sequence".to_owned(),
            Data::Map(_) => "a mapping".to_owned(),
        }
    }
}

impl Map {
    /// Returns the entry of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns the position of a key.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }
}
