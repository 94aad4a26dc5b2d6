//! When which call is sent: a state machine without a clock, a socket or a task in it.
//!
//! What happened goes in with the instant at which it happened ([`Core::first_token`], [`Core::ended`], [`Core::stop`]); what is to
//! be done comes out ([`Core::due`]), and when to ask again ([`Core::wake`]). Every rule of running is decided here and can be
//! played through in virtual time: gates of calls, lanes, ramp, recycling, caps, phases, idle gaps.

mod actions;
mod gate;
mod instance;
mod lanes;
mod machine;
mod phases;
mod rules;
mod snapshot;
#[cfg(test)]
pub(super) mod step;
#[cfg(test)]
mod tests;
mod topology;

pub(crate) use actions::{Action, CallId, Ending};
pub(crate) use machine::Core;
pub(crate) use rules::{Limits, Pacing, Ramp, Rules, Supply};
pub(crate) use topology::{StepBody, Topology};
