//! The books of the tier, for tests: every block and every pin counted one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::{AfterStore, HostKey, HostTier, Way};

impl HostTier {
    /// Finds a block that is counted otherwise than copies hold it, and a link that carries more than it can.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        if self.entries.len() > self.capacity {
            return Err(format!(
                "the host holds {} of {} blocks",
                self.entries.len(),
                self.capacity
            ));
        }
        let mut promised = BTreeSet::new();
        let mut read: BTreeMap<HostKey, u32> = BTreeMap::new();
        for copying in self.copies.values() {
            for key in &copying.keys {
                let is_new = match copying.way {
                    Way::Store | Way::External => promised.insert(*key),
                    Way::Load => {
                        *read.entry(*key).or_default() += 1;
                        true
                    }
                };
                if !is_new {
                    return Err(format!("two copies bring {key:?}"));
                }
            }
        }
        for (key, entry) in &self.entries {
            let loads = read.remove(key).unwrap_or(0);
            let fits =
                entry.pins == loads || (entry.pins > loads && self.after_store == AfterStore::Hold);
            let is_listed = entry.place.is_some();
            let may_go = entry.is_resident && entry.pins == 0;
            if entry.is_resident == promised.remove(key) || !fits || is_listed != may_go {
                return Err(format!("{key:?} is {entry:?}, {loads} loads read it"));
            }
        }
        if !promised.is_empty() || !read.is_empty() {
            return Err(format!("copies of blocks that are not there: {promised:?} {read:?}"));
        }
        self.transport.audit()
    }
}
