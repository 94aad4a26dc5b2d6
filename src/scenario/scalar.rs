//! Typed scalars: what a value must look like, and what to say when it does not.

use super::bounds;
use super::shape::{Field, Limit, Type};
use super::syntax::{Content, Value};
use crate::diag::{Code, Problem};
use crate::digest::{DigestParseError, Sha256};

/// A value that fits its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// A whole number.
    Count(u64),
    /// A finite number, or a duration in milliseconds.
    Real(f64),
    /// A switch.
    Flag(bool),
    /// A string, word, name, version or path.
    Text(String),
    /// Several numbers.
    Reals(Vec<f64>),
    /// A digest.
    Digest(Sha256),
}

/// Units of a duration and their milliseconds; longer suffixes first, so that `ms` is not read as `s`.
const UNITS: &[(&str, f64)] =
    &[("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];

/// Reads `value` as what `field` may be.
///
/// # Errors
/// The one thing that is wrong with it.
pub fn read(value: &Value, field: &Field) -> Result<Datum, Problem> {
    match field.kind {
        Type::Count { min, max } => count(value, field.name, min, max).map(Datum::Count),
        Type::Real { min, max } => real(value, field.name, min, max).map(Datum::Real),
        Type::Flag => flag(value, field.name).map(Datum::Flag),
        Type::Text => text(value, field.name).map(Datum::Text),
        Type::Name => name(value, field.name).map(Datum::Text),
        Type::Word(words) => word(value, field.name, words).map(Datum::Text),
        Type::CountOr(words) => match &value.content {
            Content::Text(_) => word(value, field.name, words).map(Datum::Text),
            Content::Integer(_) | Content::Real(_) | Content::Flag(_) | Content::Null => {
                count(value, field.name, 1, bounds::EXACT).map(Datum::Count)
            }
        },
        Type::Version => version(value, field.name).map(Datum::Text),
        Type::Shares => shares(value, field.name).map(Datum::Reals),
        Type::Digest => digest(value, field.name).map(Datum::Digest),
        Type::Duration => duration_ms(value, field.name).map(Datum::Real),
        Type::Path => path(value, field.name).map(Datum::Text),
        Type::Any => any(value, field.name),
    }
}

/// Returns a problem of the type.
fn wrong_type(value: &Value, name: &str, expected: &str) -> Problem {
    let message =
        format!("`{name}` is {expected}, found {} `{}`", value.content.kind(), value.text);
    value.place.problem(Code::KdlWrongType, message, format!("this is {}", value.content.kind()))
}

/// Returns a whole number from `min` to `max`.
fn count(value: &Value, name: &str, min: u64, max: u64) -> Result<u64, Problem> {
    let number = match &value.content {
        Content::Integer(number) => *number,
        Content::Real(number) if number.is_finite() => {
            let message = format!("`{name}` is a whole number, found `{}`", value.text);
            let problem = value.place.problem(Code::KdlNotWhole, message, "this is a decimal");
            return Err(problem.help("write it without point and exponent"));
        }
        Content::Real(_) => return Err(not_finite(value, name)),
        Content::Text(text) => {
            let problem = wrong_type(value, name, "a whole number");
            return Err(without_quotes(problem, text.parse::<u64>().is_ok(), text));
        }
        Content::Flag(_) | Content::Null => return Err(wrong_type(value, name, "a whole number")),
    };
    if number < i128::from(min) {
        return Err(out_of_range(value, name, &format!("at least {min}")));
    }
    match u64::try_from(number) {
        Ok(number) if number <= max => Ok(number),
        Ok(_) | Err(_) => Err(out_of_range(value, name, &format!("at most {max}"))),
    }
}

/// Adds the advice to take quotes away where a quoted number was meant.
fn without_quotes(problem: Problem, is_number: bool, text: &str) -> Problem {
    if is_number { problem.help(format!("remove the quotes: `{text}`")) } else { problem }
}

/// Returns a problem of the range.
fn out_of_range(value: &Value, name: &str, bound: &str) -> Problem {
    let message = format!("`{name}` is {bound}, found `{}`", value.text);
    value.place.problem(Code::KdlOutOfRange, message, format!("must be {bound}"))
}

/// Returns a problem of infinity, written or by overflow.
fn not_finite(value: &Value, name: &str) -> Problem {
    let written = value.text.contains('#');
    let (message, label) = if written {
        (format!("`{name}` is a finite number, found `{}`", value.text), "this is not finite")
    } else {
        (
            format!("`{name}` is a finite number, but `{}` would be read as infinity", value.text),
            "beyond the range of a 64-bit float",
        )
    };
    value
        .place
        .problem(Code::KdlNotFinite, message, label)
        .help("where nothing should be limited, leave it out")
}

/// Returns a finite number within its limits; whole numbers count as numbers.
fn real(value: &Value, name: &str, min: Limit, max: Limit) -> Result<f64, Problem> {
    let number = match &value.content {
        #[expect(clippy::cast_precision_loss, reason = "a real that is written without a point")]
        Content::Integer(number) => *number as f64,
        Content::Real(number) => *number,
        Content::Text(text) => {
            let problem = wrong_type(value, name, "a number");
            return Err(without_quotes(problem, text.parse::<f64>().is_ok(), text));
        }
        Content::Flag(_) | Content::Null => return Err(wrong_type(value, name, "a number")),
    };
    if !number.is_finite() {
        return Err(not_finite(value, name));
    }
    if is_underflow(number, &value.text) {
        let message = format!("`{name}` would be read as 0, found `{}`", value.text);
        let label = "too small for a 64-bit float";
        return Err(value.place.problem(Code::KdlUnderflow, message, label));
    }
    let below = match min {
        Limit::None => None,
        Limit::Inclusive(least) => (number < least).then(|| format!("at least {least}")),
        Limit::Exclusive(least) => (number <= least).then(|| format!("above {least}")),
    };
    let above = match max {
        Limit::None => None,
        Limit::Inclusive(most) => (number > most).then(|| format!("at most {most}")),
        Limit::Exclusive(most) => (number >= most).then(|| format!("below {most}")),
    };
    match below.or(above) {
        Some(bound) => Err(out_of_range(value, name, &bound)),
        None => Ok(number + 0.0),
    }
}

/// Returns whether a decimal with a digit other than 0 was read as 0.
fn is_underflow(number: f64, text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    number.to_bits() << 1 == 0 && mantissa.contains(|c: char| matches!(c, '1'..='9'))
}

/// Returns a switch.
fn flag(value: &Value, name: &str) -> Result<bool, Problem> {
    match &value.content {
        Content::Flag(flag) => Ok(*flag),
        Content::Text(text) => {
            let problem = wrong_type(value, name, "`#true` or `#false`");
            let meant = match text.as_str() {
                "true" | "yes" | "on" => "#true",
                "false" | "no" | "off" => "#false",
                _ => return Err(problem.help(format!("write `{name}=#true` or `{name}=#false`"))),
            };
            Err(problem.help(format!("write `{name}={meant}`")))
        }
        Content::Integer(_) | Content::Real(_) | Content::Null => {
            let problem = wrong_type(value, name, "`#true` or `#false`");
            Err(problem.help(format!("write `{name}=#true` or `{name}=#false`")))
        }
    }
}

/// Returns a string.
fn text(value: &Value, name: &str) -> Result<String, Problem> {
    match &value.content {
        Content::Text(text) => Ok(text.clone()),
        Content::Integer(_) | Content::Real(_) => {
            let problem = wrong_type(value, name, "a string");
            Err(problem.help(format!("put it in quotes: `\"{}\"`", value.text)))
        }
        Content::Flag(_) | Content::Null => Err(wrong_type(value, name, "a string")),
    }
}

/// Returns a string of letters, digits, `.`, `_` and `-`, the first a letter or digit.
fn name(value: &Value, field: &str) -> Result<String, Problem> {
    let text = text(value, field)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let wrong = text
        .chars()
        .enumerate()
        .find(|(index, c)| !fits(*c) || (*index == 0 && !c.is_ascii_alphanumeric()));
    let (rule, found) = match wrong {
        None if !text.is_empty() => return Ok(text),
        None => ("has at least one letter or digit", "an empty text".to_owned()),
        Some((0, c)) => ("begins with a letter or digit", format!("`{}`", c.escape_debug())),
        Some((_, c)) => {
            ("consists of letters, digits, `.`, `_` and `-`", format!("`{}`", c.escape_debug()))
        }
    };
    let message = format!("a name {rule}, found {found}");
    let problem = value.place.problem(Code::KdlName, message, "this is no name");
    Err(problem.help("names become parts of job ids and file names"))
}

/// Returns one of `words`.
fn word(value: &Value, name: &str, words: &[&str]) -> Result<String, Problem> {
    let text = text(value, name)?;
    if words.contains(&text.as_str()) {
        return Ok(text);
    }
    Err(unknown_word(value, name, &text, words))
}

/// Returns the problem of a word that is none of those allowed.
pub(super) fn unknown_word(value: &Value, name: &str, text: &str, words: &[&str]) -> Problem {
    let listed = words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
    let message = format!("`{name}` has no value `{text}`");
    let help = match nearest(text, words.iter().copied()) {
        Some(close) => format!("did you mean `\"{close}\"`? allowed are {listed}"),
        None => format!("allowed are {listed}"),
    };
    value.place.problem(Code::KdlUnknownValue, message, "unknown value").help(help)
}

/// Returns shares from 0 to 1.
fn shares(value: &Value, name: &str) -> Result<Vec<f64>, Problem> {
    let Content::Text(text) = &value.content else {
        return real(value, name, Limit::Inclusive(0.0), Limit::Inclusive(1.0))
            .map(|one| vec![one]);
    };
    let parsed: Option<Vec<f64>> = text
        .split_whitespace()
        .map(|part| part.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share)))
        .collect();
    parsed.filter(|shares| !shares.is_empty()).ok_or_else(|| {
        let message = format!("`{name}` is numbers from 0 to 1, found `{text}`");
        let problem = value.place.problem(Code::KdlOutOfRange, message, "not such numbers");
        problem.help(format!("write `{name}=\"0.8 0.6\"`"))
    })
}

