//! Jobs: everything needed to run once, with an id for people and a key for machines.

mod alone;
mod axis;
mod batch;
mod block;
mod doubt;
mod engine;
mod expand;
mod files;
mod inputs;
mod job;
mod live;
mod load;
mod lookup;
mod nix;
mod origin;
#[expect(clippy::module_inception, reason = "the plan is what this module is about")]
mod plan;
mod pools;
mod repin;
mod retarget;
mod served;
mod source;

pub use crate::workload::Sla;
pub use alone::Alone;
pub use batch::{BATCH_SCHEMA, Batch, BatchInput, BatchJob};
pub use engine::{Compat, EngineIdentity};
pub use job::{
    Job, JobId, JobKey, JobKind, LiveGate, Part, Places, ReplayJob, SCHEMA, SimulationJob,
    TraceInput,
};
pub use live::recorded;
pub use load::{lint_plan, load_plan, load_plan_alone, plan_text};
pub use nix::{NIX_SCHEMA, nix_plan, planned_batches};
pub use origin::Origin;
pub use plan::{Plan, PlannedBlock, PlannedPin};
pub use pools::{
    PoolInputs, PoolSource, RooflineInput, Shortfall, SoughtTable, TableInput, TableWanted,
    WorkerPart, pools, timing_digest,
};
pub use repin::{Repinned, repin};
pub use retarget::retarget;

#[cfg(test)]
mod tests;
