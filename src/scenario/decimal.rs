//! Decimals as written, for ranges whose values are exact: 0.1, 0.2, 0.3 and not 0.30000000000000004.

use std::fmt;

/// A decimal: `units / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    units: i128,
    places: u32,
}

/// The decimals from one to another by a step, both ends included.
#[derive(Debug, Clone)]
pub(crate) struct Range {
    next: i128,
    last: i128,
    step: i128,
    places: u32,
}

/// Digits after the point at the most.
const MOST_PLACES: u32 = 18;

/// Values of a range at the most; a plan of more jobs is refused anyway.
const MOST_VALUES: i128 = 1_000_000;

impl Decimal {
    /// One.
    pub(crate) const ONE: Self = Self { units: 1, places: 0 };

    /// Reads a decimal without exponent; `_` between digits is allowed, as KDL does.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.replace('_', "");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = format!("{whole}{fraction}");
        let places = u32::try_from(fraction.len()).ok().filter(|places| *places <= MOST_PLACES)?;
        let units = digits.parse::<i64>().ok()?;
        Some(Self { units: units.into(), places })
    }

    /// Returns the number where it has no fraction.
    pub(crate) fn whole(self) -> Option<i128> {
        (self.places == 0).then_some(self.units)
    }

    /// Returns the units at more places.
    fn at(self, places: u32) -> i128 {
        self.units * 10_i128.pow(places - self.places)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.places == 0 {
            return write!(f, "{}", self.units);
        }
        let scale = 10_i128.pow(self.places);
        let sign = if self.units < 0 { "-" } else { "" };
        let (whole, fraction) = (self.units.abs() / scale, self.units.abs() % scale);
        let digits = usize::try_from(self.places).unwrap_or(0);
        let fraction = format!("{fraction:0digits$}");
        let trimmed = fraction.trim_end_matches('0');
        write!(f, "{sign}{whole}.{}", if trimmed.is_empty() { "0" } else { trimmed })
    }
}

impl Range {
    /// Returns the range.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn new(from: Decimal, to: Decimal, step: Decimal) -> Result<Self, String> {
        let places = from.places.max(to.places).max(step.places);
        let (next, last, step) = (from.at(places), to.at(places), step.at(places));
        if step <= 0 {
            return Err("the step of a range is above 0".to_owned());
        }
        if last < next {
            return Err("the range ends before it begins".to_owned());
        }
        let count = (last - next) / step + 1;
        if count > MOST_VALUES {
            return Err(format!("the range has {count} values, at most {MOST_VALUES}"));
        }
        Ok(Self { next, last, step, places })
    }

    /// Returns how many values are left.
    pub(crate) fn count_values(&self) -> i128 {
        ((self.last - self.next) / self.step + 1).max(0)
    }
}

impl Iterator for Range {
    type Item = Decimal;

    fn next(&mut self) -> Option<Decimal> {
        if self.next > self.last {
            return None;
        }
        let decimal = Decimal { units: self.next, places: self.places };
        self.next += self.step;
        Some(decimal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(from: &str, to: &str, step: &str) -> Vec<String> {
        let parse = |text| Decimal::parse(text).expect("a decimal");
        let range = Range::new(parse(from), parse(to), parse(step)).expect("a range");
        range.map(|decimal| decimal.to_string()).collect()
    }

    #[test]
    fn ranges_are_exact_and_hold_both_ends() {
        assert_eq!(values("1", "4", "1"), ["1", "2", "3", "4"]);
        assert_eq!(values("0.1", "0.35", "0.1"), ["0.1", "0.2", "0.3"]);
        assert_eq!(values("0.5", "1.5", "0.5"), ["0.5", "1.0", "1.5"]);
        assert_eq!(values("-1", "1", "1"), ["-1", "0", "1"]);
        assert_eq!(values("3", "3", "7"), ["3"]);
    }

    #[test]
    fn ranges_that_go_nowhere_are_refused() {
        let parse = |text| Decimal::parse(text).expect("a decimal");
        assert!(Range::new(parse("1"), parse("2"), parse("0")).is_err());
        assert!(Range::new(parse("2"), parse("1"), parse("1")).is_err());
        assert!(Range::new(parse("0"), parse("9000000"), parse("0.001")).is_err());
        assert_eq!(Decimal::parse("1e3"), None);
        assert_eq!(Decimal::parse("0.1234567890123456789"), None);
    }
}
