//! The gaps of an open loop.

use crate::digest::Stream;

use super::Rate;

/// The arrival times of an open loop in milliseconds: the first is 0, then a running f64 sum of gaps.
///
/// The running sum is the reference's, ties included. Source: spec/SIMULATION.md §1.9.
#[derive(Debug, Clone)]
pub struct Arrivals {
    mean_gap_ms: f64,
    random: Option<Stream>,
    next_ms: f64,
}

impl Arrivals {
    /// Returns arrivals with equal gaps.
    pub fn constant(rate: Rate) -> Self {
        Self { mean_gap_ms: rate.mean_gap_ms(), random: None, next_ms: 0.0 }
    }

    /// Returns arrivals with exponential gaps drawn from `stream`.
    pub fn poisson(rate: Rate, stream: Stream) -> Self {
        Self { mean_gap_ms: rate.mean_gap_ms(), random: Some(stream), next_ms: 0.0 }
    }
}

impl Iterator for Arrivals {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let arrival = self.next_ms;
        let gap = match &mut self.random {
            None => self.mean_gap_ms,
            Some(stream) => self.mean_gap_ms * stream.exponential(),
        };
        self.next_ms += gap;
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Seed;

    #[test]
    fn constant_rate_has_equal_gaps_from_zero() {
        let rate = Rate::new(10.0).expect("a rate");
        assert_eq!(
            Arrivals::constant(rate).take(4).collect::<Vec<_>>(),
            [0.0, 100.0, 200.0, 300.0]
        );
    }

    /// Row 37 of the reference's conformance table: mean and deviation of 100,000 exponential gaps at 10 a second.
    #[test]
    fn poisson_gaps_have_the_mean_and_deviation_of_their_law() {
        let rate = Rate::new(10.0).expect("a rate");
        let times: Vec<f64> =
            Arrivals::poisson(rate, Seed::stated(17).stream()).take(100_001).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / 100_000.0;
        let deviation =
            (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 100_000.0).sqrt();
        assert!((mean - 100.0).abs() < 1.0, "{mean}");
        assert!((deviation - 100.0).abs() < 2.0, "{deviation}");
    }
}
