//! What is written where: results to stdout, everything else to stderr.

mod finding;
mod report;
mod streams;

pub use report::conclude;
pub(crate) use streams::{print, stderr_line};
