//! What serves the requests: topology, engine settings and timing, as data.
//!
//! Owns the resolved description (defaults filled in). Decoders build it from KDL and from DynoSim's YAML; `sim` runs it.

mod capacity;
mod kv_cache;
mod model;
mod parallelism;
mod router;
mod scheduling;
mod timing;

pub use capacity::Capacity;
pub use kv_cache::{CacheGroup, Eviction, HostOffload, KvCache, StateCache, StorageOffload};
pub use model::{
    Backend, ContextLength, Deployment, Drafter, KvTransfer, Mode, Preemption, Scheduler,
    Speculation, TransferTiming, Worker, WorkerRole, Workers,
};
pub use parallelism::Parallelism;
pub use router::{Planner, PlannerKnob, Router};
pub use scheduling::{SchedulePolicy, SglangScheduler};
pub use timing::{Efficiency, Speedup, Timing};
