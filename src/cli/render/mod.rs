//! What is written where: results to stdout, everything else to stderr.

mod columns;
mod finding;
mod report;
mod streams;

pub(crate) use columns::{Align, columns};
pub use report::conclude;
pub(crate) use streams::{print, print_as_written};
