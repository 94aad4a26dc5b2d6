//! A server of the OpenAI API on this machine: the truth that the client is held against.
//!
//! Owns its scripts, the simulated engine behind the API, the stamps of what it wrote, and the proof of clients against them. Uses `sim`,
//! `scenario` (to read scripts), `replay` (its clock, and its client as what is proved), `units` and `diag`; knows nothing of plans of
//! traffic and of reports.

mod answer;
mod api;
mod engine;
pub mod proof;
mod script;
mod server;
mod stamps;
mod timer;

#[cfg(test)]
mod tests;

pub use script::{
    Answer, Fault, FaultKind, LineEnd, Output, Pieces, Refused, Rule, Script, Stall, ToolScript,
    UsageScript, When,
};
pub use server::{
    Address, Behaviour, Bind, Credentials, MockError, MockServer, Security, Settings, start,
};
pub use stamps::{AnswerStamps, Stamps};
