//! What the tiers behind the GPU did.

/// What the host tier held when the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostUse {
    /// Whether all ranks share one pool.
    pub is_shared: bool,
    /// Blocks of all pools.
    pub blocks: u64,
    /// Blocks whose store has ended.
    pub blocks_resident: u64,
    /// Those, and blocks promised to copies in flight.
    pub blocks_used: u64,
}

/// What the storage tier did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StorageUse {
    /// Blocks looked up, each time.
    pub lookup_probes: u64,
    /// Lookups that found the block.
    pub lookup_hits: u64,
    /// Lookups that found its write in flight.
    pub lookup_pending: u64,
    /// Reads into the host tier.
    pub read: StorageIo,
    /// Writes from the host tier.
    pub write: StorageIo,
    /// Blocks that went to make room.
    pub evictions: u64,
    /// Blocks read by a worker that did not write them.
    pub cross_worker_read_blocks: u64,
    /// Blocks whose write has ended when the run ended.
    pub resident_blocks: u64,
    /// Blocks whose write had not.
    pub pending_blocks: u64,
    /// Requests that stopped to restore because their rank made no progress.
    pub bypassed_restores: u64,
}

/// Transfers of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StorageIo {
    /// Transfers that began.
    pub submitted_jobs: u64,
    /// Transfers that ended.
    pub completed_jobs: u64,
    /// Bytes of those.
    pub completed_bytes: u64,
    /// How long those took, in milliseconds, added up.
    pub transfer_ms: f64,
}
