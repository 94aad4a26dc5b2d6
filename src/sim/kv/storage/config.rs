//! Settings of the storage tier.

use crate::deployment::StorageOffload;
use crate::sim::link::{Direction, Link, Sharing};
use crate::units::SimDuration;

/// Settings of the storage tier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StorageConfig {
    /// Blocks: of each worker's own, or of the one they share.
    pub(crate) capacity: usize,
    /// Whether workers share it.
    pub(crate) is_shared: bool,
    /// Bytes of a block.
    pub(crate) block_bytes: f64,
    /// How long the first byte takes.
    pub(crate) latency: SimDuration,
    /// A worker's reads and writes, in bytes a millisecond.
    pub(crate) worker: (f64, f64),
    /// Those of all workers together; infinite where the tier is not shared.
    pub(crate) pool: (f64, f64),
    /// How transfers share links.
    pub(crate) sharing: Sharing,
}

impl StorageConfig {
    /// Returns the settings that a worker states.
    pub(crate) fn of(offload: &StorageOffload, block_bytes: f64, sharing: Sharing) -> Self {
        let rate = |gigabytes: f64| Link::of_gigabytes(0, gigabytes).rate;
        let pool = if offload.cluster_shared {
            (rate(offload.shared_read_gb_per_second), rate(offload.shared_write_gb_per_second))
        } else {
            (f64::INFINITY, f64::INFINITY)
        };
        Self {
            capacity: usize::try_from(offload.blocks).unwrap_or(usize::MAX),
            is_shared: offload.cluster_shared,
            block_bytes,
            latency: SimDuration::from_ms(offload.latency_ms).unwrap_or(SimDuration::ZERO),
            worker: (rate(offload.read_gb_per_second), rate(offload.write_gb_per_second)),
            pool,
            sharing,
        }
    }

    /// Returns the links of a worker's transfer.
    pub(super) fn links(&self, worker: usize, direction: Direction) -> [Link; 2] {
        let of = |(read, write)| if direction == Direction::Read { read } else { write };
        [Link { id: worker as u64, rate: of(self.worker) }, Link { id: 0, rate: of(self.pool) }]
    }
}
