//! The blocks of one namespace of the storage tier.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::kv::host::{HostKey, Recency};

/// A block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Whether its write has not ended.
    pub(super) is_pending: bool,
    /// Reads that have not ended: it stays while there are any.
    pub(super) reads: u32,
    /// The worker that wrote it.
    pub(super) writer: usize,
    /// Its place in the order of use, once its write has ended.
    pub(super) place: Option<u64>,
}

/// The blocks of one namespace.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub(super) entries: BTreeMap<HostKey, Entry>,
    pub(super) recency: Recency,
}

impl Pool {
    /// Makes room for the missing blocks of a write, as many of the leading ones as fit, and returns them with how many others
    /// went.
    pub(super) fn admit(
        &mut self,
        keys: &[HostKey],
        capacity: usize,
        writer: usize,
    ) -> (Vec<HostKey>, u64) {
        let stay: BTreeSet<HostKey> = keys.iter().copied().collect();
        let is_new = |key: &HostKey| !self.entries.contains_key(key);
        let mut missing: Vec<HostKey> = keys.iter().copied().filter(is_new).collect();
        let free = capacity - self.entries.len();
        let needed = missing.len().saturating_sub(free);
        let entries = &self.entries;
        let victims =
            self.recency.victims(needed, |key| entries[&key].reads == 0 && !stay.contains(&key));
        missing.truncate(free + victims.len());
        // Room that nothing takes is left as it is.
        if missing.is_empty() {
            return (missing, 0);
        }
        for key in &victims {
            if let Some(mut entry) = self.entries.remove(key) {
                self.recency.remove(&mut entry.place);
            }
        }
        for key in &missing {
            self.entries.insert(*key, Entry { is_pending: true, reads: 0, writer, place: None });
        }
        (missing, victims.len() as u64)
    }
}
