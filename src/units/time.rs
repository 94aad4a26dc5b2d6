//! Virtual time (`SimTime`, the reference's f64 milliseconds) and reported time (`Nanos`, integers).

use std::cmp::Ordering;
use std::fmt;
use std::time::Duration;

/// A millisecond value that is no time: not finite, negative, or beyond `u64` nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{ms:?} ms is no time: it must be finite, not negative and below 2^64 ns")]
pub struct TimeError {
    ms: f64,
}

/// An instant on the virtual clock, in milliseconds from the start of the run.
///
/// It offers addition and a total order and nothing else: where a result must not depend on rounding,
/// convert to [`Nanos`]. Source: spec/SIMULATION.md §1, "one f64 in milliseconds starting at 0.0".
#[derive(Debug, Clone, Copy, Default)]
pub struct SimTime(f64);

/// A span of virtual time in milliseconds; finite, and not negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct SimDuration(f64);

/// Integer nanoseconds: every reported time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl SimTime {
    /// The start of the clock.
    pub const ZERO: Self = Self(0.0);
    /// An instant after every other.
    pub const NEVER: Self = Self(f64::INFINITY);

    /// Returns the instant `ms` milliseconds after the start.
    ///
    /// # Errors
    /// [`TimeError`] when `ms` is negative or not finite.
    pub fn from_ms(ms: f64) -> Result<Self, TimeError> {
        if ms.is_finite() && ms >= 0.0 { Ok(Self(ms + 0.0)) } else { Err(TimeError { ms }) }
    }

    /// Returns the milliseconds since the start.
    pub const fn as_ms(self) -> f64 {
        self.0
    }

    /// Returns the span from `earlier` to `self` in milliseconds; negative where `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }

    /// Returns the instant on a clock that begins at `epoch`; its beginning where the instant is earlier.
    #[must_use]
    pub fn since(self, epoch: Self) -> Self {
        Self((self.0 - epoch.0).max(0.0))
    }

    /// Returns whether the instant is one that a clock can reach.
    pub fn is_reachable(self) -> bool {
        self.0.is_finite()
    }
}

impl std::ops::Add<SimDuration> for SimTime {
    type Output = Self;

    fn add(self, span: SimDuration) -> Self {
        Self(self.0 + span.0)
    }
}

