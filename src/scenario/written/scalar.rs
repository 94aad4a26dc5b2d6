//! What a plain scalar means: `PyYAML`'s implicit resolver, rule by rule.

use super::Data;

/// Returns what a plain (unquoted, untagged) scalar is.
///
/// Source: `PyYAML`'s `resolver.py` (YAML 1.1 with a point required in a real and a sign required in its exponent).
pub(super) fn plain(text: &str) -> Data {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Data::Null,
        "=" => return Data::Other("the default-value sign `=`"),
        "<<" => return Data::Other("the merge sign `<<`"),
        _ => {}
    }
    if let Some(flag) = boolean(text) {
        return Data::Bool(flag);
    }
    if let Some(number) = integer(text) {
        return Data::Int(number);
    }
    if let Some(number) = real(text) {
        return Data::Float(number);
    }
    if is_date(text) { Data::Other("a date") } else { Data::Text(text.to_owned()) }
}

/// Returns a truth value: the words of YAML 1.1 in the three usual spellings.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Returns a whole number: decimal, `0b`, `0x`, a leading `0` for octal, or base 60; `_` may group digits.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = signed(text);
    let value = if let Some(binary) = digits.strip_prefix("0b") {
        in_base(binary, 2)?
    } else if let Some(hexadecimal) = digits.strip_prefix("0x") {
        in_base(hexadecimal, 16)?
    } else if digits == "0" {
        0
    } else if let Some(octal) = digits.strip_prefix('0') {
        in_base(octal, 8)?
    } else if digits.contains(':') {
        sexagesimal(digits)?
    } else {
        in_base(starts_with_digit(digits)?, 10)?
    };
    Some(if sign < 0.0 { -value } else { value })
}

