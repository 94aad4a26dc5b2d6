//! The smallest job that two engines still answer differently.
//!
//! Delta debugging: rows, then shared blocks, arrivals and lengths, then the configuration, round after round until nothing more can
//! go. Decides what to try next; who asks the engines, and from which files, is the caller's. Nothing is drawn at random and no clock
//! is read, so the same job gives the same answer.

mod candidate;
mod configuration;
mod ddmin;
mod numbers;
mod rows;
mod search;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, header, load_by_timestamps, scenario_of, with_trace};
pub use ddmin::{Stop, ddmin};
pub use rows::{Row, Rows};
pub use search::{Found, Progress, Tried, minimise};
