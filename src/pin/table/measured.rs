//! Decode attention as it was measured, and the average that an estimator takes over it.

use super::{Axis, Segment, Surface};

/// Lengths that an average is taken over.
const SAMPLES: usize = 5;

/// Decode attention at the requests and lengths that were measured.
///
/// The estimator answers a length with the mean over five lengths around it, because lengths drift while one pass is like the
/// next. So its answers have a kink wherever one of the five passes a measured length, every few tokens; a surface of answers
/// would need a point for each, a surface of measurements needs what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    surface: Surface,
    /// The requests of each row.
    requests: Vec<f64>,
    /// The longest length that was measured for each row.
    longest: Vec<f64>,
    /// The shortest length.
    shortest: f64,
}

/// Where the last answers of a [`Measured`] lay.
#[derive(Debug, Clone, Copy, Default)]
pub struct NearMeasured {
    row: Segment,
    columns: [Segment; SAMPLES],
}

impl Measured {
    /// Returns the measurements `ms[request][length]`, each row as far as it goes; `None` where they do not fit or a row holds
    /// less than one.
    pub fn new(requests: Vec<f64>, lengths: Vec<f64>, ms: &[Vec<Option<f64>>]) -> Option<Self> {
        let mut longest = Vec::with_capacity(ms.len());
        let mut full = Vec::with_capacity(ms.len());
        for row in ms {
            let known: Vec<f64> = row.iter().copied().map_while(|time| time).collect();
            let has_gap = row[known.len()..].iter().any(Option::is_some);
            if known.is_empty() || has_gap {
                return None;
            }
            longest.push(*lengths.get(known.len() - 1)?);
            let rest = row.len() - known.len();
            full.push(known.into_iter().chain(std::iter::repeat_n(0.0, rest)).collect());
        }
        let shortest = *lengths.first()?;
        let surface = Surface::new(Axis::new(requests.clone())?, Axis::new(lengths)?, &full)?;
        Some(Self { surface, requests, longest, shortest })
    }

    /// Returns the mean over the five lengths around `length`, or `None` where one of them was not measured.
    #[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^53")]
    pub fn at(&self, requests: f64, length: u64, near: &mut NearMeasured) -> Option<f64> {
        let lengths = average_lengths(length).map(|length| length as f64);
        near.row = self.surface.row(requests, near.row);
        let row = near.row.index();
        let longest = self.longest[row].min(self.longest[row + 1]);
        let is_measured = requests >= self.requests[0]
            && requests <= self.requests[row + 1]
            && lengths[0] >= self.shortest
            && lengths[SAMPLES - 1] <= longest;
        is_measured.then(|| {
            let at = (near.row, self.surface.along(requests, near.row));
            let sum: f64 = lengths
                .into_iter()
                .zip(&mut near.columns)
                .map(|(length, column)| self.surface.at_row(at, length, column))
                .sum();
            sum / SAMPLES as f64
        })
    }
}

/// Returns the five lengths around `length`: from nine tenths of it to eleven tenths, each bound and step rounded down.
///
/// Source: the decode attention of `aisimulate-core` 0.13.0, and the kinks of its answers.
pub fn average_lengths(length: u64) -> [u64; SAMPLES] {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths are far below 2^53 and not negative"
    )]
    let scaled = |factor: f64| (length as f64 * factor) as u64;
    let low = scaled(0.9).max(1);
    let high = scaled(1.1).max(low);
    std::array::from_fn(|index| low + (high - low) * index as u64 / (SAMPLES as u64 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_samples_span_a_tenth_each_way_in_whole_tokens() {
        assert_eq!(average_lengths(1), [1; 5]);
        assert_eq!(average_lengths(2), [1, 1, 1, 1, 2]);
        assert_eq!(average_lengths(100), [90, 95, 100, 105, 110]);
        assert_eq!(average_lengths(1139), [1025, 1081, 1138, 1195, 1252]);
    }

    #[test]
    fn an_average_is_answered_where_all_of_it_was_measured() {
        let ms = [vec![Some(16.0), Some(32.0), Some(128.0)], vec![Some(32.0), Some(64.0), None]];
        let measured = Measured::new(vec![1.0, 2.0], vec![16.0, 32.0, 64.0], &ms).expect("it fits");
        let at = |requests, length| measured.at(requests, length, &mut NearMeasured::default());
        // 18, 19, 20, 21, 22 lie on a line of slope 1: their mean is 20
        assert_eq!(at(1.0, 20), Some(20.0));
        assert_eq!(at(1.5, 20), Some(30.0));
        assert_eq!(at(1.0, 17), None, "15 is too short");
        assert_eq!(at(1.0, 40), None, "36 is too long for the second row");
        assert_eq!(at(3.0, 20), None, "three requests were not measured");
        let gap = [vec![Some(1.0), None, Some(1.0)], vec![Some(1.0), Some(1.0), Some(1.0)]];
        assert_eq!(Measured::new(vec![1.0, 2.0], vec![1.0, 2.0, 3.0], &gap), None);
    }
}
