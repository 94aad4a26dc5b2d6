//! Copies between a rank and the tier.

use crate::units::SimTime;

use super::HostKey;

/// A copy, or a reservation that another tier fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CopyId(pub(crate) u64);

/// What a copy does. The order is that in which copies that end together take effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// From a rank to the tier.
    Store,
    /// From the tier to a rank.
    Load,
    /// From a tier behind this one: no copy of a rank.
    External,
}

/// A copy that has not ended.
#[derive(Debug)]
pub(super) struct Copying {
    pub(super) way: Way,
    pub(super) client: usize,
    /// Who asked, in the client's words.
    pub(super) owner: u32,
    pub(super) keys: Vec<HostKey>,
    /// When it ends, where nothing can change that.
    pub(super) ends: Option<SimTime>,
    /// Whether it moves, or waits for the end of the pass that prepared it.
    pub(super) is_submitted: bool,
}

/// A copy that ended, as its client hears of it.
#[derive(Debug)]
pub(crate) enum Done {
    /// To the tier.
    Store { id: CopyId, keys: Vec<HostKey> },
    /// To the rank, for this request.
    Load { id: CopyId, owner: u32, keys: Vec<HostKey> },
}
