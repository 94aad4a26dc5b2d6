//! Rounded rank, population deviation, and what is said of nothing.

use serde_json::Map;

use super::super::distribution::{Distribution, Weighted};

fn percentiles(values: &[f64]) -> Vec<f64> {
    let distribution = Distribution::of(values.iter().copied());
    [0.0, 50.0, 75.0, 90.0, 95.0, 99.0, 100.0].map(|p| distribution.percentile(p)).to_vec()
}

/// round((n − 1) · p / 100): with ten samples p50 is round(4.5) = 5, half away from zero, and p95 is round(8.55) = 9.
#[test]
fn a_percentile_is_the_sample_at_the_rounded_rank() {
    assert_eq!(percentiles(&[3.0]), [3.0; 7]);
    assert_eq!(percentiles(&[2.0, 1.0]), [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    let ten: Vec<f64> = (0..10).rev().map(f64::from).collect();
    assert_eq!(percentiles(&ten), [0.0, 5.0, 7.0, 8.0, 9.0, 9.0, 9.0]);
}

#[test]
fn the_deviation_is_that_of_the_population() {
    let distribution = Distribution::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert_eq!(distribution.mean().to_bits(), 5.0_f64.to_bits());
    assert_eq!(distribution.deviation().to_bits(), 2.0_f64.to_bits());
    assert_eq!(Distribution::of([8.0]).deviation().to_bits(), 0.0_f64.to_bits());
}

#[test]
fn a_weight_is_as_many_samples() {
    let weighted = Distribution::weighted(vec![
        Weighted { value: 9.0, count: 1 },
        Weighted { value: 1.0, count: 6 },
        Weighted { value: 4.0, count: 3 },
    ]);
    let spread = Distribution::of([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 9.0]);
    assert_eq!(weighted.count(), 10);
    for percent in 0..=100 {
        let (percent, both) = (f64::from(percent), [&weighted, &spread]);
        let [a, b] = both.map(|distribution| distribution.percentile(percent).to_bits());
        assert_eq!(a, b, "p{percent}");
    }
    assert_eq!(weighted.mean().to_bits(), spread.mean().to_bits());
    assert!((weighted.deviation() - spread.deviation()).abs() < 1e-12);
}

#[test]
fn an_empty_distribution_prints_zeros() {
    let mut object = Map::new();
    Distribution::default().write("ttft_ms", &mut object);
    assert_eq!(object.len(), 9);
    assert!(object.values().all(|value| value.as_f64() == Some(0.0)), "{object:?}");
}
