//! Blocks that answer for more than one identity: for the whole block and for a prefix that ends inside it.

use crate::workload::BlockIdentity;

use super::block_pool::{BlockPool, Copy};

impl BlockPool {
    /// Makes a block that a request holds answer for an identity besides what it answers for already.
    pub(crate) fn alias(&mut self, copy: Copy, identity: BlockIdentity) {
        let Some(first) = self.identity_of(copy.0) else { return self.publish(copy, identity) };
        let is_known = |others: &Vec<BlockIdentity>| others.contains(&identity);
        if first == identity || self.aliases.get(&copy.0).is_some_and(is_known) {
            return;
        }
        self.aliases.entry(copy.0).or_default().push(identity);
        self.index(copy, identity);
    }

    /// Takes the further identities of a block that is evicted out of the index.
    pub(super) fn forget_aliases(&mut self, copy: u32) {
        if self.aliases.is_empty() {
            return;
        }
        for identity in self.aliases.remove(&copy).unwrap_or_default() {
            self.forget(identity.bits(), copy);
        }
    }
}
