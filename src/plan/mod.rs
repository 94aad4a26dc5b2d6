//! Jobs: everything needed to run once, with an id for people and a key for machines.

mod axis;
mod block;
mod engine;
mod expand;
mod files;
mod inputs;
mod job;
mod load;
#[expect(clippy::module_inception, reason = "the plan is what this module is about")]
mod plan;
mod repin;

pub use crate::workload::Sla;
pub use engine::{Compat, EngineIdentity};
pub use job::{
    Job, JobId, JobKey, JobKind, Part, Places, ReplayJob, SCHEMA, SimulationJob, TraceInput,
};
pub use load::{lint_plan, load_plan};
pub use plan::{Plan, PlannedPin};
pub use repin::{Repinned, repin};

#[cfg(test)]
mod tests;
