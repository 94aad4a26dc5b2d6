//! An axis: points that grow, and the segment that a value lies in.

/// Points that grow; at least two.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis(Vec<f64>);

/// The place of a segment: the index of its lower end. A search that begins where the last one ended is mostly done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment(usize);

impl Axis {
    /// Returns an axis, or `None` where there are fewer than two points or they do not grow.
    pub fn new(points: Vec<f64>) -> Option<Self> {
        let grows = points.windows(2).all(|pair| pair[0] < pair[1]);
        let is_finite = points.iter().all(|point| point.is_finite());
        (points.len() >= 2 && grows && is_finite).then_some(Self(points))
    }

    /// Returns how many points there are.
    pub fn points(&self) -> usize {
        self.0.len()
    }

    /// Returns the segment of `value`, searched from `near` on; the first or the last one where it lies outside.
    pub fn find(&self, value: f64, near: Segment) -> Segment {
        let last = self.0.len() - 2;
        let mut at = near.0.min(last);
        if self.0[at] <= value {
            if at == last || value < self.0[at + 1] {
                return Segment(at);
            }
            at += 1;
            if at == last || value < self.0[at + 1] {
                return Segment(at);
            }
        }
        let above = self.0.partition_point(|point| *point <= value);
        Segment(above.saturating_sub(1).min(last))
    }

    /// Returns how far `value` is along a segment: 0 at its lower end, 1 at its upper, beyond where it lies outside.
    pub fn share(&self, value: f64, segment: Segment) -> f64 {
        let (low, high) = (self.0[segment.0], self.0[segment.0 + 1]);
        (value - low) / (high - low)
    }
}

impl Segment {
    /// Returns the index of the lower end.
    pub const fn index(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_same_segment_wherever_it_begins() {
        let axis = Axis::new(vec![1.0, 2.0, 4.0, 8.0, 16.0]).expect("grows");
        for (value, expected) in [
            (0.0, 0),
            (1.0, 0),
            (1.5, 0),
            (2.0, 1),
            (3.9, 1),
            (4.0, 2),
            (15.0, 3),
            (16.0, 3),
            (99.0, 3),
        ] {
            for near in 0..6 {
                assert_eq!(
                    axis.find(value, Segment(near)),
                    Segment(expected),
                    "{value} from {near}"
                );
            }
        }
    }

    #[test]
    fn an_axis_that_does_not_grow_is_none() {
        assert_eq!(Axis::new(vec![1.0]), None);
        assert_eq!(Axis::new(vec![1.0, 1.0]), None);
        assert_eq!(Axis::new(vec![1.0, f64::NAN]), None);
    }
}
