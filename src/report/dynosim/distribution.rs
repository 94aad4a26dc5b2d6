//! DynoSim's statistics of a set of samples.

use serde_json::{Map, Value};

/// The percentiles that DynoSim prints, with their names.
const PERCENTILES: [(&str, f64); 5] =
    [("median", 50.0), ("p75", 75.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0)];

/// A value and how often it was sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    /// The value.
    pub(super) value: f64,
    /// How often.
    pub(super) count: u64,
}

/// Samples in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Distribution {
    samples: Vec<Weighted>,
    count: u64,
}

impl Distribution {
    /// Returns the distribution of samples, one each.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        Self::weighted(values.into_iter().map(|value| Weighted { value, count: 1 }).collect())
    }

    /// Returns the distribution of weighted samples.
    pub(super) fn weighted(mut samples: Vec<Weighted>) -> Self {
        samples.sort_by(|a, b| a.value.total_cmp(&b.value));
        let count = samples.iter().map(|sample| sample.count).sum();
        Self { samples, count }
    }

    /// Returns how many samples there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the arithmetic mean; 0 without samples.
    pub(super) fn mean(&self) -> f64 {
        self.average(|value| value)
    }

    /// Returns the population standard deviation; 0 without samples.
    pub(super) fn deviation(&self) -> f64 {
        let mean = self.mean();
        self.average(|value| (value - mean).powi(2)).sqrt()
    }

    /// Returns the sample at position round((n - 1) · p / 100), halves away from zero; 0 without samples.
    ///
    /// Source: spec/SIMULATION.md §10.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let Some(last) = self.count.checked_sub(1) else { return 0.0 };
        let position = position(last, percent);
        let mut passed = 0;
        for sample in &self.samples {
            passed += sample.count;
            if passed > position {
                return sample.value;
            }
        }
        self.samples.last().map_or(0.0, |sample| sample.value)
    }

    /// Adds `{mean,min,max,median,p75,p90,p95,p99,std}_{name}` to an object.
    pub(super) fn write(&self, name: &str, object: &mut Map<String, Value>) {
        let mut put = |statistic: &str, value: f64| {
            object.insert(format!("{statistic}_{name}"), Value::from(value));
        };
        put("mean", self.mean());
        put("min", self.samples.first().map_or(0.0, |sample| sample.value));
        put("max", self.samples.last().map_or(0.0, |sample| sample.value));
        put("std", self.deviation());
        for (statistic, percent) in PERCENTILES {
            put(statistic, self.percentile(percent));
        }
    }

    /// Returns the mean of a function of the samples; 0 without samples.
    #[expect(clippy::cast_precision_loss, reason = "DynoSim's statistics are f64")]
    fn average(&self, of: impl Fn(f64) -> f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let sum: f64 = self.samples.iter().map(|s| of(s.value) * s.count as f64).sum();
        sum / self.count as f64
    }
}

/// Returns round(last · p / 100), at most `last`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the rule is an f64 rule; the product is not negative"
)]
fn position(last: u64, percent: f64) -> u64 {
    ((last as f64 * percent / 100.0).round() as u64).min(last)
}
