//! KV memory of one rank.

mod alias;
mod block_pool;
pub(crate) mod host;
mod radix;
mod reading;
pub(crate) mod storage;

pub(crate) use block_pool::{BlockPool, Census, Copy};
pub(crate) use radix::{NodeId, Pages, RadixCache, Refresh};
pub(crate) use reading::Sources;
