//! The sessions of a workload: how many there are, and what each turn asks.

mod growing;
mod instanced;
mod narrow;
mod offered;
mod played;
mod pushed;
mod recorded;

pub(crate) use offered::Sessions;
pub(crate) use pushed::{Pushed, PushedRequest};
