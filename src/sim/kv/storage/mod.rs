//! The storage tier (G3): blocks behind the host tier, written as they reach it and read back into it.
//!
//! Source: spec/SIMULATION.md §6.2.

mod config;
mod pool;
#[cfg(test)]
mod tests;
mod tier;
mod usage;

pub(crate) use config::StorageConfig;
pub(crate) use tier::{Ended, Probe, StorageTier};
