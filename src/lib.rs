//! Touchstone: a reproducible benchmark harness for LLM inference.
//!
//! # Layers: dependencies point down only
//!
//! ```text
//!  7  cli                                  arguments, dispatch, stdout/stderr, exit codes
//!  6  gate                                 golden compare, accept
//!  5  report                               schema, canonical bytes, views
//!  4  exec                                 pool, result cache, events
//!  3  sim        replay     mock           virtual time | wall time, async code's only homes
//!  2  plan       measure    graph          jobs and ids | pure metrics and invariants | workflow graphs
//!  1  scenario   pin   trace   workload   deployment   protocol   record        data and their decoders
//!  0  units      digest      diag          no I/O, nothing upward
//! ```
//!
//! `tests/tidy` enforces the direction.

pub mod cli;
pub mod deployment;
pub mod diag;
pub mod digest;
pub mod exec;
pub mod gate;
pub mod graph;
pub mod measure;
pub mod mock;
pub mod pin;
pub mod plan;
pub mod protocol;
pub mod record;
pub mod replay;
pub mod report;
pub mod scenario;
pub mod sim;
pub mod trace;
pub mod units;
pub mod workload;
