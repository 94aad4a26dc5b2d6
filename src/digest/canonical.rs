//! The one JSON writer for hashed bytes.
//!
//! Keys sorted bytewise, no white space, integers in full, decimals by fixed scale as strings, UTF-8. A document is one value
//! and one newline. Inputs that are reals are written exactly (shortest digits that read back to the same bits).

use std::collections::BTreeMap;

use crate::units::{Micros6, Nanos, Ppm, Tokens};

use super::Sha256;

/// A JSON value that has exactly one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`. Reports leave absent things out; this is for foreign formats.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, written in full.
    Integer(i128),
    /// A finite real, written by [`real_text`].
    Real(Real),
    /// A text.
    Text(String),
    /// A list in its own order.
    List(Vec<Value>),
    /// An object; written in the byte order of its keys.
    Object(BTreeMap<String, Value>),
}

/// A finite f64 with one spelling: `-0.0` is `0.0`.
#[derive(Debug, Clone, Copy)]
pub struct Real(f64);

/// A number that JSON cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{found:?} is not finite, and JSON has no such number")]
pub struct NotFinite {
    found: f64,
}

impl Real {
    /// Returns the number, or an error where it is not finite.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and infinities.
    pub fn new(value: f64) -> Result<Self, NotFinite> {
        if value.is_finite() { Ok(Self(value + 0.0)) } else { Err(NotFinite { found: value }) }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Value {
    /// Returns a real of a description: finite, because what reads descriptions refuses other numbers.
    ///
    /// # Panics
    /// When the number is not finite: a bug of whatever read it. [`Real::new`] is for numbers that nothing has checked.
    pub fn real(value: f64) -> Self {
        Self::Real(Real::new(value).expect("readers refuse numbers that are not finite"))
    }

    /// Returns a text value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns an unsigned integer that fits 2^53 by schema.
    pub fn count(count: u64) -> Self {
        Self::Integer(i128::from(count))
    }

    /// Returns an unsigned integer that may exceed 2^53: a text of digits by schema.
    pub fn wide(value: u64) -> Self {
        Self::Text(value.to_string())
    }

    /// Returns the object with one more entry where `value` says something.
    ///
    /// An entry that came later than its object stays out where it says nothing new, so that older descriptions keep their digests.
    ///
    /// # Panics
    /// When the value is no object: a bug of the caller.
    #[must_use]
    pub fn with(self, name: &str, value: Option<Self>) -> Self {
        let Self::Object(mut entries) = self else { panic!("bug: only an object has entries") };
        if let Some(value) = value {
            entries.insert(name.to_owned(), value);
        }
        Self::Object(entries)
    }

    /// Returns the entries of an object; nothing for any other value, as for the three below.
    pub const fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        if let Self::Object(entries) = self { Some(entries) } else { None }
    }

    /// Returns the items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// Returns a text.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns an integer from 0 to 2^64 - 1.
    pub fn as_count(&self) -> Option<u64> {
        if let Self::Integer(count) = self { u64::try_from(*count).ok() } else { None }
    }

    /// Returns the document: this value and one newline.
    pub fn to_document(&self) -> Vec<u8> {
        let mut bytes = self.to_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the canonical bytes without a newline.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::new();
        write_value(self, &mut out);
        out.into_bytes()
    }

    /// Returns the plain SHA-256 of the canonical bytes without a newline.
    pub fn digest(&self) -> Sha256 {
        Sha256::of(&self.to_bytes())
    }
}

/// Builds an object from pairs; a later pair replaces an earlier one of the same key.
pub fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl From<Nanos> for Value {
    fn from(time: Nanos) -> Self {
        Self::count(time.get())
    }
}

impl From<Tokens> for Value {
    fn from(tokens: Tokens) -> Self {
        Self::count(tokens.get())
    }
}

impl From<Ppm> for Value {
    fn from(share: Ppm) -> Self {
        Self::count(share.get())
    }
}

impl From<Micros6> for Value {
    fn from(rate: Micros6) -> Self {
        Self::Text(rate.to_string())
    }
}

impl From<Sha256> for Value {
    fn from(digest: Sha256) -> Self {
        Self::Text(digest.to_string())
    }
}

/// Appends one value.
fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Integer(number) => out.push_str(&number.to_string()),
        Value::Real(real) => out.push_str(&real_text(*real)),
        Value::Text(text) => write_text(text, out),
        Value::List(items) => write_list(items, out),
        Value::Object(fields) => write_object(fields, out),
    }
}

/// Appends a list.
fn write_list(items: &[Value], out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(item, out);
    }
    out.push(']');
}

/// Appends an object; `BTreeMap` iterates in the byte order of its keys.
fn write_object(fields: &BTreeMap<String, Value>, out: &mut String) {
    out.push('{');
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write_value(value, out);
    }
    out.push('}');
}

/// Appends a quoted text: the two-letter escapes where JSON has them, `\u00xx` for other controls, all else as it is.
pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            control if u32::from(control) < 0x20 => {
                let code = u32::from(control);
                out.push_str("\\u00");
                out.push(if code >= 0x10 { '1' } else { '0' });
                out.push(char::from_digit(code % 16, 16).unwrap_or('0'));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

/// Returns the shortest decimal that reads back to the same bits, laid out as RFC 8785 lays numbers out.
///
/// Plain from 1e-6 up to 1e21, else with an exponent of its sign. The digits are those of Rust's `{:e}`, which the
/// standard library defines as the shortest that round-trip; only the layout is ours.
pub fn real_text(real: Real) -> String {
    let scientific = format!("{:e}", real.0);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    format!("{sign}{}", lay_out(&digits, exponent))
}

/// Lays out significant `digits` (the first is the units of `10^exponent`).
fn lay_out(digits: &str, exponent: i32) -> String {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if (0..21).contains(&exponent) {
        let point = exponent + 1;
        if count <= point {
            let zeros = usize::try_from(point - count).unwrap_or(0);
            return format!("{digits}{}", "0".repeat(zeros));
        }
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        return format!("{whole}.{fraction}");
    }
    if (-6..0).contains(&exponent) {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(value: f64) -> String {
        real_text(Real::new(value).expect("finite"))
    }

    #[test]
    fn awkward_numbers_have_pinned_bytes() {
        let cases = [
            (1e21, "1e+21"),
            (1e-7, "1e-7"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (333_333_333.333_333_3, "333333333.3333333"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e20, "100000000000000000000"),
            (123_456.789, "123456.789"),
            (1e-6, "0.000001"),
            (-2.5e-9, "-2.5e-9"),
            (f64::MAX, "1.7976931348623157e+308"),
        ];
        for (value, text) in cases {
            assert_eq!(real(value), text, "{value:?}");
        }
        assert!(Real::new(f64::NAN).is_err() && Real::new(f64::INFINITY).is_err());
    }

    #[test]
    fn wide_integers_keep_every_digit() {
        assert_eq!(Value::Integer(i128::from(u64::MAX)).to_bytes(), b"18446744073709551615");
        assert_eq!(Value::wide(9_007_199_254_740_993).to_bytes(), b"\"9007199254740993\"");
    }

    #[test]
    fn keys_are_sorted_bytewise_and_texts_escaped() {
        let value = object([
            ("b", Value::Bool(true)),
            ("a\n", Value::text("\"\u{1}\u{1f}é")),
            ("B", Value::List(vec![Value::Null])),
        ]);
        assert_eq!(
            String::from_utf8(value.to_document()).expect("UTF-8"),
            "{\"B\":[null],\"a\\n\":\"\\\"\\u0001\\u001fé\",\"b\":true}\n"
        );
    }
}
