//! A server of the OpenAI API on this machine: the truth that the client is held against.
//!
//! Owns its scripts, the simulated engine behind the API, in real time and in virtual time, the stamps of what it wrote, and the proof of
//! clients against them. Uses `sim`, `scenario` (to read scripts), `replay` (its clock, its client as what is proved, and wire plans that are
//! played in virtual time), `units` and `diag`; knows nothing of reports.

mod answer;
mod api;
mod engine;
pub mod proof;
mod script;
mod server;
mod simulate;
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
pub use simulate::simulate;
pub use stamps::{AnswerStamps, Stamps};
