//! Typed access to a mapping that reports every mistake and goes on.

use crate::diag::{Bag, Code};
use crate::scenario::bounds;

use super::Place;
use super::field::{Field, FieldKind};
use crate::scenario::written::{Data, Entry, Map, Node};

/// Which whole numbers a field takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    least: u64,
    most: u64,
}

/// Which reals a field takes; all are finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Real {
    /// Above 0.
    Positive,
    /// 0 and above.
    NotNegative,
    /// 0 to 1.
    Share,
    /// Above 0, at most 1.
    ShareAboveZero,
}

/// A mapping of the schema that has been opened: its unknown fields are reported already.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    map: &'a Map,
    table: &'static [Field],
    path: String,
    place: Place,
}

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    bag: Bag,
}

impl Whole {
    /// 1 and above, as far as JSON numbers are exact.
    pub(super) const POSITIVE: Self = Self { least: 1, most: bounds::EXACT };
    /// 0 and above.
    pub(super) const ANY: Self = Self { least: 0, most: u64::MAX };
    /// 1 up to the length of a prompt or an output.
    pub(super) const POSITIVE_32: Self = Self { least: 1, most: u32::MAX as u64 };
    /// 0 up to the same.
    pub(super) const ANY_32: Self = Self { least: 0, most: u32::MAX as u64 };

    /// A factor of parallelism.
    pub(super) const FACTOR: Self = Self { least: 1, most: bounds::RANKS };
    /// Tokens of a block.
    pub(super) const BLOCK_SIZE: Self = Self { least: 1, most: bounds::BLOCK_SIZE };
    /// Requests or sessions of a run.
    pub(super) const REQUESTS: Self = Self { least: 1, most: bounds::REQUESTS };

    /// Returns the whole numbers of a closed range.
    pub(super) const fn between(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    fn words(self) -> String {
        match (self.least, self.most) {
            (0, u64::MAX) => "a whole number, not negative".to_owned(),
            (least, most) => format!("a whole number from {least} to {most}"),
        }
    }
}

impl Real {
    const fn words(self) -> &'static str {
        match self {
            Self::Positive => "a finite number above 0",
            Self::NotNegative => "a finite number, not negative",
            Self::Share => "a number from 0 to 1",
            Self::ShareAboveZero => "a number above 0 and at most 1",
        }
    }

    fn holds(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Self::Positive => number > 0.0,
                Self::NotNegative => number >= 0.0,
                Self::Share => (0.0..=1.0).contains(&number),
                Self::ShareAboveZero => number > 0.0 && number <= 1.0,
            }
    }
}

impl Report {
    /// Adds a finding.
    pub(super) fn push(&mut self, problem: crate::diag::Problem) {
        self.bag.push(problem);
    }

    /// Returns all findings.
    pub(super) fn into_bag(self) -> Bag {
        self.bag
    }

    /// Reports a value that this build does not cover.
    pub(super) fn not_covered(&mut self, place: &Place, what: &str) {
        self.push(
            place
                .problem(
                    Code::DynosimUnsupported,
                    format!("this build cannot run {what}"),
                    "is not covered",
                )
                .help("`docs/predict.md` lists what is covered"),
        );
    }

    fn wrong_type(&mut self, path: &str, node: &Node, expected: &str) {
        let message = format!("`{path}`: expected {expected}, found {}", node.describe());
        self.push(node.place.problem(
            Code::DynosimWrongType,
            message,
            format!("expected {expected}"),
        ));
    }

    fn out_of_range(&mut self, path: &str, node: &Node, expected: &str) {
        let message = format!("`{path}`: expected {expected}, found {}", node.describe());
        self.push(node.place.problem(
            Code::DynosimOutOfRange,
            message,
            format!("expected {expected}"),
        ));
    }
}

impl<'a> Fields<'a> {
    /// Opens a mapping: reports its unknown and refused fields. `path` is empty for the root, `place` is the mapping's key.
    pub(super) fn open(
        node: &'a Node,
        table: &'static [Field],
        path: String,
        place: Place,
        report: &mut Report,
    ) -> Option<Self> {
        let Data::Map(map) = &node.data else {
            let name = if path.is_empty() { "the configuration" } else { &path };
            report.wrong_type(name, node, "a mapping");
            return None;
        };
        let fields = Self { map, table, path, place };
        fields.check_names(report);
        Some(fields)
    }

