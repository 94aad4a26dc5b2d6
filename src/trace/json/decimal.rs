//! Decimal numbers to whole nanoseconds, without a float between.

use crate::units::Nanos;

/// Returns a JSON number times `10^exponent` as nanoseconds, rounded half to even; `None` for what is negative or beyond 2^64 - 1.
///
/// The text must be a JSON number. Linear in its length, whatever its exponent.
pub(in super::super) fn nanos(text: &str, exponent: i64) -> Option<Nanos> {
    let (mantissa, written) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if !digits().all(|byte| byte.is_ascii_digit()) {
        // A sign: only zero may have one.
        let zero = whole.starts_with('-') && digits().skip(1).all(|byte| byte == b'0');
        return zero.then_some(Nanos::new(0));
    }
    if digits().all(|byte| byte == b'0') {
        return Some(Nanos::new(0));
    }
    // The value is the digits as one integer, times ten to this.
    let length = |text: &str| i64::try_from(text.len()).ok();
    let shift = parse_exponent(written).checked_add(exponent)?.checked_sub(length(fraction)?)?;
    let kept = length(whole)?.checked_add(length(fraction)?)?.checked_add(shift.min(0))?;
    let kept = usize::try_from(kept.max(-1) + 1).ok()?; // digits before the point, plus one where none is lost below it
    let value = digits().take(kept.saturating_sub(1)).try_fold(0_u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })?;
    if shift >= 0 {
        return (0..shift).try_fold(value, |value, _| value.checked_mul(10)).map(Nanos::new);
    }
    if kept == 0 {
        return Some(Nanos::new(0)); // below a tenth
    }
    let mut rest = digits().skip(kept - 1);
    let half = rest.next().unwrap_or(b'0').cmp(&b'5').then(if rest.all(|byte| byte == b'0') {
        std::cmp::Ordering::Equal
    } else {
        std::cmp::Ordering::Greater
    });
    let up = half.is_gt() || half.is_eq() && value % 2 == 1;
    value.checked_add(u64::from(up)).map(Nanos::new)
}

/// Returns an exponent; one too large for an integer is as good as any that large.
fn parse_exponent(text: &str) -> i64 {
    match text.parse::<i64>() {
        Ok(exponent) => exponent.clamp(-1_000_000_000, 1_000_000_000),
        Err(_) if text.starts_with('-') => -1_000_000_000,
        Err(_) => 1_000_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str, exponent: i64) -> Option<u64> {
        nanos(text, exponent).map(Nanos::get)
    }

    #[test]
    fn seconds_become_nanoseconds_exactly() {
        assert_eq!(ns("0.1", 9), Some(100_000_000));
        assert_eq!(ns("1700000000.123456789", 9), Some(1_700_000_000_123_456_789));
        assert_eq!(ns("1.5e-3", 9), Some(1_500_000));
        assert_eq!(ns("20.0", 6), Some(20_000_000));
        assert_eq!(ns("1.7e12", 6), Some(1_700_000_000_000_000_000));
        assert_eq!(ns("-0.0", 9), Some(0));
    }

    #[test]
    fn what_lies_between_two_nanoseconds_is_rounded_half_to_even() {
        assert_eq!(ns("0.0000000005", 9), Some(0));
        assert_eq!(ns("0.0000000015", 9), Some(2));
        assert_eq!(ns("0.00000000050000000001", 9), Some(1));
        assert_eq!(ns("0.00000000049", 9), Some(0));
        assert_eq!(ns("0.000000000009", 9), Some(0));
        assert_eq!(ns("12345e-5", 0), Some(0));
        assert_eq!(ns("62345e-5", 0), Some(1));
    }

    #[test]
    fn what_no_clock_holds_is_refused_in_linear_time() {
        assert_eq!(ns("-0.1", 9), None);
        assert_eq!(ns("1e400", 9), None);
        assert_eq!(ns("18446744073709551615", 0), Some(u64::MAX));
        assert_eq!(ns("18446744073709551616", 0), None);
        assert_eq!(ns("0e999999999999999999999", 9), Some(0));
        assert_eq!(ns("1e-99999999999999999999", 9), Some(0));
        assert_eq!(ns("1e99999999999999999999", 9), None);
    }
}
