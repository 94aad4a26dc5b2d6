//! The table of the language: every node, argument and property of a scenario, once.
//!
//! Owns names, types, defaults and the sentences of docs/scenario.md. What values mean together is `decode`'s.

mod deployment;
mod gate;
mod pins;
mod replay;
mod scenario;
mod simulate;
mod worker;
mod workload;

pub use deployment::DEPLOYMENT;
pub use scenario::{INCLUDED, ROOT};
pub use simulate::{SIMULATE, VARY};
pub use workload::WORKLOAD;
