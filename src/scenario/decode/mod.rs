//! From checked nodes to data: what values mean together.
//!
//! The table has checked each value by itself; here stand the rules between values. Owns no files and no pins.

mod deployment;
mod gate;
mod group;
mod names;
mod pins;
mod replay;
mod scenario;
mod simulate;
#[cfg(test)]
mod tests;
mod worker;
mod workload;

pub use deployment::deployment;
use names::names;
pub(super) use scenario::{declared, scenario};
pub use workload::workload;
