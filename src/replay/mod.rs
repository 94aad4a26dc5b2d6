//! Live traffic: recorded calls of models, sent to an endpoint and measured.
//!
//! Owns the plan of what goes over the wire, the client, the pacing and the run itself. Wall time and async code live here and in
//! [`crate::mock`] alone. Uses `plan`, `pin`, `graph`, `record`, `scenario`, `digest`, `units` and `diag`; knows nothing of reports and gates.

pub mod answer;
pub mod http;
mod outgoing;
mod run;
pub mod sse;
mod wall;
pub mod wire;

pub use outgoing::OutgoingRequest;
pub(crate) use run::Pacer;
pub use run::{Happened, LiveEvent, LiveInputs, VirtualEnd, VirtualServer, play};
pub use wall::Wall;
