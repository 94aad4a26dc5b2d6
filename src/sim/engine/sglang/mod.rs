//! SGLang's scheduler on one rank: a pass prefills or decodes, never both, over a radix cache.
//!
//! A pass is chosen at its start and all it does to memory is done then; tokens become visible at its end. Requests that decode
//! and do nothing else advance as a group, as on vLLM. Source: spec/SIMULATION.md §2.7, §2.8, §3.4.

#[cfg(test)]
mod audit;
mod blocked;
mod config;
mod decode;
mod form;
mod group;
mod handover;
mod host_loop;
mod lease;
mod pass;
mod policy;
mod prefill;
mod rank;
mod retract;
mod sequence;

pub(crate) use config::RankConfig;
pub(crate) use rank::Rank;
