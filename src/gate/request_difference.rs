//! The first request that differs between two runs of a job, and how.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use crate::diag::{agreed, counted};
use crate::digest::canonical::Value;
use crate::report::parse_json;

/// The first request that differs, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestDifference {
    /// Its index.
    pub index: usize,
    /// The first field that differs, in the order of names; `None` where only one side has the request.
    pub field: Option<FieldDifference>,
    /// How many requests differ, those that one side lacks included.
    pub differing: usize,
    /// How many requests the expected side has.
    pub expected_count: usize,
    /// How many the found side has.
    pub found_count: usize,
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// Its name.
    pub name: String,
    /// What was expected; `-` where it is absent.
    pub expected: String,
    /// What was found; `-` where it is absent.
    pub found: String,
}

/// Returns the first difference of two `requests.jsonl`, or `None` where they are equal. Both are read side by side, a line at a time.
///
/// # Errors
/// The answer of the system where one of them cannot be read.
pub fn first_difference(
    mut expected: impl BufRead,
    mut found: impl BufRead,
) -> io::Result<Option<RequestDifference>> {
    let (mut first, mut differing) = (None, 0);
    let (mut expected_count, mut found_count) = (0, 0);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for index in 0.. {
        left.clear();
        right.clear();
        let has_left = expected.read_until(b'\n', &mut left)? > 0;
        let has_right = found.read_until(b'\n', &mut right)? > 0;
        if !has_left && !has_right {
            break;
        }
        expected_count += usize::from(has_left);
        found_count += usize::from(has_right);
        if left != right {
            differing += 1;
            let both = has_left && has_right;
            first
                .get_or_insert_with(|| (index, both.then(|| first_field(&left, &right)).flatten()));
        }
    }
    Ok(first.map(|(index, field)| RequestDifference {
        index,
        field,
        differing,
        expected_count,
        found_count,
    }))
}

/// Returns the first field that differs between two records.
fn first_field(expected: &[u8], found: &[u8]) -> Option<FieldDifference> {
    let (expected, found) = (parse_json(expected).ok()?, parse_json(found).ok()?);
    first_leaf("", &expected, &found)
}

/// Returns the first field that differs between two values, by its path; what has no fields on both sides is a leaf.
fn first_leaf(path: &str, expected: &Value, found: &Value) -> Option<FieldDifference> {
    let (expected, found) = (fields(expected)?, fields(found)?);
    let text = |value: Option<&Value>| {
        value.map_or_else(
            || "-".to_owned(),
            |value| String::from_utf8_lossy(&value.to_bytes()).into_owned(),
        )
    };
    let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
    names.sort_unstable();
    let name = names.into_iter().find(|name| expected.get(*name) != found.get(*name))?;
    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
    let (expected, found) = (expected.get(name).copied(), found.get(name).copied());
    let inner = expected.zip(found);
    let inner = inner.and_then(|(expected, found)| first_leaf(&path, expected, found));
    Some(inner.unwrap_or_else(|| FieldDifference {
        name: path,
        expected: text(expected),
        found: text(found),
    }))
}

/// Returns the fields of an object, or the items of a list by their places; `None` for what has neither.
fn fields(value: &Value) -> Option<BTreeMap<String, &Value>> {
    match value {
        Value::Object(fields) => {
            Some(fields.iter().map(|(name, value)| (name.clone(), value)).collect())
        }
        Value::List(items) => {
            let named = items.iter().enumerate().map(|(place, item)| (place.to_string(), item));
            Some(named.collect())
        }
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Real(_) | Value::Text(_) => None,
    }
}

impl std::fmt::Display for RequestDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, differing, expected_count, found_count, .. } = self;
        match &self.field {
            Some(FieldDifference { name, expected, found }) => {
                write!(f, "request {index}: `{name}` is {found}, expected {expected}")?;
            }
            None => write!(f, "request {index} is on one side only")?,
        }
        let (differ, found) =
            (agreed(differing, "differs", "differ"), counted(found_count, "request"));
        write!(f, " ({differing} {differ}; {found}, expected {expected_count})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(expected: &[u8], found: &[u8]) -> Option<RequestDifference> {
        first_difference(expected, found).expect("memory can be read")
    }

    const EXPECTED: &[u8] = b"{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n{\"a\":5,\"b\":6}\n";

    #[test]
    fn the_first_record_and_field_are_named() {
        let found = b"{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":5}\n{\"a\":6,\"b\":6}\n";
        let difference = compared(EXPECTED, found).expect("they differ");
        assert_eq!(
            difference.to_string(),
            "request 1: `b` is 5, expected 4 (2 differ; 3 requests, expected 3)"
        );
    }

    #[test]
    fn a_dropped_request_is_seen_at_its_place() {
        let found = b"{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n";
        let difference = compared(EXPECTED, found).expect("they differ");
        assert_eq!((difference.index, difference.field.is_none()), (2, true));
        assert_eq!(compared(EXPECTED, EXPECTED), None);
    }

    #[test]
    fn a_field_inside_of_another_is_named_by_its_path() {
        let (a, b) = (b"{\"h\":{\"x\":1,\"y\":2}}\n", b"{\"h\":{\"x\":1,\"y\":3}}\n");
        let field = compared(a, b).expect("they differ").field.expect("a field");
        assert_eq!((field.name.as_str(), field.found.as_str()), ("h.y", "3"));
    }

    #[test]
    fn an_absent_field_is_a_difference() {
        let difference = compared(b"{\"a\":1}\n", b"{}\n").expect("they differ");
        let field = difference.field.expect("a field");
        assert_eq!((field.name.as_str(), field.found.as_str()), ("a", "-"));
    }
}
