//! KV memory of one rank.

mod alias;
mod block_pool;
mod forecast;
mod foresight;
mod grouped_pool;
pub(crate) mod host;
mod radix;
mod reading;
pub(crate) mod storage;

pub(crate) use block_pool::{BlockPool, Census, Copy};
pub(crate) use forecast::Forecast;
pub(crate) use grouped_pool::GroupedPool;
pub(crate) use radix::{NodeId, Pages, RadixCache, Refresh};
pub(crate) use reading::Sources;
