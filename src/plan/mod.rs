//! Jobs: everything needed to run once, with an id for people and a key for machines.

mod engine;
mod job;
#[expect(clippy::module_inception, reason = "the plan is what this module is about")]
mod plan;

pub use crate::workload::Sla;
pub use engine::{Compat, EngineIdentity};
pub use job::{
    Job, JobId, JobKey, JobKind, Part, Places, ReplayJob, SCHEMA, SimulationJob, TraceInput,
};
pub use plan::Plan;
