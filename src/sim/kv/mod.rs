//! KV memory of one rank.

mod block_pool;

pub(crate) use block_pool::{BlockPool, Census, Copy};
