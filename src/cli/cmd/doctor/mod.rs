//! `bench doctor`: what this machine can be trusted with, before anyone trusts it.

mod measured;
mod told;

pub(super) use measured::run;
pub(super) use told::{both, spread_json, whole};
