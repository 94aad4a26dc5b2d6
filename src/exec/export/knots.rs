//! Where a function must be known so that straight lines between are close: asked round by round, many points at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::ExportError;

/// How far a straight line may be off, as a share of the value.
const TOLERANCE: f64 = 5e-5;

/// Returns the points of an axis from `low` to `high`, at most `most`, whose values lie close to straight lines in each of
/// several rows.
///
/// `at` answers the values of all rows at each of some points. An interval is split while a value in it is off the line in
/// any row at one of three points, the largest misses first.
///
/// # Errors
/// What `at` answers.
pub(super) fn knots(
    (low, high, most): (u64, u64, usize),
    mut at: impl FnMut(&[u64]) -> Result<Vec<Vec<f64>>, ExportError>,
) -> Result<Vec<u64>, ExportError> {
    let seeds = seeds(low, high);
    let mut known: BTreeMap<u64, Vec<f64>> = seeds.iter().copied().zip(at(&seeds)?).collect();
    let mut settled = BTreeSet::new();
    loop {
        let points: Vec<u64> = known.keys().copied().collect();
        let open: Vec<(u64, u64)> = points
            .windows(2)
            .filter(|pair| pair[1] - pair[0] > 1 && !settled.contains(&(pair[0], pair[1])))
            .map(|pair| (pair[0], pair[1]))
            .collect();
        if open.is_empty() || points.len() >= most {
            return Ok(points);
        }
        let probes: Vec<[u64; 3]> = open.iter().map(|(low, high)| probes(*low, *high)).collect();
        let mut values = at(&probes.concat())?.into_iter();
        let mut misses: Vec<(f64, u64, Vec<f64>)> = Vec::new();
        for ((low, high), probes) in open.iter().zip(probes) {
            let values: Vec<Vec<f64>> = values.by_ref().take(probes.len()).collect();
            let worst = probes
                .into_iter()
                .zip(values)
                .map(|(probe, value)| {
                    let line = ((*low, known[low].as_slice()), (*high, known[high].as_slice()));
                    (miss(line.0, line.1, (probe, &value)), probe, value)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            match worst {
                Some(worst) if worst.0 > TOLERANCE => misses.push(worst),
                Some(_) | None => drop(settled.insert((*low, *high))),
            }
        }
        misses.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        misses.truncate(most - points.len());
        known.extend(misses.into_iter().map(|(_, probe, value)| (probe, value)));
    }
}

/// Returns where to begin: the ends, and powers of two between them with what follows each, where kernels change.
fn seeds(low: u64, high: u64) -> Vec<u64> {
    let powers = (1..63).map(|exponent| 1_u64 << exponent).take_while(|power| *power < high);
    let around = powers.flat_map(|power| [power, power + 1]);
    let inside = around.filter(|point| *point > low && *point < high);
    let all: BTreeSet<u64> = [low, high].into_iter().chain(inside).collect();
    all.into_iter().collect()
}

/// Returns three points inside an interval; of a narrow one some are the same.
fn probes(low: u64, high: u64) -> [u64; 3] {
    let middle = middle(low, high);
    [middle_or(low, middle), middle, middle_or(middle, high)]
}

/// Returns the middle of an interval, or its inner end where there is none.
fn middle_or(low: u64, high: u64) -> u64 {
    if high - low > 1 { middle(low, high) } else { low.max(1) }
}

/// Returns the geometric middle of an interval: what is measured is measured at powers of two.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "points are far below 2^53"
)]
fn middle(low: u64, high: u64) -> u64 {
    let between = (low as f64 * high as f64).sqrt().round() as u64;
    between.clamp(low + 1, high - 1)
}

/// Returns the largest share by which a value is off the line between two others, over all rows.
#[expect(clippy::cast_precision_loss, reason = "points are far below 2^53")]
fn miss(low: (u64, &[f64]), high: (u64, &[f64]), middle: (u64, &[f64])) -> f64 {
    let share = (middle.0 - low.0) as f64 / (high.0 - low.0) as f64;
    let rows = low.1.iter().zip(high.1).zip(middle.1);
    rows.map(|((low, high), middle)| {
        let line = low + (high - low) * share;
        (line - middle).abs() / middle.abs().max(1e-9)
    })
    .fold(0.0, f64::max)
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
mod tests {
    use super::*;

    #[test]
    fn a_line_needs_its_ends_and_a_kink_is_found() {
        let line = |points: &[u64]| Ok(points.iter().map(|x| vec![*x as f64]).collect());
        let found = knots((1, 1024, 200), line).expect("answered");
        assert_eq!(found, seeds(1, 1024), "nothing beside where it begins");
        let kinked =
            |points: &[u64]| Ok(points.iter().map(|x| vec![(*x).max(100) as f64]).collect());
        let found = knots((1, 1024, 200), kinked).expect("answered");

        assert!(found.iter().any(|point| point.abs_diff(100) <= 1), "{found:?}");
        assert!(found.len() < 30, "{found:?}");
    }

    #[test]
    fn a_curve_has_no_more_points_than_are_worth_it() {
        let curve = |points: &[u64]| {
            Ok(points.iter().map(|x| vec![*x as f64 * (*x as f64).sqrt()]).collect())
        };
        let found = knots((1, 1 << 17, 200), curve).expect("answered");
        assert!((60..=200).contains(&found.len()), "{}", found.len());
    }
}
