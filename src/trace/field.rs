//! The keys of a JSON row with the place of each value, and the numbers in them.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::diag::{Code, Problem};
use crate::units::Tokens;

use super::row::Line;

/// What a key of a Mooncake row means. Source: spec/SIMULATION.md §9.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// `request_id`.
    RequestId,
    /// `session_id`.
    SessionId,
    /// `input_length` or `input_tokens`.
    Input,
    /// `output_length` or `output_tokens`.
    Output,
    /// `output_token_ids`.
    OutputTokenIds,
    /// `hash_ids`.
    HashIds,
    /// `timestamp` or `created_time`.
    Timestamp,
    /// `delay` or `delay_ms`.
    Delay,
    /// `priority`.
    Priority,
    /// `strict_priority`.
    StrictPriority,
    /// `policy_class`.
    PolicyClass,
}

/// What a length is, for messages.
pub(super) const A_LENGTH: &str = "an integer from 0 to 4294967295";

/// How many fields there are.
const FIELDS: usize = 11;

/// Each known key and what it means.
const KEYS: [(&str, Field); 15] = [
    ("timestamp", Field::Timestamp),
    ("input_length", Field::Input),
    ("output_length", Field::Output),
    ("hash_ids", Field::HashIds),
    ("request_id", Field::RequestId),
    ("session_id", Field::SessionId),
    ("input_tokens", Field::Input),
    ("output_tokens", Field::Output),
    ("output_token_ids", Field::OutputTokenIds),
    ("created_time", Field::Timestamp),
    ("delay", Field::Delay),
    ("delay_ms", Field::Delay),
    ("priority", Field::Priority),
    ("strict_priority", Field::StrictPriority),
    ("policy_class", Field::PolicyClass),
];

/// A value as the line writes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'a> {
    /// The key that states it.
    pub(super) key: &'static str,
    /// The JSON text.
    pub(super) text: &'a str,
}

/// The keys of one row.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    values: [Option<Written<'a>>; FIELDS],
    /// The first known field that is stated twice: both keys, and the second value.
    twice: Option<(&'static str, Written<'a>)>,
    /// Keys that the format does not know, in order.
    pub(super) unknown: Vec<String>,
}

/// A key as the visitor meets it.
enum Key {
    /// The format knows it.
    Known(&'static str, Field),
    /// It does not.
    Unknown(String),
}

impl<'a> Fields<'a> {
    /// Reads the keys of a row. `null` counts as absent.
    ///
    /// # Errors
    /// `trace::syntax` where the line is no JSON object; `trace::field` where a field is stated twice, also by two names.
    pub(super) fn read(line: &Line<'a>) -> Result<Self, Problem> {
        let mut json = serde_json::Deserializer::from_str(line.text);
        let fields = json
            .deserialize_map(RowVisitor)
            .and_then(|fields| json.end().map(|()| fields))
            .map_err(|error| syntax(line, &error))?;
        if let Some((first, second)) = fields.twice {
            let message = if first == second.key {
                format!("trace line {} states `{first}` twice", line.number)
            } else {
                let number = line.number;
                format!(
                    "trace line {number} states `{first}` and `{}`, two names of one field",
                    second.key
                )
            };
            return Err(line.problem(
                Code::TraceField,
                second.at(line),
                message,
                "stated again here",
            ));
        }
        Ok(fields)
    }

    /// Returns the value of a field, where the row has one that is not `null`.
    pub(super) fn get(&self, field: Field) -> Option<Written<'a>> {
        self.values[field as usize].filter(|value| value.text != "null")
    }

    /// Adds a key that the format knows and that no value before it is of; `None` for any other.
    pub(super) fn add_once(&mut self, name: &str, text: &'a str) -> Option<()> {
        let (key, field) = KEYS.iter().find(|(key, _)| *key == name)?;
        let value = &mut self.values[*field as usize];
        value.is_none().then_some(())?;
        *value = Some(Written { key, text });
        Some(())
    }

    /// Adds a known key.
    fn add(&mut self, key: &'static str, field: Field, text: &'a str) {
        let value = Written { key, text };
        match &self.values[field as usize] {
            Some(first) => {
                self.twice.get_or_insert((first.key, value));
            }
            None => self.values[field as usize] = Some(value),
        }
    }
}

impl<'a> Written<'a> {
    /// Returns the bytes of `line` that hold the value, which must be a part of it.
    pub(super) fn at(&self, line: &Line<'a>) -> Range<usize> {
        let start = self.text.as_ptr().addr().saturating_sub(line.text.as_ptr().addr());
        start..start + self.text.len()
    }

