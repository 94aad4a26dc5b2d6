//! Partial runs: what a partition of a plan, or a batch of it, leaves. They become a run when all of them are merged.
//!
//! A partial run is a folder with `partial.json` and the files of its jobs. It is no run folder: there is no `run.json` in it, so
//! nothing compares it with anything.

mod file;
mod folder;
mod merge;
#[cfg(test)]
mod tests;

pub use file::{PARTIAL_SCHEMA, PartialFile, PartialJob, Share};
pub use folder::{PartialRun, is_partial, partial_runs};
pub use merge::{Programs, check, collect};