/// Returns a real: digits with a point, an exponent with its sign, base 60 with a point, or `.inf` and `.nan`.
pub(super) fn real(text: &str) -> Option<f64> {
    let (sign, digits) = signed(text);
    match digits {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(f64::NAN);
    }
    if digits.contains(':') {
        return sexagesimal_real(digits).map(|value| sign * value);
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    let grouped = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let shaped = if whole.is_empty() {
        // A real that begins with its point takes no sign.
        digits.len() == text.len() && starts_with_digit(fraction).is_some()
    } else {
        starts_with_digit(whole).is_some()
    };
    if !shaped || !grouped(whole) || !grouped(fraction) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-'])?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    }
    text.replace('_', "").parse().ok()
}

/// Splits a sign off.
fn signed(text: &str) -> (f64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Returns the text where it begins with a digit.
fn starts_with_digit(text: &str) -> Option<&str> {
    text.bytes().next().filter(u8::is_ascii_digit).map(|_| text)
}

/// Returns the value of digits with `_` between; beyond 128 bits the limit.
fn in_base(text: &str, base: u32) -> Option<i128> {
    if text.is_empty() || !text.chars().all(|c| c == '_' || c.is_digit(base)) {
        return None;
    }
    let digits = text.chars().filter_map(|c| c.to_digit(base));
    Some(digits.fold(0_i128, |value, digit| {
        value.saturating_mul(i128::from(base)).saturating_add(i128::from(digit))
    }))
}

/// Returns the value of `1:30:00`: groups of base 60, the first not 0.
fn sexagesimal(text: &str) -> Option<i128> {
    let mut groups = text.split(':');
    let first = groups.next().filter(|group| !group.starts_with('0'))?;
    let mut value = in_base(starts_with_digit(first)?, 10)?;
    for group in groups {
        value = value.saturating_mul(60).saturating_add(sixty(group)?);
    }
    Some(value)
}

/// Returns the value of `1:30.5`.
fn sexagesimal_real(text: &str) -> Option<f64> {
    let (groups, fraction) = text.split_once('.')?;
    let mut groups = groups.split(':');
    let mut value = in_base(starts_with_digit(groups.next()?)?, 10)?;
    for group in groups {
        value = value.saturating_mul(60).saturating_add(sixty(group)?);
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    format!("{value}.{}", fraction.replace('_', "")).parse().ok()
}

/// Returns a group of base 60: one or two digits below 60.
fn sixty(group: &str) -> Option<i128> {
    let value = in_base(group, 10).filter(|_| !group.contains('_') && group.len() <= 2)?;
    (value < 60).then_some(value)
}

/// Returns whether the text is a date of YAML 1.1: `YYYY-MM-DD`, or with a time after it.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, time) = rest.split_at(day_end);
    digits(year)
        && year.len() == 4
        && digits(month)
        && month.len() <= 2
        && digits(day)
        && day.len() <= 2
        && (time.is_empty() && month.len() == 2 && day.len() == 2 || is_time(time))
}

/// Returns whether the text is what may follow a date: `T` or blanks, `H:MM:SS`, perhaps a fraction, perhaps a zone.
fn is_time(text: &str) -> bool {
    let spaced = text.trim_start_matches([' ', '\t']);
    let Some(rest) =
        text.strip_prefix(['T', 't']).or((spaced.len() < text.len()).then_some(spaced))
    else {
        return false;
    };
    let mut parts = rest.splitn(3, ':');
    let (Some(hour), Some(minute), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let pair = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some((second, rest)) = rest.split_at_checked(2) else { return false };
    let fraction_end = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    (pair(hour) || hour.len() == 1 && starts_with_digit(hour).is_some())
        && pair(minute)
        && pair(second)
        && is_zone(fraction_end.trim_start_matches([' ', '\t']), fraction_end)
}

/// Returns whether the text is nothing, `Z`, or an offset `+H`, `+HH`, `+HH:MM`; `untrimmed` still has its blanks.
fn is_zone(zone: &str, untrimmed: &str) -> bool {
    if zone.is_empty() {
        return untrimmed.is_empty();
    }
    let Some(offset) = zone.strip_prefix(['+', '-']) else { return zone == "Z" };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
    matches!(hours.len(), 1 | 2) && digits(hours) && minutes.len() == 2 && digits(minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        format!("{:?}", plain(text))
    }

    #[test]
    fn plain_scalars_mean_what_pyyaml_says() {
        let cases = [
            ("yes", "Bool(true)"),
            ("Off", "Bool(false)"),
            ("y", "Text(\"y\")"),
            ("~", "Null"),
            ("4", "Int(4)"),
            ("-1_000", "Int(-1000)"),
            ("010", "Int(8)"),
            ("08", "Text(\"08\")"),
            ("0o10", "Text(\"0o10\")"),
            ("0x1F", "Int(31)"),
            ("0b101", "Int(5)"),
            ("1:30", "Int(90)"),
            ("4.0", "Float(4.0)"),
            ("4.", "Float(4.0)"),
            (".5", "Float(0.5)"),
            ("-.5", "Text(\"-.5\")"),
            ("1e3", "Text(\"1e3\")"),
            ("1.0e3", "Text(\"1.0e3\")"),
            ("1.0e+3", "Float(1000.0)"),
            ("1:30.5", "Float(90.5)"),
            ("-.inf", "Float(-inf)"),
            (".NaN", "Float(NaN)"),
            ("nan", "Text(\"nan\")"),
            ("2026-10-13", "Other(\"a date\")"),
            ("2026-1-3 1:02:03", "Other(\"a date\")"),
            ("2026-01-03T01:02:03.5 +1", "Other(\"a date\")"),
            ("2026-01-03 1:2:3", "Text(\"2026-01-03 1:2:3\")"),
            ("2026-01-03T01:02:03x", "Text(\"2026-01-03T01:02:03x\")"),
            ("2026-1-3", "Text(\"2026-1-3\")"),
            ("h200_sxm", "Text(\"h200_sxm\")"),
            ("<<", "Other(\"the merge sign `<<`\")"),
            ("=", "Other(\"the default-value sign `=`\")"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_beyond_128_bits_is_held_at_the_limit() {
        assert_eq!(integer(&"9".repeat(60)), Some(i128::MAX));
    }
}
