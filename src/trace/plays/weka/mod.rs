//! A Weka trace to a play: its lists are pulled apart into conversations, and those are joined again by what waited for what.
//!
//! Source: spec/SIMULATION.md §9.5.

mod barrier;
mod chain;
mod hashes;
mod lower;
mod seam;
mod stream;
mod tails;

pub(super) use hashes::Hashes;
pub(super) use lower::lower;
