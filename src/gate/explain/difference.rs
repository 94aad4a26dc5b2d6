//! An event that differs.

use std::collections::BTreeMap;

use crate::digest::canonical::Value;
use crate::report::parse_json;
use crate::units::Nanos;

use super::event::{Event, Identity, Step};

/// An event that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What it is about.
    pub identity: Identity,
    /// The first instant at which the sides are seen to differ by it.
    pub at: Nanos,
    /// How it differs.
    pub change: Change,
    /// What the left side says of it.
    pub left: Option<Facts>,
    /// What the right side says of it.
    pub right: Option<Facts>,
}

/// What a side says of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// When it happened, or began.
    pub begins: Nanos,
    /// When it ended, where it lasted.
    pub ends: Option<Nanos>,
    /// Everything, by name.
    pub fields: BTreeMap<String, Value>,
}

/// How an event differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Only the left side has it.
    OnlyLeft,
    /// Only the right side has it.
    OnlyRight,
    /// Both have it, and it says something else.
    Fields(Vec<FieldChange>),
    /// Both have the same events, and from here on in another order.
    Order,
}

/// A field that differs; `-` where a side lacks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// Its name.
    pub name: String,
    /// What the left side says.
    pub left: String,
    /// What the right side says.
    pub right: String,
}

/// The fields that are the times of an event, which [`Facts`] repeats.
const BEGINS: [&str; 3] = ["at_ns", "began_ns", "from_ns"];
/// As [`BEGINS`].
const ENDS: [&str; 2] = ["ended_ns", "to_ns"];

impl Facts {
    /// Returns the facts of an event of a transcript.
    pub(super) fn of(event: &Event<'_>) -> Self {
        let fields = match parse_json(event.json) {
            Ok(Value::Object(fields)) => fields,
            // It was read as an event before, so it is an object.
            Ok(_) | Err(_) => BTreeMap::new(),
        };
        Self { begins: Nanos::new(event.begins), ends: event.ends.map(Nanos::new), fields }
    }

    /// Returns a count among the fields.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.fields.get(name)?.as_count()
    }
}

impl Difference {
    /// Returns the difference of an event that one or both sides have; `None` where they agree.
    pub(super) fn between(
        identity: Identity,
        left: Option<Facts>,
        right: Option<Facts>,
    ) -> Option<Self> {
        let (change, at) = match (&left, &right) {
            (None, None) => return None,
            (Some(left), None) => (Change::OnlyLeft, left.begins),
            (None, Some(right)) => (Change::OnlyRight, right.begins),
            (Some(left), Some(right)) => {
                let changes = field_changes(&left.fields, &right.fields);
                if changes.is_empty() {
                    return None;
                }
                let at = seen_at(left, right, &changes);
                (Change::Fields(changes), at)
            }
        };
        Some(Self { identity, at, change, left, right })
    }

    /// Returns whether both sides have the event, and differ in nothing but when it ended.
    pub fn ends_otherwise(&self) -> bool {
        match &self.change {
            Change::Fields(changes) => {
                changes.iter().all(|change| ENDS.contains(&change.name.as_str()))
            }
            Change::OnlyLeft | Change::OnlyRight | Change::Order => false,
        }
    }

    /// Returns the change of a field, where it differs.
    pub fn field(&self, name: &str) -> Option<&FieldChange> {
        match &self.change {
            Change::Fields(changes) => changes.iter().find(|change| change.name == name),
            Change::OnlyLeft | Change::OnlyRight | Change::Order => None,
        }
    }

    /// Returns what differences are sorted by: when they are seen, and of one instant what causes comes before what follows.
    pub(super) fn key(&self) -> (Nanos, u8, Identity) {
        (self.at, self.phase(), self.identity)
    }

    /// Returns the place in the order in which an instant does things: passes end, hand-offs go on, requests arrive, passes start.
    fn phase(&self) -> u8 {
        let Identity::Step { step, .. } = self.identity else {
            return if self.ends_otherwise() { 0 } else { 12 };
        };
        match step {
            Step::FirstToken => 1,
            Step::LastToken => 2,
            Step::End => 3,
            Step::Hold => 4,
            Step::Transfer if self.ends_otherwise() => 5,
            Step::Reserve => 6,
            Step::Transfer => 7,
            Step::Activate => 8,
            Step::Release => 9,
            Step::Arrive => 10,
            Step::Admit | Step::Preempt => 11,
        }
    }
}

/// Returns the fields that differ.
fn field_changes(
    left: &BTreeMap<String, Value>,
    right: &BTreeMap<String, Value>,
) -> Vec<FieldChange> {
    let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names.into_iter().filter(|name| !is_same(left.get(*name), right.get(*name)));
    changed
        .map(|name| FieldChange {
            name: name.clone(),
            left: value_text(left.get(name)),
            right: value_text(right.get(name)),
        })
        .collect()
}

/// Returns whether two values are equal. Numbers are equal by value: a computed `4.0` and the `4` that is read back from a file are one number.
pub(super) fn is_same(left: Option<&Value>, right: Option<&Value>) -> bool {
    left == right || left.map(Value::to_bytes) == right.map(Value::to_bytes)
}

/// Returns a value as people read it.
pub(super) fn value_text(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Text(text)) => text.clone(),
        Some(other) => String::from_utf8_lossy(&other.to_bytes()).into_owned(),
    }
}

/// Returns when the sides are first seen to differ: at the earlier beginning, unless only the ends differ.
fn seen_at(left: &Facts, right: &Facts, changes: &[FieldChange]) -> Nanos {
    let differs_in = |names: &[&str]| {
        let is_one = |change: &FieldChange| names.contains(&change.name.as_str());
        changes.iter().all(is_one)
    };
    let ends = left.ends.zip(right.ends).map(|(left, right)| left.min(right));
    match ends {
        Some(ends) if differs_in(&ENDS) => ends,
        Some(_) | None => left.begins.min(right.begins),
    }
}

/// Returns whether a field is one of the times that [`Facts`] repeats.
pub(super) fn is_time(name: &str) -> bool {
    BEGINS.contains(&name) || ENDS.contains(&name)
}
