//! What tests ask a rank of whichever engine: whether its books agree, and whether it leaves work undone.

use std::collections::BTreeSet;

use super::Rank;

/// What a rank does while its work is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing: no pass of its worker is in flight.
    Idle,
    /// It has formed a pass.
    Computing,
    /// It has formed a pass of a worker that computes prompts in some passes only.
    PromptsMayWait,
}

/// The requests at each station of a hand-off on one rank.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stations {
    /// Whose prompt a prefill rank computed and keeps.
    pub(crate) held: BTreeSet<u64>,
    /// Who waits for room on a decode rank.
    pub(crate) pending: BTreeSet<u64>,
    /// Who has room there and no prompt yet.
    pub(crate) reserved: BTreeSet<u64>,
}

impl Rank {
    /// Finds memory that is counted otherwise than it is held.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&self) -> Result<(), String> {
        let (census, capacity) = (self.census(), self.capacity());
        if census.held + census.cached + census.free != capacity {
            return Err(format!("{census:?} of {capacity} blocks"));
        }
        match self {
            Self::Vllm(rank) => rank.audit(),
            Self::Sglang(rank) => rank.audit(),
        }
    }

    /// Finds work that the rank leaves undone although it could do it.
    ///
    /// # Errors
    /// What it could do.
    pub(crate) fn audit_work(&self, standing: Standing) -> Result<(), String> {
        match self {
            Self::Vllm(rank) => rank.audit_work(standing),
            Self::Sglang(rank) => rank.audit_work(standing),
        }
    }

    /// Returns the requests at each station of a hand-off.
    pub(crate) fn stations(&self) -> Stations {
        match self {
            Self::Vllm(rank) => rank.stations(),
            Self::Sglang(rank) => rank.stations(),
        }
    }
}
