//! The books of a rank, for tests: who holds which pages, and what keeps requests from a pass.

use crate::sim::engine::Standing;

use super::rank::Rank;
use super::sequence::{Lease, Sequence};

impl Rank {
    /// Finds pages that the cache counts otherwise than the requests that hold them.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&self) -> Result<(), String> {
        let seated = self.seats.iter().map(|sequence| self.lease_of(sequence));
        let leases: Vec<Lease> = seated.chain(self.reserved_leases()).collect();
        let own = leases.iter().map(|lease| lease.pages - lease.cached).sum();
        let ends = leases.iter().filter_map(|lease| lease.node);
        self.cache.audit(own, ends)
    }

    /// Returns what a request holds, the pages included that a member of the group was given since it was last looked at.
    fn lease_of(&self, sequence: &Sequence) -> Lease {
        let mut lease = sequence.lease;
        if sequence.is_member {
            let passes = self.group.completed - sequence.as_of;
            let computed = sequence.computed + passes;
            lease.pages = lease.pages.max(computed.div_ceil(u64::from(self.config.page)));
        }
        lease
    }

    /// Finds a rank that stands still although a running request could have its next token, or an empty rank that could admit.
    ///
    /// # Errors
    /// What could be done.
    pub(crate) fn audit_work(&self, standing: Standing) -> Result<(), String> {
        if standing != Standing::Idle || self.host.is_some() || self.closed_rounds > 0 {
            return Ok(());
        }
        let could_hold =
            |prompt: u64| prompt.div_ceil(u64::from(self.config.page)) <= self.cache.reachable();
        if self.first_pending().is_some_and(could_hold) {
            return Err("there is room for the first request that waits for it".to_owned());
        }
        if let Some(seat) = self.running.first() {
            let needed = self.most_growth(*seat);
            let is_stuck = self.running.len() == 1 && needed > self.cache.reachable();
            return if is_stuck { Ok(()) } else { Err("requests run and no pass does".to_owned()) };
        }
        if !self.ready.is_empty() {
            return Err("a request that was handed over finds the rank empty and waits".to_owned());
        }
        Ok(())
    }
}
