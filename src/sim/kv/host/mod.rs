//! The host tier (G2): blocks in host memory, and the copies between it and the ranks.
//!
//! A private tier has one owner and one lane a direction; a shared one has every rank of the cluster for a client, and its copies
//! share links. What is copied becomes visible when the copy physically ends; each client hears of its own copies when it next
//! looks. Source: spec/SIMULATION.md §6.1.

mod copies;
mod key;
mod lane;
mod plan;
mod recency;
#[cfg(test)]
mod tests;
mod tier;
mod transport;

pub(crate) use copies::{CopyId, Done};
pub(crate) use key::{HostKey, prompt_keys};
pub(crate) use plan::Plan;
pub(crate) use recency::Recency;
pub(crate) use tier::{AfterStore, HostTier, Presence, TierConfig};
pub(crate) use transport::{ClientLink, PoolLink};
