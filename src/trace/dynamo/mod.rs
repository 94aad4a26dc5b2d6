//! Dynamo's request trace, `dynamo.request.trace.v1`: one event a line, bare or in the envelope of a sink.
//!
//! Session trees may span files; nothing is handed over before every file is read. Sources: spec/REPLAY.md §1, spec/SIMULATION.md §9.7.

mod draft;
mod event;
mod group;
mod kept;
mod made;
mod names;
mod read;

pub use kept::Alone;
pub use made::read_dynamo_as;
pub use read::{DynamoRead, read_dynamo};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
