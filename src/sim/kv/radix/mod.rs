//! SGLang's radix cache: prefixes in a tree with compressed edges, in whole pages.
//!
//! Pages are counted, not named: which of two equal pages is kept changes nothing that a scheduler sees. An edge holds the runs of
//! its tokens, so that a page of one token costs nothing per token; prefixes are matched run by run. Requests lock the path from
//! their node to the root; what no request locks is evicted from the leaf used longest ago, page by page from its end.
//! Source: spec/SIMULATION.md §3.4.

#[cfg(test)]
mod audit;
mod cache;
mod edge;
mod evict;
mod insert;
mod matching;
#[cfg(test)]
mod tests;

pub(crate) use cache::{NodeId, RadixCache, Refresh};
pub(crate) use insert::Pages;
