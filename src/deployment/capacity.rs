//! How many KV blocks a rank has.

use crate::digest::canonical::{Value, object};
use crate::units::{BlockSize, Blocks};

/// How the number of KV blocks is stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Capacity {
    /// Derived from model, hardware and parallelism.
    Default {
        /// Share of memory, above 0 and at most 1.
        memory_fraction: f64,
        /// Bytes kept for CUDA graphs.
        cuda_graph_reserved_bytes: u64,
    },
    /// This many blocks.
    Blocks(Blocks),
    /// As many whole blocks as fit.
    Bytes(u64),
}

impl Capacity {
    /// Returns the blocks of a capacity that needs no model, or `None` where it must be derived.
    ///
    /// Bytes are divided by `block_size · bytes_per_token` and rounded down (oracle case 045).
    pub fn stated_blocks(
        self,
        block_size: BlockSize,
        bytes_per_token: Option<u64>,
    ) -> Option<Blocks> {
        match self {
            Self::Default { .. } => None,
            Self::Blocks(blocks) => Some(blocks),
            Self::Bytes(bytes) => {
                let block_bytes = bytes_per_token?.checked_mul(u64::from(block_size.get()))?;
                bytes.checked_div(block_bytes).map(Blocks::new)
            }
        }
    }

    /// Returns the canonical description.
    pub(super) fn canonical(self) -> Value {
        match self {
            Self::Default { memory_fraction, cuda_graph_reserved_bytes } => object([
                ("cuda_graph_reserved_bytes", Value::count(cuda_graph_reserved_bytes)),
                ("memory_fraction", Value::real(memory_fraction)),
            ]),
            Self::Blocks(blocks) => object([("blocks", Value::count(blocks.get()))]),
            Self::Bytes(bytes) => object([("bytes", Value::count(bytes))]),
        }
    }
}