/// Returns a version.
fn version(value: &Value, name: &str) -> Result<String, Problem> {
    match &value.content {
        Content::Text(text) => Ok(text.clone()),
        Content::Integer(number) => Err(bare_version(value, name, &number.to_string())),
        Content::Real(number) => Err(bare_version(value, name, &number.to_string())),
        Content::Flag(_) | Content::Null => Err(wrong_type(value, name, "a version in quotes")),
    }
}

/// Returns the problem of a version that KDL read as a number.
fn bare_version(value: &Value, name: &str, read: &str) -> Problem {
    let message = format!("versions are strings; `{}` would be read as {read}", value.text);
    value
        .place
        .problem(Code::KdlBareVersion, message, "a number")
        .help(format!("quote versions: `{name}=\"{}\"`", value.text))
}

/// Returns a digest: 64 hexadecimal digits in quotes, or the bare word `sha256:<64 hex>`.
fn digest(value: &Value, name: &str) -> Result<Sha256, Problem> {
    let form = format!("write `{name}=\"<64 hex>\"` or `{name}=sha256:<64 hex>`");
    let Content::Text(text) = &value.content else {
        let message =
            format!("`{name}` is a digest, found {} `{}`", value.content.kind(), value.text);
        let problem = value.place.problem(Code::KdlDigest, message, "not a string");
        return Err(problem.help(format!("{form}; a bare run of digits is a number in KDL")));
    };
    text.parse().map_err(|error: DigestParseError| {
        let label = match &error {
            DigestParseError::Length { found } => format!("{found} digits"),
            DigestParseError::NotHex { found } => {
                format!("`{}` is no such digit", found.escape_debug())
            }
        };
        value.place.problem(Code::KdlDigest, error.to_string(), label).help(form)
    })
}

