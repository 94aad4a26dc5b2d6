//! Shares in parts per million, and rates as decimals of six places.

use super::time::div_half_even;

/// A share in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ppm(u64);

/// A decimal with six places, held as its millionths: every reported rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros6(u128);

impl Ppm {
    /// Returns `part / whole` rounded half to even, or `None` for an empty whole.
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        if whole == 0 {
            return None;
        }
        u64::try_from(div_half_even(u128::from(part) * 1_000_000, u128::from(whole))).ok().map(Self)
    }

    /// Returns the parts per million.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Micros6 {
    /// Returns `count / (nanoseconds / 1e9)` a second, rounded half to even, or `None` for no time.
    pub fn per_second(count: u128, nanoseconds: u64) -> Option<Self> {
        if nanoseconds == 0 {
            return None;
        }
        Some(Self(div_half_even(count * 1_000_000_000_000_000, u128::from(nanoseconds))))
    }

    /// Returns `numerator / denominator` rounded half to even, or `None` where nothing is divided by.
    pub fn ratio(numerator: u128, denominator: u128) -> Option<Self> {
        (denominator > 0).then(|| Self(div_half_even(numerator * 1_000_000, denominator)))
    }

    /// Returns the value with `places` decimals (at most six), rounded half to even: for tables.
    pub fn to_places(self, places: usize) -> String {
        let places = places.min(6);
        let scale = (0..places).fold(1_u128, |scale, _| scale * 10);
        let rounded = div_half_even(self.0, 1_000_000 / scale);
        if places == 0 {
            return rounded.to_string();
        }
        format!("{}.{:0places$}", rounded / scale, rounded % scale)
    }

    /// Returns the value in millionths.
    pub const fn millionths(self) -> u128 {
        self.0
    }
}

impl std::fmt::Display for Micros6 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_round_half_to_even_and_keep_leading_zeros() {
        let shown = |part, whole, places| {
            Micros6::ratio(part, whole).map(|value| value.to_places(places)).unwrap_or_default()
        };
        assert_eq!((shown(5, 2, 0), shown(7, 2, 0)), ("2".to_owned(), "4".to_owned()));
        assert_eq!((shown(1, 100, 2), shown(1, 3, 6)), ("0.01".to_owned(), "0.333333".to_owned()));
        assert_eq!((shown(125, 100, 1), shown(1, 0, 1)), ("1.2".to_owned(), String::new()));
    }

    #[test]
    fn ratios_and_rates_round_half_to_even_and_know_emptiness() {
        assert_eq!(Ppm::of(1, 0), None);
        assert_eq!(Ppm::of(1, 3).map(Ppm::get), Some(333_333));
        assert_eq!(Ppm::of(2, 3).map(Ppm::get), Some(666_667));
        assert_eq!(Micros6::per_second(3, 0), None);
        assert_eq!(
            Micros6::per_second(12, 285_000_000).map(|rate| rate.to_string()),
            Some("42.105263".to_owned())
        );
    }
}
