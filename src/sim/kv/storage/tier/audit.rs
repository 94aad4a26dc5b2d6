//! The books of the tier, for tests: every block and every read counted one by one.

use std::collections::BTreeMap;

use super::{Direction, HostKey, StorageTier};

impl StorageTier {
    /// Finds a block that is counted otherwise than transfers hold it, and a link that carries more than it can.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        let mut moving: BTreeMap<(usize, HostKey), (u32, u32)> = BTreeMap::new();
        for job in self.jobs.values() {
            for key in &job.keys {
                let (reads, writes) = moving.entry((self.namespace(job.worker), *key)).or_default();
                match job.direction {
                    Direction::Read => *reads += 1,
                    Direction::Write => *writes += 1,
                }
            }
        }
        for (namespace, pool) in &self.pools {
            let (used, capacity) = (pool.entries.len(), self.config.capacity);
            if used > capacity {
                return Err(format!("storage {namespace} holds {used} of {capacity} blocks"));
            }
            for (key, entry) in &pool.entries {
                let (reads, writes) = moving.remove(&(*namespace, *key)).unwrap_or_default();
                let is_settled = entry.place.is_some() != entry.is_pending;
                if entry.reads != reads || u32::from(entry.is_pending) != writes || !is_settled {
                    return Err(format!("{key:?} is {entry:?}: {reads} read, {writes} write it"));
                }
            }
        }
        if let Some((key, moving)) = moving.first_key_value() {
            return Err(format!("{key:?} is not there and moves: {moving:?}"));
        }
        self.links.audit()
    }
}
