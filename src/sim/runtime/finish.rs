//! From the finished or cut run to its record.

use crate::record::{Outcome, PoolUse, RequestRecord, RunRecord, Witness};
use crate::sim::error::SimError;
use crate::sim::handoff::Handoffs;
use crate::sim::tiers::Tiers;
use crate::units::SimTime;

use super::{Pool, Runtime};

impl Runtime<'_> {
    /// Turns the finished or cut run into its record.
    ///
    /// # Errors
    /// [`SimError::Spill`] where records do not fit in memory and cannot be written.
    pub(super) fn finish(mut self) -> Result<RunRecord, SimError> {
        let mut pools: Vec<PoolUse> = self.pools.iter().map(Pool::used).collect();
        for (pool, before) in pools.iter_mut().zip(&self.unmeasured) {
            pool.preemptions -= before;
        }
        if self.traffic.is_expired(self.now) && self.in_flight > 0 {
            self.last_terminal = self.now;
        }
        for pool in 0..self.pools.len() {
            for rank in 0..self.pools[pool].ranks().len() {
                self.finish_rank(pool, rank)?;
            }
        }
        self.finish_handoffs()?;
        self.gaps.settle();
        let since = |at: SimTime| at.since(self.epoch);
        let instances = self.traffic.take_instances(self.now).map(Box::new);
        Ok(RunRecord {
            instances,
            requests: self.records.finish().map_err(|error| SimError::spill(&error))?,
            duration: since(self.last_terminal),
            ended_at: since(self.now),
            gaps: self.gaps,
            committed_prefill: self.committed_prefill,
            passes: self.passes,
            pools,
            transcript: self.log.finish().map_err(|error| SimError::spill(&error))?,
            warnings: Vec::new(),
            witness: Witness::Whole,
            host: self.tiers.as_ref().map(Tiers::host_use),
            storage: self.tiers.as_ref().and_then(Tiers::storage_use),
        })
    }

    /// Files the records of requests that ended and whose prompts are held still.
    fn finish_handoffs(&mut self) -> Result<(), SimError> {
        let flows = self.handoffs.as_mut().map(Handoffs::take_all).unwrap_or_default();
        for mut flow in flows {
            if let Some(mut record) = flow.ended.take() {
                flow.complete(&mut record);
                self.keep(record)?;
            }
        }
        Ok(())
    }

    /// Takes what a rank still holds.
    fn finish_rank(&mut self, pool: usize, rank: usize) -> Result<(), SimError> {
        let held_here = self.pools[pool].ranks()[rank].held();
        let number = self.pools[pool].number(rank);
        let is_expired = self.traffic.is_expired(self.now);
        for mut served in self.pools[pool].cut(rank) {
            // Where room is made first, a request stands on two ranks while its prompt is computed: the prefill rank's is filed.
            let request = served.ticket.request;
            if self.handoffs.as_mut().is_some_and(|handoffs| handoffs.find(request).is_none()) {
                continue;
            }
            if is_expired {
                served.outcome = Some(Outcome::Canceled);
                self.traffic.give_up(served.ticket.turn, self.now);
            }
            self.log.terminal(number, self.now, &served, held_here);
            let record = self.record(rank, served, is_expired.then_some(self.now));
            self.file(pool, record)?;
        }
        self.gaps.extend(self.pools[pool].rank(rank).take_gaps());
        Ok(())
    }

    /// Adds a record to those of the run.
    ///
    /// # Errors
    /// [`SimError::Spill`] where it does not fit in memory and cannot be written.
    pub(super) fn keep(&mut self, record: RequestRecord) -> Result<(), SimError> {
        if let Some(taken) = &mut self.taken {
            taken.push(record);
            return Ok(());
        }
        let Some(mut record) = self.traffic.keep_preparing(record) else { return Ok(()) };
        if self.epoch > SimTime::ZERO {
            record.count_from(self.epoch);
        }
        self.records.push(record).map_err(|error| SimError::spill(&error))
    }
}