impl PartialEq for SimTime {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SimTime {}

impl PartialOrd for SimTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SimTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Below so many seconds (twelve days) neighbouring doubles of seconds lie less than half a nanosecond apart.
const SECONDS_TOLD_APART: u64 = 1 << 20;

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0.0);

    /// Returns a span of `ms` milliseconds, kept to the last bit.
    ///
    /// # Errors
    /// [`TimeError`] when `ms` is negative or not finite.
    pub fn from_ms(ms: f64) -> Result<Self, TimeError> {
        if ms.is_finite() && ms >= 0.0 { Ok(Self(ms + 0.0)) } else { Err(TimeError { ms }) }
    }

    /// Returns a modelled compute duration: milliseconds rounded to the nearest nanosecond as the reference does.
    ///
    /// The path is ms → seconds → whole ns → seconds → ms, each an f64 operation, so that ties with arrivals fall where they
    /// fall upstream. Source: spec/SIMULATION.md §1.1.
    ///
    /// # Errors
    /// [`TimeError`] when `ms` is negative, not finite or beyond 584 years.
    pub fn modelled(ms: f64) -> Result<Self, TimeError> {
        Self::sped_up(ms, 1.0)
    }

    /// Returns a modelled compute duration divided by `ratio`: rounded to whole nanoseconds before the division and after it.
    ///
    /// A ratio of 0 leaves it as it is, and so does 1. Source: spec/SIMULATION.md §1.1.
    ///
    /// # Errors
    /// [`TimeError`] when `ms` or the quotient is negative, not finite or beyond 584 years.
    pub fn sped_up(ms: f64, ratio: f64) -> Result<Self, TimeError> {
        let whole = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| TimeError { ms });
        let unscaled = whole(ms / 1e3)?;
        // A quotient by 1 is rounded to what it was where a double tells nanoseconds apart.
        let stays = ratio.to_bits() == 1.0_f64.to_bits() && unscaled.as_secs() < SECONDS_TOLD_APART;
        let is_scaled = ratio > 0.0 && !unscaled.is_zero() && !stays;
        let modelled = if is_scaled { whole(unscaled.as_secs_f64() / ratio)? } else { unscaled };
        Ok(Self(modelled.as_secs_f64() * 1e3))
    }

    /// Returns the milliseconds of the span.
    pub const fn as_ms(self) -> f64 {
        self.0
    }

    /// Returns whether the span is empty.
    pub fn is_zero(self) -> bool {
        self.0 <= 0.0
    }
}

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Returns `ns` nanoseconds.
    pub const fn new(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the nearest nanosecond to `ms` milliseconds, half to even: the one rounding rule of reported time.
    ///
    /// # Errors
    /// [`TimeError`] when `ms` is negative, not finite, or at least 2^64 ns.
    pub fn from_ms(ms: f64) -> Result<Self, TimeError> {
        let ns = (ms * 1e6).round_ties_even();
        if !ns.is_finite() || ms < 0.0 || ns >= 18_446_744_073_709_551_616.0 {
            return Err(TimeError { ms });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked: 0 <= ns < 2^64, and integral"
        )]
        Ok(Self(ns as u64))
    }

    /// Returns the nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns milliseconds, for tables read by people and for DynoSim's fields.
    #[expect(clippy::cast_precision_loss, reason = "a view for people; 2^53 ns are 104 days")]
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns milliseconds in full, as people write them: `12.3` for 12,300,000.
    pub fn in_ms(self) -> String {
        let (whole, part) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if part == 0 {
            return whole.to_string();
        }
        format!("{whole}.{}", format!("{part:06}").trim_end_matches('0'))
    }

    /// Returns `self - earlier`, or `None` where `earlier` is later.
    pub fn since(self, earlier: Self) -> Option<Self> {
        self.0.checked_sub(earlier.0).map(Self)
    }

    /// Returns the span divided by a speedup, which is finite and above 0, rounded half to even.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "spans are below 2^53 ns (104 days) or lose less than a millionth; the cast saturates"
    )]
    pub fn sped_up(self, speedup: f64) -> Self {
        // A division by 1 would lose what a double cannot hold.
        if speedup.to_bits() == 1.0_f64.to_bits() {
            return self;
        }
        Self((self.0 as f64 / speedup).round_ties_even() as u64)
    }

    /// Returns the mean of `samples` rounded half to even, or `None` without samples. The sum is an integer sum.
    pub fn mean(samples: &[Self]) -> Option<Self> {
        let count = u128::try_from(samples.len()).ok().filter(|count| *count > 0)?;
        let sum: u128 = samples.iter().map(|sample| u128::from(sample.0)).sum();
        u64::try_from(div_half_even(sum, count)).ok().map(Self)
    }
}

impl From<Nanos> for SimTime {
    /// Returns the instant on the virtual clock; a double holds a year of nanoseconds to the 4 ns.
    fn from(time: Nanos) -> Self {
        Self(time.as_ms())
    }
}