/// Returns the milliseconds of a duration.
fn duration_ms(value: &Value, name: &str) -> Result<f64, Problem> {
    let problem = |message: String, label: &str, help: String| {
        Err(value.place.problem(Code::KdlDuration, message, label).help(help))
    };
    let text = match &value.content {
        Content::Text(text) => text,
        Content::Integer(_) | Content::Real(_) => {
            let message =
                format!("`{name}` is a duration with a unit, found the number `{}`", value.text);
            let help =
                format!("write `\"{0}s\"` for seconds or `\"{0}ms\"` for milliseconds", value.text);
            return problem(message, "the unit is missing", help);
        }
        Content::Flag(_) | Content::Null => return Err(wrong_type(value, name, "a duration")),
    };
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let message = format!("`{name}` is a duration such as `\"250ms\"`, found `\"{text}\"`");
    let listed = "units are `ns`, `us`, `ms`, `s`, `m` and `h`".to_owned();
    match (number.parse::<f64>(), known) {
        (Ok(number), Some((_, ms))) if (number * ms).is_finite() => Ok(number * ms),
        (Ok(_), None) if unit.is_empty() => problem(message, "the unit is missing", listed),
        (Ok(_), _) => problem(message, "unknown unit", listed),
        (Err(_), _) => problem(message, "this does not begin with a number", listed),
    }
}

/// Returns a path with `/`, not empty.
fn path(value: &Value, name: &str) -> Result<String, Problem> {
    let text = text(value, name)?;
    if text.is_empty() || text.contains('\\') || text.contains('\0') {
        let message = format!("`{name}` is a path with `/`, found `{}`", text.escape_debug());
        return Err(value.place.problem(Code::KdlWrongType, message, "not such a path"));
    }
    Ok(text)
}

/// Returns any value.
fn any(value: &Value, name: &str) -> Result<Datum, Problem> {
    match &value.content {
        Content::Text(text) => Ok(Datum::Text(text.clone())),
        Content::Integer(number) => Ok(u64::try_from(*number).map_or_else(
            |_| real(value, name, Limit::None, Limit::None).map(Datum::Real),
            |n| Ok(Datum::Count(n)),
        )?),
        Content::Real(_) => real(value, name, Limit::None, Limit::None).map(Datum::Real),
        Content::Flag(flag) => Ok(Datum::Flag(*flag)),
        Content::Null => Err(wrong_type(value, name, "a value")),
    }
}

/// Returns the candidate within edit distance 2 of `text` that is nearest, the first of equals.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(text, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 2 && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
