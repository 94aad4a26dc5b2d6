//! Calendar timestamps as integer nanoseconds.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

/// Returns the nanoseconds from 1970 to `YYYY-MM-DD HH:MM:SS[.fraction]` (or with `T`), read as UTC.
///
/// The fraction has up to nine digits. `None` for anything else: a shorter field, a leap second, a time zone.
pub(super) fn nanoseconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| digits(bytes.get(from..to)?);
    let separators =
        [(4, b"-"), (7, b"-"), (10, b" T"), (13, b":"), (16, b":")] as [(usize, &[u8]); 5];
    if !separators.iter().all(|(at, any)| bytes.get(*at).is_some_and(|byte| any.contains(byte))) {
        return None;
    }
    let date = Date::new(
        i16::try_from(number(0, 4)?).ok()?,
        i8::try_from(number(5, 7)?).ok()?,
        i8::try_from(number(8, 10)?).ok()?,
    )
    .ok()?;
    let time = Time::new(
        i8::try_from(number(11, 13)?).ok()?,
        i8::try_from(number(14, 16)?).ok()?,
        i8::try_from(number(17, 19)?).ok()?,
        fraction(bytes.get(19..)?)?,
    )
    .ok()?;
    let instant = TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()?;
    i64::try_from(instant.as_nanosecond()).ok()
}

/// Returns the nanoseconds of `.` and one to nine digits; 0 for nothing.
fn fraction(text: &[u8]) -> Option<i32> {
    let Some((point, shown)) = text.split_first() else { return Some(0) };
    if *point != b'.' || shown.is_empty() || shown.len() > 9 {
        return None;
    }
    let missing = u32::try_from(9 - shown.len()).ok()?;
    i32::try_from(digits(shown)?.checked_mul(10_u32.pow(missing))?).ok()
}

/// Returns the value of ASCII digits.
fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0_u32, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_times_are_exact_integer_nanoseconds() {
        let at = |text| nanoseconds(text).expect(text);
        let start = at("2023-11-16 18:17:03.9799600");
        assert_eq!(start, 1_700_158_623_979_960_000);
        assert_eq!(at("2023-11-16 18:17:03.9799601") - start, 100);
        assert_eq!(at("2023-11-16T18:17:04") - start, 20_040_000);
        assert_eq!(at("2023-11-17 00:00:00.000000001") - at("2023-11-16 23:59:59.999999999"), 2);
        assert_eq!(at("2024-03-01 00:00:00") - at("2024-02-28 00:00:00"), 2 * 86_400_000_000_000);
    }

    #[test]
    fn what_is_no_plain_calendar_time_is_refused() {
        for text in [
            "",
            "2023-11-16",
            "2023-11-16 18:17",
            "2023-11-16 18:17:60",
            "2023-02-30 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:17:03.",
            "2023-11-16 18:17:03.0123456789",
            "2023-11-16 18:17:03.5Z",
            "2023-11-16 18:17:03+00:00",
            "2023-11-16 1 :17:03",
            "1700158623.97",
            "9999-11-16 18:17:03",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
