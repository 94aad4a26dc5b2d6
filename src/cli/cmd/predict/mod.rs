//! `bench predict`: run a DynoSim configuration and write DynoSim's files.
//!
//! Exit codes are DynoSim's: 0 also when every request was rejected, 1 for a trace or a run that fails, 2 for arguments and
//! configuration, 3 for memory.

mod command;
mod job;
mod laws;
mod memory;
mod model;
mod options;
mod trace;
mod unserved;

pub(super) use command::{answer, job_of, read_config, run, summary};
pub(super) use job::SEED;
pub(super) use memory::{peak_gb, peak_kib};
pub(super) use options::compat;
pub(super) use trace::read as read_trace;
