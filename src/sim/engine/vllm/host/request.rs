//! What the connector knows of one request.

use crate::sim::kv::Copy;
use crate::sim::kv::host::{CopyId, HostKey};

use super::storage::Rounds;

/// What the connector knows of one request.
#[derive(Debug)]
pub(in super::super) struct HostRequest {
    /// The names of the complete blocks of the prompt.
    pub(super) keys: Vec<HostKey>,
    /// The first block that no store has covered.
    pub(super) next_store: usize,
    /// Its last store.
    pub(super) last_store: Option<CopyId>,
    pub(super) load: Option<Load>,
    /// Whether its first admission has been told apart by tier.
    pub(super) is_attributed: bool,
    /// Whether it stands in the connector's line.
    pub(super) is_deferred: bool,
    /// Whether it sleeps there until a copy ends.
    pub(super) is_asleep: bool,
    /// Its restores from the storage tier.
    pub(super) rounds: Rounds,
}

/// A load of a request.
#[derive(Debug)]
pub(super) enum Load {
    /// In flight: the GPU blocks are reserved.
    Loading(Loading),
    /// Ended: the request holds the blocks and waits for its admission.
    Loaded(Prefix),
}

/// A load in flight.
#[derive(Debug)]
pub(super) struct Loading {
    pub(super) copy: CopyId,
    /// The reserved GPU blocks: the prefix that was resident, then those that are filled.
    pub(super) blocks: Vec<Copy>,
    pub(super) prefix: Prefix,
}

/// What a load makes of a request's prefix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefix {
    /// Blocks that were on the GPU.
    pub(super) resident: u64,
    /// Those, and the loaded ones.
    pub(super) blocks: u64,
    /// Blocks of the known sequence when the load began.
    pub(super) footprint: u64,
}

impl HostRequest {
    /// Returns what is known of a request whose prompt has these blocks.
    pub(super) fn new(keys: Vec<HostKey>) -> Self {
        Self {
            keys,
            next_store: 0,
            last_store: None,
            load: None,
            is_attributed: false,
            is_deferred: false,
            is_asleep: false,
            rounds: Rounds::default(),
        }
    }

    /// Returns the prefix of its load, in flight or ended.
    pub(super) fn prefix(&self) -> Option<Prefix> {
        match &self.load {
            Some(Load::Loading(loading)) => Some(loading.prefix),
            Some(Load::Loaded(prefix)) => Some(*prefix),
            None => None,
        }
    }

    /// Returns the prefix of its load where that has ended.
    pub(super) fn loaded(&self) -> Option<Prefix> {
        match &self.load {
            Some(Load::Loaded(prefix)) => Some(*prefix),
            Some(Load::Loading(_)) | None => None,
        }
    }

    /// Returns the GPU blocks of a load in flight.
    #[cfg(test)]
    pub(in super::super) fn loading(&self) -> &[Copy] {
        match &self.load {
            Some(Load::Loading(loading)) => &loading.blocks,
            Some(Load::Loaded(_)) | None => &[],
        }
    }

    /// Returns the blocks that a load reserved.
    pub(super) fn reserved(&self) -> u64 {
        self.prefix().map_or(0, |prefix| prefix.blocks)
    }

    /// Returns the blocks that it will need behind a load.
    pub(super) fn tail(&self) -> u64 {
        self.prefix().map_or(0, |prefix| prefix.footprint.saturating_sub(prefix.blocks))
    }
}
