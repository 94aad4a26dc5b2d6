//! `bench import`: a DynoSim configuration as a scenario whose run is the same.
//!
//! A prediction pins nothing and a scenario everything: model and hardware must have pins in the project, and a trace is copied into it
//! with a pin of its own, read as leniently as `predict` reads it.

mod command;
mod pins;

#[cfg(test)]
mod tests;

pub(super) use command::run;
