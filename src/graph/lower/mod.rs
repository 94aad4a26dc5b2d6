//! Recorded session trees to graphs: one pass for all formats.
//!
//! Calls in order of their starts; idle gaps shortened; what each call waited for; how prompts go on from one another.
//! Source: spec/REPLAY.md §3 and §4. Where this differs from `AIPerf`'s lane, on purpose: times are integer nanoseconds and nothing is
//! rounded to milliseconds; sessions of which neither descends from the other do not wait for one another (`AIPerf` joins siblings that
//! merely finished first); turns of one instant are ordered by number (`s:2` before
//! `s:10`), and causes before what they brought about; blocks that a recording does not name
//! are of their tree alone; what a cache could serve counts by the path of a block, not by its name alone.

mod calls;
mod causality;
mod graph;
mod prompts;
mod radix;
mod warp;

pub use graph::{LowerCounts, LowerOptions, lower};
pub use warp::IdleGapCap;
