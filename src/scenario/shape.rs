//! What a file may hold, as data: nodes, arguments, properties, types, defaults, and a sentence each.
//!
//! A shape is declared once in a `static` and drives everything: checking, defaults, "did you mean", and the reference page.

use super::bounds;

/// A node: its arguments, properties and block.
#[derive(Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub doc: &'static str,
    /// How often it may stand in its block.
    pub occurs: Occurs,
    /// Its arguments, in order; optional ones last.
    pub args: &'static [Field],
    /// What further arguments are, where any number may follow.
    pub rest: Option<&'static Field>,
    /// Its properties.
    pub props: &'static [Field],
    /// What a property of any other name is, where any may stand.
    pub open_props: Option<&'static Field>,
    /// The words of its first argument, where they decide what else it takes.
    pub kinds: &'static [Kind],
    /// The nodes of its block.
    pub children: &'static [&'static Self],
}

/// One word of a node's first argument, with what only that word takes.
#[derive(Debug)]
pub struct Kind {
    /// The word.
    pub word: &'static str,
    /// What it means, in one sentence.
    pub doc: &'static str,
    /// Arguments after the word.
    pub args: &'static [Field],
    /// Properties beside those of the node.
    pub props: &'static [Field],
    /// Nodes of its block beside those of the node.
    pub children: &'static [&'static Shape],
}

/// How often a node may stand in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurs {
    /// Once, and it must.
    Once,
    /// Once or not at all.
    Optional,
    /// Any number of times, each with a first argument of its own.
    Named,
    /// As [`Occurs::Named`], and at least once.
    NamedRequired,
    /// Any number of times.
    Repeated,
}

/// An argument or a property.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name; arguments are named in capitals.
    pub name: &'static str,
    /// What it may be.
    pub kind: Type,
    /// What holds where it is absent.
    pub absent: Absent,
    /// What it is, in one sentence.
    pub doc: &'static str,
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// A whole number.
    Count {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// A finite number.
    Real {
        /// The least, and whether it is itself allowed.
        min: Limit,
        /// The greatest, and whether it is itself allowed.
        max: Limit,
    },
    /// `#true` or `#false`.
    Flag,
    /// Any string.
    Text,
    /// A string that may become part of a job id or a file name.
    Name,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number or one of these words.
    CountOr(&'static [&'static str]),
    /// A version: a string, never a number.
    Version,
    /// Shares from 0 to 1: one number, or a string of several with spaces between them.
    Shares,
    /// A SHA-256 digest.
    Digest,
    /// A string of a number and a unit, such as `"250ms"`.
    Duration,
    /// A path with `/`, relative to what the sentence says.
    Path,
    /// Any value; judged where it is used.
    Any,
}

/// The end of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// No end.
    None,
    /// Up to and with this number.
    Inclusive(f64),
    /// Up to but without this number.
    Exclusive(f64),
}

/// What holds where a field is absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Absent {
    /// It must not be absent.
    Refused,
    /// Nothing does.
    Nothing,
    /// Something that the decoder derives, in words.
    Derived(&'static str),
    /// This count.
    Count(u64),
    /// This number.
    Real(f64),
    /// This flag.
    Flag(bool),
    /// This text.
    Text(&'static str),
    /// This duration in milliseconds.
    DurationMs(f64),
}

impl Shape {
    /// Returns a node that may stand once and takes nothing.
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            occurs: Occurs::Optional,
            args: &[],
            rest: None,
            props: &[],
            open_props: None,
            kinds: &[],
            children: &[],
        }
    }

    /// Returns the shape of a whole file.
    pub const fn root(children: &'static [&'static Self]) -> Self {
        Self::new("", "The file.").block(children)
    }

    /// Returns it as a node that must stand once.
    pub const fn once(mut self) -> Self {
        self.occurs = Occurs::Once;
        self
    }

    /// Returns it as a node that may stand any number of times.
    pub const fn repeated(mut self) -> Self {
        self.occurs = Occurs::Repeated;
        self
    }

    /// Returns it as a node that stands any number of times, each with another first argument (declared by `args` or `kinds`).
    pub const fn keyed(mut self) -> Self {
        self.occurs = Occurs::Named;
        self
    }

    /// Returns it as [`Self::keyed`], at least once.
    pub const fn keyed_once(mut self) -> Self {
        self.occurs = Occurs::NamedRequired;
        self
    }

    /// Returns it with its arguments.
    pub const fn args(mut self, args: &'static [Field]) -> Self {
        self.args = args;
        self
    }

    /// Returns it with any number of further arguments.
    pub const fn rest(mut self, field: &'static Field) -> Self {
        self.rest = Some(field);
        self
    }

    /// Returns it with its properties.
    pub const fn props(mut self, props: &'static [Field]) -> Self {
        self.props = props;
        self
    }

    /// Returns it with properties of any name.
    pub const fn open(mut self, field: &'static Field) -> Self {
        self.open_props = Some(field);
        self
    }

    /// Returns it with a first argument that decides what else it takes; the argument is called `KIND`.
    pub const fn kinds(mut self, kinds: &'static [Kind]) -> Self {
        self.kinds = kinds;
        self
    }

    /// Returns it with a block.
    pub const fn block(mut self, children: &'static [&'static Self]) -> Self {
        self.children = children;
        self
    }

    /// Returns the kind of this word.
    pub fn kind(&self, word: &str) -> Option<&'static Kind> {
        self.kinds.iter().find(|kind| kind.word == word)
    }

    /// Returns the node of this name in the block, whichever kind it belongs to.
    pub fn child(&self, name: &str) -> Option<&'static Self> {
        self.all_children().find(|child| child.name == name)
    }

    /// Returns the property of this name, whichever kind it belongs to.
    pub fn prop(&self, name: &str) -> Option<&'static Field> {
        self.all_props().find(|field| field.name == name)
    }

    /// Returns the nodes of the block, of every kind.
    pub fn all_children(&self) -> impl Iterator<Item = &'static Self> {
        self.children.iter().chain(self.kinds.iter().flat_map(|kind| kind.children)).copied()
    }

    /// Returns the properties, of every kind.
    pub fn all_props(&self) -> impl Iterator<Item = &'static Field> {
        self.props.iter().chain(self.kinds.iter().flat_map(|kind| kind.props))
    }
}

