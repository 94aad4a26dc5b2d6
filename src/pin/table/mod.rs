//! What the file of a timing pin holds: a table of pass times, and how it answers between its points.
//!
//! Owns the file's schema, its checks and the interpolation. What a pass asks is the simulator's.

mod axis;
mod curve;
mod measured;
mod pass_table;
mod read;
mod surface;

pub use axis::{Axis, Segment};
pub use curve::Curve;
pub use measured::{Measured, NearMeasured, average_lengths};
pub use pass_table::{DecodeTable, PassTable, PrefillTable};
pub use surface::Surface;
