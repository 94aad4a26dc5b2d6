//! Recordings to plays: requests that wait for one another, for simulation.
//!
//! Every format is first read into rows that name what they wait for; one builder checks and orders them. Source:
//! spec/SIMULATION.md §9.4–§9.7.

mod agentic;
mod agentic_draft;
mod applied;
mod build;
mod digest;
mod dynamo;
mod read;
mod weka;

pub(super) use read::{count, is_recorded, read};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
