//! Weka's traces of coding agents: one JSON object a trace, with sub-agents in its list of requests.
//!
//! A file holds one object (`.json`) or one a line; a corpus is a list of files. Sources: spec/REPLAY.md §2, spec/SIMULATION.md §9.5.

mod basis;
mod draft;
mod read;
mod tree;

pub(super) use basis::shows_relative;
pub use read::{read_weka, read_weka_as};

#[cfg(test)]
mod tests;
