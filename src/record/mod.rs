//! What one job observed: every request, the passes between, and a transcript digest.
//!
//! Owns observations only; what they mean is `measure`. An engine fills it, reports and gates read it.

mod codec;
mod exchange;
mod exchange_error;
mod gaps;
mod handoff;
mod instances;
mod live;
mod outcome;
mod refusal;
mod request;
mod requests;
mod run;
#[cfg(test)]
mod sample;
mod spool;
mod storage;

pub use exchange::{
    Channel, Connection, Delivery, Exchange, Handshake, Protocol, Reply, StreamEvent, ToolCall,
    Usage,
};
pub use exchange_error::{ConnectStage, ExchangeError, Limit, Truncation};
pub use gaps::{Gap, GapUnit, Gaps};
pub use handoff::{Handoff, LinkUse};
pub use instances::{
    IdleShift, InstancePart, InstanceRecord, InstanceStatus, InstancesRecord, PreparationRecord,
    PreparingRecord, ProfileRecord,
};
pub use live::{
    ClientHealth, LiveCall, LiveOutcome, LiveRequest, LiveRun, LiveTally, LiveTrace, Phase,
};
pub use outcome::Outcome;
pub use refusal::{Refusal, Rule};
pub use request::{Admission, RequestRecord};
pub use requests::{RequestSorter, Requests};
pub use run::{PoolUse, RunRecord, Transcript, Witness};
pub use spool::{Spool, SpoolWriter, file_digest};
pub use storage::{HostUse, StorageIo, StorageUse};
