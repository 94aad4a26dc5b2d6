//! vLLM's offloading connector on one rank: what it stores in the host tier, what it loads from it, and who waits for that.
//!
//! Source: spec/SIMULATION.md §6.1.

mod admit;
mod client;
mod load;
mod request;
mod storage;
mod store;

pub(crate) use client::RankHost;
pub(super) use request::HostRequest;
pub(crate) use storage::RankStorage;
