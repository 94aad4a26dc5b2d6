//! Goldens and the verdicts on them: what was accepted, what differs, and where to look.
//!
//! Owns the golden's file format, the comparison of runs, and the rules of acceptance. Decides; `cli` prints and exits.

mod accept;
pub mod bisect;
mod compare;
mod diff;
mod diff_measured;
pub mod explain;
mod finding;
mod golden;
mod golden_text;
mod live;
pub mod minimise;
pub mod parity;
#[cfg(test)]
mod planted;
mod request_difference;
mod runs;
mod side;
#[cfg(test)]
mod tests;
pub mod upgrade;
mod write;

pub use accept::{Agreement, agreement, changed_jobs};
pub use compare::{Comparison, FoundRequests, compare};
pub use diff::{DiffRow, Difference, Judgement, diff_json, diff_table, differences};
pub use diff_measured::{MeasuredRows, measured_diff_table, measured_rows};
pub use finding::{Cause, Drift, Finding, Kept};
pub use golden::{Acceptance, Golden, GoldenFile, GoldenJob};
pub use golden_text::golden_text;
pub use live::{Unsent, judge_unsent};
pub use request_difference::{RequestDifference, first_difference};
pub use runs::KnownRuns;
pub use side::{Side, SideJob};
pub use write::write_golden;
