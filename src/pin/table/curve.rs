//! Times along one axis.

use super::{Axis, Segment};

/// Times along one axis, straight between its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    axis: Axis,
    ms: Vec<f64>,
}

impl Curve {
    /// Returns a curve, or `None` where there is not one finite time a point.
    pub fn new(axis: Axis, ms: Vec<f64>) -> Option<Self> {
        let fits = ms.len() == axis.points() && ms.iter().all(|time| time.is_finite());
        fits.then_some(Self { axis, ms })
    }

    /// Returns the milliseconds at `value`; beyond an end the last segment goes on. `near` is where the search begins, and then
    /// where it ended.
    pub fn at(&self, value: f64, near: &mut Segment) -> f64 {
        *near = self.axis.find(value, *near);
        let (share, low) = (self.axis.share(value, *near), near.index());
        between(self.ms[low], self.ms[low + 1], share)
    }
}

/// Returns what lies between two times.
pub(super) fn between(low: f64, high: f64, share: f64) -> f64 {
    low + (high - low) * share
}
