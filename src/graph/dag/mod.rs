//! `dag-jsonl`: sessions with forks and spawns, one JSON object a line.
//!
//! A fork goes on with all that its parent has said and heard, answers as they come; a spawn starts afresh, and its parent waits for
//! it at a later turn. Every session that nobody refers to is the root of a graph. Source: spec/REPLAY.md §7.3.

mod expand;
mod record;
mod sessions;

pub use expand::read_dag;

#[cfg(test)]
mod tests;
