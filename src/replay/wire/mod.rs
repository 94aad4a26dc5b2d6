//! The wire plan: every request of a live run, before anything is sent.
//!
//! Owns which traces are replayed ([`Selection`]), which instance is of which trace ([`Draws`]), when calls start ([`WirePacing`],
//! [`WireWindow`]), what requests are ([`WirePlan::request`]), and the document by which a plan is gated ([`WireDigests`]). From one
//! recording, workload, seed and settings follows one plan, byte for byte; only answers that a prompt holds come later, and those are
//! named as slots. [`WirePlan::load`] makes that of a planned job from its pins. Nothing here reads a clock or opens a socket. Source: REPLAY.md §8.2 to §9.3.

mod answer;
mod authored;
mod body;
mod describe;
mod difference;
mod draw;
mod fields;
mod guard;
mod headers;
mod identity;
mod inputs;
mod load;
mod pacing;
mod plan;
mod prompts;
mod recording;
mod request;
mod routing;
mod select;
mod slot;
#[cfg(test)]
mod tests;
mod variant;
mod window;

pub use difference::{WireDifference, WireDigests};
pub use draw::Draws;
pub use guard::duplication;
pub use identity::Identity;
pub use inputs::WireInputs;
pub use load::LoadedWire;
pub use pacing::{LoopKind, WirePacing};
pub use plan::{PlannedBody, WirePlan};
pub use request::WireCall;
pub use select::{Selection, peak_of_graph, peak_of_tree};
pub use slot::WireSlot;
pub use variant::WireVariant;
pub use window::WireWindow;
