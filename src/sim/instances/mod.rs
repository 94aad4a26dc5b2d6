//! Plays that lanes begin in their middle, warm up for and run again: snapshots, preparation and profile.
//!
//! A lane runs an instance of a play: requests before its cut are history, what is left waits as recorded. Preparation puts into the
//! caches what history would have left there; a barrier ends it once the engines are idle, and everything that is reported begins
//! there. A profile closes admission after a duration and gives each lane a fresh instance as soon as its own is over. Time is
//! virtual; nothing here knows an engine. Source: spec/SIMULATION.md §9.8.

mod cuts;
mod preparation;
mod profile;
mod run;
mod schedule;
#[cfg(test)]
mod tests;

pub(crate) use cuts::{Beginning, Cuts, Instance, InstanceRequest, conversation};
pub(crate) use schedule::{Directed, Instances, Pace};