    /// Returns a problem with the value.
    pub(super) fn problem(&self, line: &Line<'a>, expected: &str) -> Problem {
        let shown: String = self.text.chars().take(40).collect();
        let message = format!(
            "trace line {}: `{}` must be {expected}, found `{shown}`",
            line.number, self.key
        );
        line.problem(Code::TraceField, self.at(line), message, &format!("expected {expected}"))
    }

    /// Returns the value as a length in tokens.
    ///
    /// # Errors
    /// `trace::field` for anything but the digits of an integer below 2^32: a fraction, an exponent, a sign, a text.
    pub(super) fn length(&self, line: &Line<'a>) -> Result<Tokens, Problem> {
        length(self.text).ok_or_else(|| self.problem(line, A_LENGTH))
    }

    /// Returns the value as a number of milliseconds, given in units of `10^exponent` ms, rounded once.
    ///
    /// # Errors
    /// `trace::field` for a text, and for what is negative or beyond the range of f64.
    pub(super) fn milliseconds(&self, line: &Line<'a>, exponent: i64) -> Result<f64, Problem> {
        let expected = "a finite number that is not negative";
        decimal(self.text, exponent)
            .filter(|ms| ms.is_finite() && *ms >= 0.0)
            .map(|ms| ms + 0.0)
            .ok_or_else(|| self.problem(line, expected))
    }

    /// Returns the value as a text.
    ///
    /// # Errors
    /// `trace::field` for what is none.
    pub(super) fn string(&self, line: &Line<'a>) -> Result<String, Problem> {
        serde_json::from_str(self.text).map_err(|_| self.problem(line, "a text"))
    }

    /// Checks that the value is an integer in a range.
    ///
    /// # Errors
    /// `trace::field` where it is not.
    pub(super) fn integer_in(
        &self,
        line: &Line<'a>,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<(), Problem> {
        let found = self.text.parse().ok().filter(|found| range.contains(found));
        let expected = || format!("an integer from {} to {}", range.start(), range.end());
        found.map(|_| ()).ok_or_else(|| self.problem(line, &expected()))
    }
}

/// Returns ASCII digits as a length in tokens; `None` for anything else, and for 2^32 and more, which no engine can place.
pub(super) fn length(text: &str) -> Option<Tokens> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse::<u32>().ok().filter(|_| digits).map(|count| Tokens::new(u64::from(count)))
}

/// Returns a JSON number times `10^exponent`, as the nearest f64 of the product; `None` for what is no number.
pub(super) fn decimal(text: &str, exponent: i64) -> Option<f64> {
    if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    if exponent == 0 {
        return text.parse().ok();
    }
    let (digits, written) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let written: i64 = written.parse().ok()?;
    format!("{digits}e{}", written.saturating_add(exponent)).parse().ok()
}

/// Returns a problem for what `serde_json` says about a line, at its column.
fn syntax(line: &Line<'_>, error: &serde_json::Error) -> Problem {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    let at = error.column().saturating_sub(1).min(line.text.len());
    let message = format!("trace line {} is no JSON object: {reason}", line.number);
    let problem = line.problem(Code::TraceSyntax, at..at + 1, message, reason);
    if line.text.starts_with('\u{feff}') {
        return problem.help("the line starts with a byte order mark (BOM): remove it");
    }
    problem.help("each line is one JSON object, as in {\"timestamp\":0,\"input_length\":6758,\"output_length\":500,\"hash_ids\":[0,1]}")
}

/// Collects the keys of an object.
struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the keys of a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key_seed(KeySeed)? {
            match key {
                Key::Known(key, field) => {
                    let value: &'de RawValue = map.next_value()?;
                    fields.add(key, field, value.get());
                }
                Key::Unknown(name) => {
                    map.next_value::<IgnoredAny>()?;
                    fields.unknown.push(name);
                }
            }
        }
        Ok(fields)
    }
}

/// Reads a key without keeping the text of known ones.
struct KeySeed;

impl<'de> serde::de::DeserializeSeed<'de> for KeySeed {
    type Value = Key;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Key, E> {
        Ok(KEYS
            .iter()
            .find(|(key, _)| *key == name)
            .map_or_else(|| Key::Unknown(name.to_owned()), |(key, field)| Key::Known(key, *field)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_before_they_are_rounded() {
        assert_eq!(decimal("0.0011", 3).map(f64::to_bits), Some(1.1_f64.to_bits()));
        assert_eq!(decimal("1.5e2", 3).map(f64::to_bits), Some(150_000.0_f64.to_bits()));
        assert_eq!(decimal("1500", -3).map(f64::to_bits), Some(1.5_f64.to_bits()));
        assert_eq!(decimal("7", 0).map(f64::to_bits), Some(7.0_f64.to_bits()));
        assert_eq!(decimal("\"7\"", 0), None);
        assert_eq!(decimal("1e400", 0), Some(f64::INFINITY));
    }
}
