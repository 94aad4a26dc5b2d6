//! KV memory of one rank.

mod block_pool;
mod radix;

pub(crate) use block_pool::{BlockPool, Census, Copy};
pub(crate) use radix::{NodeId, Pages, RadixCache, Refresh};
