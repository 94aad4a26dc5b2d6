//! Times along two axes.

use super::curve::between;
use super::{Axis, Segment};

/// Times along two axes, bilinear between their points.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    rows: Axis,
    columns: Axis,
    /// Row by row.
    ms: Vec<f64>,
}

impl Surface {
    /// Returns a surface of `ms[row][column]`, or `None` where there is not one finite time a pair of points.
    pub fn new(rows: Axis, columns: Axis, ms: &[Vec<f64>]) -> Option<Self> {
        let fits = ms.len() == rows.points()
            && ms.iter().all(|row| row.len() == columns.points())
            && ms.iter().flatten().all(|time| time.is_finite());
        fits.then(|| Self { rows, columns, ms: ms.concat() })
    }

    /// Returns the milliseconds at a pair of values; beyond an end the last segment goes on. `near` is where the searches begin,
    /// and then where they ended.
    pub fn at(&self, row: f64, column: f64, near: &mut (Segment, Segment)) -> f64 {
        near.0 = self.row(row, near.0);
        let along_rows = self.along(row, near.0);
        self.at_row((near.0, along_rows), column, &mut near.1)
    }

    /// Returns the segment of a row.
    pub(super) fn row(&self, row: f64, near: Segment) -> Segment {
        self.rows.find(row, near)
    }

    /// Returns how far a row is along its segment.
    pub(super) fn along(&self, row: f64, segment: Segment) -> f64 {
        self.rows.share(row, segment)
    }

    /// Returns the milliseconds at a column of a row of which the segment, and how far it is along it, are known.
    pub(super) fn at_row(
        &self,
        (row_segment, along_rows): (Segment, f64),
        column: f64,
        near: &mut Segment,
    ) -> f64 {
        *near = self.columns.find(column, *near);
        let along_columns = self.columns.share(column, *near);
        let width = self.columns.points();
        let corner = row_segment.index() * width + near.index();
        let at = |corner: usize| between(self.ms[corner], self.ms[corner + 1], along_columns);
        between(at(corner), at(corner + width), along_rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "halves and quarters are exact")]
    fn a_surface_is_bilinear_inside_and_goes_straight_on_outside() {
        let axis = |points: &[f64]| Axis::new(points.to_vec()).expect("grows");
        let surface = Surface::new(
            axis(&[1.0, 3.0]),
            axis(&[0.0, 4.0, 8.0]),
            &[vec![0.0, 4.0, 12.0], vec![2.0, 6.0, 14.0]],
        )
        .expect("fits");
        let at = |row, column| surface.at(row, column, &mut Default::default());
        assert_eq!(at(1.0, 4.0), 4.0);
        assert_eq!(at(2.0, 2.0), 3.0);
        assert_eq!(at(5.0, 10.0), 20.0, "two more steps along each axis");
    }

    #[test]
    fn a_surface_with_a_gap_is_none() {
        let axis = || Axis::new(vec![1.0, 2.0]).expect("grows");
        assert_eq!(Surface::new(axis(), axis(), &[vec![1.0, 2.0]]), None);
        assert_eq!(Surface::new(axis(), axis(), &[vec![1.0, 2.0], vec![1.0]]), None);
        assert_eq!(Surface::new(axis(), axis(), &[vec![1.0, 2.0], vec![1.0, f64::NAN]]), None);
    }
}
