//! What the two sides were asked: jobs that differ in their description give other answers for that alone.

use crate::digest::canonical::Value;
use crate::report::Report;

use super::difference::{is_same, value_text};

/// A part of the job that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputChange {
    /// Where it stands in the canonical job, with dots.
    pub path: String,
    /// What the left side says; `-` where it says nothing.
    pub left: String,
    /// What the right side says.
    pub right: String,
}

/// Returns where the jobs of two reports differ.
pub(super) fn input_changes(left: &Report, right: &Report) -> Vec<InputChange> {
    let job = |report: &Report| {
        report.value().as_object()?.get("inputs")?.as_object()?.get("job").cloned()
    };
    let mut changes = Vec::new();
    compare("", (job(left).as_ref(), job(right).as_ref()), &mut changes);
    changes
}

/// Adds where two values differ, below `path`.
fn compare(path: &str, values: (Option<&Value>, Option<&Value>), changes: &mut Vec<InputChange>) {
    if is_same(values.0, values.1) {
        return;
    }
    if let (Some(Value::Object(left)), Some(Value::Object(right))) = values {
        let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            compare(&below, (left.get(name), right.get(name)), changes);
        }
        return;
    }
    let (left, right) = (value_text(values.0), value_text(values.1));
    changes.push(InputChange { path: path.to_owned(), left, right });
}
