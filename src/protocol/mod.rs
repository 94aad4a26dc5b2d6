//! What `bench` and the runner of an upstream engine say to each other: one JSON request on stdin, one JSON answer on stdout.
//!
//! Owns both documents and their version. The job in a request is a specification in the engine's own terms; an answer repeats whose
//! job it is, and holds the engine's own records. docs/engines.md describes the protocol for whoever writes a runner.

mod request;
mod response;
mod version;

pub use request::{RunnerRequest, RunnerSession, RunnerTraffic, RunnerTurn};
pub use response::{
    EngineAdmission, EngineEvidence, EnginePressure, EngineRequest, EngineRoute, EngineRun,
    EngineSummary, PressureRecord, RunnerOutcome, RunnerResponse,
};
pub use version::{PROTOCOL, RunnerEngine};
