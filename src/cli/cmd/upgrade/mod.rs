//! `bench upgrade`: two versions of one engine on the same questions.

mod answers;
mod command;
mod controls;
mod findings;
mod twice;

pub(super) use answers::{PinRun, simulation};
pub(super) use command::run;