impl Kind {
    /// Returns a word that takes nothing more.
    pub const fn new(word: &'static str, doc: &'static str) -> Self {
        Self { word, doc, args: &[], props: &[], children: &[] }
    }

    /// Returns it with further arguments.
    pub const fn args(mut self, args: &'static [Field]) -> Self {
        self.args = args;
        self
    }

    /// Returns it with properties.
    pub const fn props(mut self, props: &'static [Field]) -> Self {
        self.props = props;
        self
    }

    /// Returns it with a block.
    pub const fn block(mut self, children: &'static [&'static Shape]) -> Self {
        self.children = children;
        self
    }
}

impl Field {
    /// Returns a field that must be given.
    pub const fn new(name: &'static str, kind: Type, doc: &'static str) -> Self {
        Self { name, kind, absent: Absent::Refused, doc }
    }

    /// Returns a count from 0.
    pub const fn count(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Count { min: 0, max: bounds::EXACT }, doc)
    }

    /// Returns a count that fits 32 bits, from 1.
    pub const fn count32(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Count { min: 1, max: u32::MAX as u64 }, doc)
    }

    /// Returns a number of tokens that a prompt or an output may have, from 1.
    pub const fn tokens(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Count { min: 1, max: bounds::TOKENS }, doc)
    }

    /// Returns a factor of parallelism, from 1.
    pub const fn factor(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Count { min: 1, max: bounds::RANKS }, doc)
    }

    /// Returns a 64-bit seed.
    pub const fn seed(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Count { min: 0, max: u64::MAX }, doc)
    }

    /// Returns a number that is not negative.
    pub const fn real(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Real { min: Limit::Inclusive(0.0), max: Limit::None }, doc)
    }

    /// Returns a number above 0.
    pub const fn positive(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Real { min: Limit::Exclusive(0.0), max: Limit::None }, doc)
    }

    /// Returns a number from 0 to 1.
    pub const fn share(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Real { min: Limit::Inclusive(0.0), max: Limit::Inclusive(1.0) }, doc)
    }

    /// Returns a switch.
    pub const fn flag(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Flag, doc)
    }

    /// Returns any string.
    pub const fn text(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Text, doc)
    }

    /// Returns a name.
    pub const fn name(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Name, doc)
    }

    /// Returns one of a few words.
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        doc: &'static str,
    ) -> Self {
        Self::new(name, Type::Word(words), doc)
    }

    /// Returns a version.
    pub const fn version(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Version, doc)
    }

    /// Returns a SHA-256 digest.
    pub const fn digest(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Digest, doc)
    }

    /// Returns a duration.
    pub const fn duration(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Duration, doc)
    }

    /// Returns a path.
    pub const fn path(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, Type::Path, doc)
    }

    /// Returns it with a least value, for a count.
    pub const fn at_least(mut self, least: u64) -> Self {
        if let Type::Count { max, .. } = self.kind {
            self.kind = Type::Count { min: least, max };
        }
        self
    }

    /// Returns it with a greatest value, for a count.
    pub const fn at_most(mut self, greatest: u64) -> Self {
        if let Type::Count { min, .. } = self.kind {
            self.kind = Type::Count { min, max: greatest };
        }
        self
    }

    /// Returns it as a field that may be absent.
    pub const fn optional(mut self) -> Self {
        self.absent = Absent::Nothing;
        self
    }

    /// Returns it as a field whose default the decoder derives as `words` say.
    pub const fn derived(mut self, words: &'static str) -> Self {
        self.absent = Absent::Derived(words);
        self
    }

    /// Returns it with a default count.
    pub const fn or_count(mut self, count: u64) -> Self {
        self.absent = Absent::Count(count);
        self
    }

    /// Returns it with a default number.
    pub const fn or_real(mut self, number: f64) -> Self {
        self.absent = Absent::Real(number);
        self
    }

    /// Returns it as a switch that is off by default.
    pub const fn or_off(mut self) -> Self {
        self.absent = Absent::Flag(false);
        self
    }

    /// Returns it as a switch that is on by default.
    pub const fn or_on(mut self) -> Self {
        self.absent = Absent::Flag(true);
        self
    }

    /// Returns it with a default text or word.
    pub const fn or_text(mut self, text: &'static str) -> Self {
        self.absent = Absent::Text(text);
        self
    }

    /// Returns it with a default duration in milliseconds.
    pub const fn or_ms(mut self, ms: f64) -> Self {
        self.absent = Absent::DurationMs(ms);
        self
    }
}