impl From<SimTime> for Nanos {
    /// Returns the reported instant.
    ///
    /// # Panics
    /// For an instant of 2^64 ns and more: the event loop stops with an error before it reaches one.
    fn from(time: SimTime) -> Self {
        Self::from_ms(time.0).expect("the event loop refuses instants beyond 2^64 ns")
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// Returns `numerator / denominator` rounded half to even.
pub(crate) fn div_half_even(numerator: u128, denominator: u128) -> u128 {
    let (quotient, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        Ordering::Less => quotient,
        Ordering::Greater => quotient + 1,
        Ordering::Equal => quotient + quotient % 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_divides_half_to_even_and_one_changes_nothing() {
        let sped_up = |ns, speedup| Nanos(ns).sped_up(speedup);
        assert_eq!([5, 7].map(|ns| sped_up(ns, 2.0)), [Nanos(2), Nanos(4)]);
        assert_eq!(sped_up(3, 0.5), Nanos(6));
        assert_eq!(sped_up(u64::MAX - 1, 1.0), Nanos(u64::MAX - 1));
        assert_eq!(sped_up(u64::MAX, 0.5), Nanos(u64::MAX), "it saturates");
    }

    #[test]
    fn an_instant_of_either_clock_is_one_of_the_other() {
        for ns in [0, 1, 999_999, 1_000_001, 86_400_000_000_001] {
            assert_eq!(Nanos::from(SimTime::from(Nanos(ns))), Nanos(ns));
        }
    }

    #[test]
    fn milliseconds_are_told_in_full() {
        let told = [0, 1, 12_300_000, 5_000_000, 5_000_999].map(|ns| Nanos(ns).in_ms());
        assert_eq!(told, ["0", "0.000001", "12.3", "5", "5.000999"]);
    }

    #[test]
    fn from_ms_rounds_half_to_even_and_refuses_what_is_no_time() {
        assert_eq!(Nanos::from_ms(0.000_000_5), Ok(Nanos(0)));
        assert_eq!(Nanos::from_ms(0.000_001_5), Ok(Nanos(2)));
        assert_eq!(Nanos::from_ms(1.0), Ok(Nanos(1_000_000)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(Nanos::from_ms(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn modelled_durations_are_whole_nanoseconds() {
        let third = SimDuration::modelled(10.0 / 3.0).expect("finite");
        assert_eq!(Nanos::from_ms(third.as_ms()), Ok(Nanos(3_333_333)));
        assert!(SimDuration::modelled(f64::NAN).is_err());
    }

    #[test]
    fn a_duration_that_is_not_sped_up_is_what_a_division_by_one_leaves() {
        let divided = |ms: f64| {
            let whole = |seconds| Duration::try_from_secs_f64(seconds).expect("a time");
            whole(whole(ms / 1e3).as_secs_f64() / 1.0).as_secs_f64() * 1e3
        };
        let mut ms = 1.234_567_891_234e-7_f64;
        while ms < 1e13 {
            for ms in [ms, ms.round(), ms + 0.000_000_5] {
                let plain = SimDuration::modelled(ms).expect("a time").as_ms();
                assert_eq!(plain.to_bits(), divided(ms).to_bits(), "{ms}");
            }
            ms *= 1.000_7;
        }
    }

    #[test]
    fn a_speedup_divides_whole_nanoseconds_and_rounds_again_and_zero_is_none() {
        let sped = |ms: f64, ratio: f64| {
            SimDuration::sped_up(ms, ratio).map(|span| Nanos::from_ms(span.as_ms()))
        };
        assert_eq!(sped(10.0, 3.0), Ok(Ok(Nanos(3_333_333))));
        assert_eq!(sped(4.0, 3.0), Ok(Ok(Nanos(1_333_333))));
        assert_eq!(sped(10.0, 0.0), Ok(Ok(Nanos(10_000_000))));
        assert_eq!(
            sped(0.000_000_4, 0.25),
            Ok(Ok(Nanos(0))),
            "what rounds to nothing stays nothing"
        );
        assert!(sped(1e9, 1e-300).is_err());
    }

    #[test]
    fn mean_is_one_rounded_integer_division() {
        assert_eq!(Nanos::mean(&[]), None);
        assert_eq!(Nanos::mean(&[Nanos(1), Nanos(2)]), Some(Nanos(2)));
        assert_eq!(Nanos::mean(&[Nanos(2), Nanos(3)]), Some(Nanos(2)));
        assert_eq!(Nanos::mean(&[Nanos(u64::MAX), Nanos(u64::MAX)]), Some(Nanos(u64::MAX)));
    }
}
