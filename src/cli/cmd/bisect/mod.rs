//! `bench bisect`: the first version of an engine that answers otherwise.

mod candidates;
mod command;

pub(super) use command::run;
