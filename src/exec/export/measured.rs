//! Decode attention as it was measured, from answers that are means over five lengths around the one asked.

use crate::pin::average_lengths;

use super::ExportError;
use super::sampling::{Estimator, Pass};

/// Measurements along requests and lengths; each row as far as it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredSurface {
    /// The requests.
    pub rows: Vec<u64>,
    /// The lengths.
    pub columns: Vec<u64>,
    /// Milliseconds, row by row.
    pub ms: Vec<Vec<Option<f64>>>,
}

/// Exponents of the lengths: measurements are made at powers of two.
const EXPONENTS: std::ops::RangeInclusive<u32> = 4..=17;
/// How far an answer may be off a straight line between measurements, as a share.
const TOLERANCE: f64 = 1e-7;
/// Answers that are asked of each interval.
const PROBES: u64 = 5;

/// A straight line through the answers of one interval.
#[derive(Debug, Clone, Copy)]
struct Line {
    length: f64,
    ms: f64,
    slope: f64,
}

impl Line {
    fn at(self, length: f64) -> f64 {
        self.ms + self.slope * (length - self.length)
    }
}

/// Recovers the measurements: answers whose five lengths lie in one interval lie on its line, and lines end at measurements.
///
/// A row ends where answers do not lie on lines: the operator was not measured there.
///
/// # Errors
/// What the estimator answers instead.
pub(super) fn measured(estimator: &mut dyn Estimator) -> Result<MeasuredSurface, ExportError> {
    let rows: Vec<u64> = (0..=10).map(|exponent| 1 << exponent).collect();
    let columns: Vec<u64> = EXPONENTS.map(|exponent| 1 << exponent).collect();
    let mut ms = Vec::new();
    for requests in &rows {
        let mut lines = Vec::new();
        for pair in columns.windows(2) {
            lines.push(line(estimator, *requests, (pair[0], pair[1]))?);
        }
        let known = lines.iter().take_while(|line| line.is_some()).count();
        ms.push(row(&lines[..known], &columns));
    }
    Ok(MeasuredSurface { rows, columns, ms })
}

/// Returns the measurements at both ends of each line, and nothing behind the last.
#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
fn row(lines: &[Option<Line>], columns: &[u64]) -> Vec<Option<f64>> {
    let ends = |at: usize| {
        let line = lines.get(at.saturating_sub(1)).copied().flatten()?;
        Some(line.at(columns[at] as f64))
    };
    (0..columns.len()).map(ends).collect()
}

/// Returns the line of an interval, or `None` where its answers lie on none.
#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
fn line(
    estimator: &mut dyn Estimator,
    requests: u64,
    (low, high): (u64, u64),
) -> Result<Option<Line>, ExportError> {
    let is_inside = |length: &u64| {
        let lengths = average_lengths(*length);
        lengths[0] >= low && lengths[lengths.len() - 1] <= high
    };
    let inside: Vec<u64> = (low..=high).filter(is_inside).collect();
    let (Some(first), Some(last)) = (inside.first(), inside.last()) else { return Ok(None) };
    let asked: Vec<u64> =
        (0..PROBES).map(|probe| first + (last - first) * probe / (PROBES - 1)).collect();
    let passes: Vec<Pass> =
        asked.iter().map(|context| Pass::Decode { requests, context: *context }).collect();
    let answers = estimator.answer(&passes)?;
    let mean = |context: &u64| {
        let lengths = average_lengths(*context);
        lengths.iter().sum::<u64>() as f64 / lengths.len() as f64
    };
    let points: Vec<(f64, f64)> =
        asked.iter().map(mean).zip(answers.iter().map(|answer| answer.attention)).collect();
    let (start, end) = (points[0], points[points.len() - 1]);
    let slope = (end.1 - start.1) / (end.0 - start.0);
    let line = Line { length: start.0, ms: start.1, slope };
    let fits = points.iter().all(|(length, ms)| (line.at(*length) - ms).abs() <= TOLERANCE * ms);
    Ok((fits && slope.is_finite()).then_some(line))
}
