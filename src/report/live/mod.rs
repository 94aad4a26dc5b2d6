//! The report of live traffic: what is planned, which is hashed and gated, strictly apart from what was measured.
//!
//! [`planned()`] makes the `report.json` of a replay job from its wire plan alone; nothing of a run reaches it. [`Measured`] is `live.json`:
//! no golden holds its digest, and no two runs have the same.

mod build;
mod figures;
mod measured;
mod planned;
mod request;
mod rows;

pub use build::{LiveJob, measured};
pub use measured::{LiveFiles, Measured};
pub use planned::planned;
pub(super) use rows::{PLANNED_COLUMNS, planned_cells};
pub use rows::{measured_markdown, measured_table};
