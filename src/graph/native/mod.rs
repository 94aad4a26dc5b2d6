//! Graphs in the native format: a topology that somebody wrote, and the traces that run it.
//!
//! A file is YAML (one document with `graph` and `traces`, or one document a record), JSON, or a JSON record a line. Every trace gives
//! a graph: the same nodes and edges, with what its channels hold at the start. Source: spec/REPLAY.md §7.1, §7.2.

mod build;
mod channels;
mod edges;
mod file;
mod node;
mod order;
mod prompt;
mod reading;
mod topology;
mod trace;

pub use file::read_native;

#[cfg(test)]
pub(in crate::graph) mod tests;