    /// Opens a mapping as [`Self::open`] does, and ignores its unknown fields.
    pub(super) fn open_lenient(
        node: &'a Node,
        table: &'static [Field],
        path: String,
        place: Place,
        report: &mut Report,
    ) -> Option<Self> {
        let Data::Map(map) = &node.data else {
            let name = if path.is_empty() { "the specification" } else { &path };
            report.wrong_type(name, node, "an object");
            return None;
        };
        let fields = Self { map, table, path, place };
        for entry in map.entries.iter().filter(|entry| fields.knows(&entry.key)) {
            fields.check_name(entry, report);
        }
        Some(fields)
    }

    /// Opens the mapping of a field, and ignores its unknown fields.
    pub(super) fn lenient_section(
        &self,
        name: &'static str,
        table: &'static [Field],
        report: &mut Report,
    ) -> Option<Self> {
        let entry = self.entry(name)?;
        Self::open_lenient(&entry.value, table, self.at(name), entry.place.clone(), report)
    }

    /// Returns whether a field is stated as null.
    pub(super) fn is_null(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|entry| matches!(entry.value.data, Data::Null))
    }

    fn knows(&self, name: &str) -> bool {
        self.table.iter().any(|field| field.name == name)
    }

    fn check_names(&self, report: &mut Report) {
        for entry in &self.map.entries {
            self.check_name(entry, report);
        }
    }

    fn check_name(&self, entry: &Entry, report: &mut Report) {
        let kind = self.table.iter().find(|field| field.name == entry.key);
        match kind.map(|field| field.kind) {
            Some(FieldKind::Value | FieldKind::Nullable) => {}
            Some(FieldKind::NotCovered) => {
                if !matches!(entry.value.data, Data::Null) {
                    report.not_covered(&entry.place, &format!("`{}`", self.at(&entry.key)));
                }
            }
            Some(FieldKind::Refused(reason)) => {
                let message = format!("`{}` {reason}", self.at(&entry.key));
                report.push(entry.place.problem(Code::DynosimUnknownField, message, "is refused"));
            }
            None => self.unknown(entry, report),
        }
    }

    fn unknown(&self, entry: &Entry, report: &mut Report) {
        let names: Vec<&str> = self
            .table
            .iter()
            .filter(|field| !matches!(field.kind, FieldKind::Refused(_)))
            .map(|field| field.name)
            .collect();
        let nearest = nearest(&entry.key, &names);
        let help = match nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known here: {}", names.join(", ")),
        };
        let message = if self.path.is_empty() {
            format!("`{}` is no section of a prediction", entry.key)
        } else {
            format!("`{}` is no field of `{}`", entry.key, self.path)
        };
        report.push(
            entry.place.problem(Code::DynosimUnknownField, message, "is not known here").help(help),
        );
    }

    /// Returns the full path of a field.
    pub(super) fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Returns the entry of a field unless it is absent or its null means absence.
    pub(super) fn entry(&self, name: &'static str) -> Option<&'a Entry> {
        let field = self.table.iter().find(|field| field.name == name);
        let field = field.expect("decoders ask only for fields of their table");
        let entry = self.map.get(name)?;
        let absent = field.kind == FieldKind::Nullable && matches!(entry.value.data, Data::Null);
        (!absent).then_some(entry)
    }

    /// Returns where a field's value is written, or the mapping's place where it is not.
    pub(super) fn entry_place(&self, name: &str) -> &Place {
        self.map.get(name).map_or(&self.place, |entry| &entry.value.place)
    }

    /// Returns whether a field is stated.
    pub(super) fn states(&self, name: &'static str) -> bool {
        self.entry(name).is_some()
    }

    /// Reports a missing field.
    pub(super) fn missing(&self, name: &str, why: &str, report: &mut Report) {
        report.push(
            self.place
                .problem(
                    Code::DynosimMissingField,
                    format!("`{}` is missing: {why}", self.at(name)),
                    format!("lacks `{name}`"),
                )
                .help(format!("add `{name}`")),
        );
    }

    /// Reports a stated field that something else excludes.
    pub(super) fn conflict(&self, name: &'static str, why: &str, report: &mut Report) {
        if let Some(entry) = self.entry(name) {
            report.push(entry.place.problem(
                Code::DynosimConflict,
                format!("`{}` {why}", self.at(name)),
                "does not belong here",
            ));
        }
    }

    /// Reports a product of sizes, at the first of `names` that is stated.
    pub(super) fn too_much(
        &self,
        names: &[&'static str],
        excess: Option<String>,
        report: &mut Report,
    ) {
        let Some(excess) = excess else { return };
        let name = names.iter().copied().find(|name| self.states(name));
        let (place, name) = match name {
            Some(name) => (self.entry_place(name), self.at(name)),
            None => (&self.place, self.path.clone()),
        };
        let message = format!("`{name}` {excess}");
        report.push(place.problem(Code::DynosimOutOfRange, message, "does not fit the rest"));
    }

    /// Returns a whole number.
    pub(super) fn whole(
        &self,
        name: &'static str,
        range: Whole,
        report: &mut Report,
    ) -> Option<u64> {
        let node = &self.entry(name)?.value;
        let Data::Int(number) = node.data else {
            report.wrong_type(&self.at(name), node, &range.words());
            return None;
        };
        let number = u64::try_from(number).ok().filter(|n| (range.least..=range.most).contains(n));
        if number.is_none() {
            report.out_of_range(&self.at(name), node, &range.words());
        }
        number
    }

    /// Returns a whole number of 32 bits; the range must be one of 32 bits.
    pub(super) fn whole_32(
        &self,
        name: &'static str,
        range: Whole,
        report: &mut Report,
    ) -> Option<u32> {
        self.whole(name, range, report)
            .map(|number| u32::try_from(number).expect("the range is one of 32 bits"))
    }

    /// Returns a real; a whole number is one.
    pub(super) fn real(&self, name: &'static str, rule: Real, report: &mut Report) -> Option<f64> {
        let node = &self.entry(name)?.value;
        real_of(node, rule, &self.at(name), report)
    }

    /// Returns a truth value.
    pub(super) fn flag(&self, name: &'static str, report: &mut Report) -> Option<bool> {
        let node = &self.entry(name)?.value;
        if let Data::Bool(flag) = node.data {
            return Some(flag);
        }
        report.wrong_type(&self.at(name), node, "`true` or `false`");
        None
    }

    /// Returns a text that is not empty.
    pub(super) fn text(&self, name: &'static str, report: &mut Report) -> Option<&'a str> {
        let node = &self.entry(name)?.value;
        text_of(node, &self.at(name), report)
    }

    /// Returns what one of the known words stands for.
    pub(super) fn word<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        report: &mut Report,
    ) -> Option<T> {
        let node = &self.entry(name)?.value;
        let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let expected = format!("one of {}", known.join(", "));
        let Data::Text(text) = &node.data else {
            report.wrong_type(&self.at(name), node, &expected);
            return None;
        };
        let found = words.iter().find(|(word, _)| word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            report.out_of_range(&self.at(name), node, &expected);
        }
        found
    }

    /// Returns the items of a sequence.
    pub(super) fn items(&self, name: &'static str, report: &mut Report) -> Option<&'a [Node]> {
        let node = &self.entry(name)?.value;
        if let Data::List(items) = &node.data {
            return Some(items);
        }
        report.wrong_type(&self.at(name), node, "a sequence");
        None
    }

    /// Opens the mapping of a field.
    pub(super) fn section(
        &self,
        name: &'static str,
        table: &'static [Field],
        report: &mut Report,
    ) -> Option<Self> {
        let entry = self.entry(name)?;
        Self::open(&entry.value, table, self.at(name), entry.place.clone(), report)
    }
}

/// Returns the real that a value is.
pub(super) fn real_of(node: &Node, rule: Real, path: &str, report: &mut Report) -> Option<f64> {
    let number = match node.data {
        Data::Float(number) => number,
        #[expect(clippy::cast_precision_loss, reason = "a real written as a whole number")]
        Data::Int(number) => number as f64,
        Data::Null
        | Data::Bool(_)
        | Data::Text(_)
        | Data::Other(_)
        | Data::List(_)
        | Data::Tokens(_)
        | Data::Map(_) => {
            report.wrong_type(path, node, rule.words());
            return None;
        }
    };
    if rule.holds(number) {
        return Some(number);
    }
    report.out_of_range(path, node, rule.words());
    None
}

/// Returns the text that a value is; it is not empty.
pub(super) fn text_of<'a>(node: &'a Node, path: &str, report: &mut Report) -> Option<&'a str> {
    match &node.data {
        Data::Text(text) if !text.is_empty() => return Some(text),
        Data::Text(_) => report.out_of_range(path, node, "a text that is not empty"),
        Data::Null
        | Data::Bool(_)
        | Data::Int(_)
        | Data::Float(_)
        | Data::Other(_)
        | Data::List(_)
        | Data::Tokens(_)
        | Data::Map(_) => report.wrong_type(path, node, "a text"),
    }
    None
}

/// Returns the known name that a misspelt or shortened one most likely stands for.
fn nearest<'n>(found: &str, names: &[&'n str]) -> Option<&'n str> {
    let likeness = |name: &str| strsim::jaro_winkler(name, found);
    names
        .iter()
        .copied()
        .filter(|name| strsim::damerau_levenshtein(name, found) <= 2 || likeness(name) >= 0.9)
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}
