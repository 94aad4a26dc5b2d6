//! vLLM's scheduler on one rank: running first, then waiting in order, with chunked prefill and preemption.
//!
//! A pass is formed at its start (`form`) and takes effect at its end (`complete`); the two are apart so that an engine which
//! forms pass k before pass k−1 has completed fits in. Decodes that do nothing but produce one token a pass are kept as a group
//! whose members are brought up to date only when something happens to them: a pass costs no work per request.
//! Source: spec/SIMULATION.md §2.2, §2.4, §2.9, §3.

#[cfg(test)]
mod audit;
mod blocked;
mod draft;
mod form;
mod grid;
mod group;
mod grouped;
mod handover;
pub(crate) mod host;
mod lookup;
mod rank;
mod refuse;
mod room;
mod sequence;
mod state;

pub(crate) use rank::{LastStop, MatchGrid, Policy, Rank, RankConfig};
