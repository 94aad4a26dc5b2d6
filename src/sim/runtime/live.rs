//! The event loop, instant by instant, for requests that arrive while it goes on.

use crate::deployment::WorkerRole;
use crate::record::RequestRecord;
use crate::sim::error::SimError;
use crate::sim::sessions::PushedRequest;
use crate::units::SimTime;

use super::event_loop::reportable;
use super::{Pool, Runtime};

impl Runtime<'_> {
    /// Has records taken by whoever goes through the run.
    pub(crate) fn goes_on(mut self) -> Self {
        self.taken = Some(Vec::new());
        self
    }

    /// Lets a request arrive at `at`, which is not before the last instant that was gone through.
    pub(crate) fn push(&mut self, at: SimTime, request: impl FnOnce(u64) -> PushedRequest) -> u64 {
        assert!(at >= self.now, "bug: a request arrives in the past");
        self.traffic.push(at, request)
    }

    /// Returns when something happens next, as far as is known.
    pub(crate) fn next_at(&mut self) -> Option<SimTime> {
        self.next_instant()
    }

    /// Goes to the next instant and does all that happens there; returns when that is, and the requests that ended.
    ///
    /// # Errors
    /// [`SimError::DeadEnd`] where nothing happens any more though requests are there; else as a whole run.
    pub(crate) fn go_on(&mut self) -> Result<(SimTime, Vec<RequestRecord>), SimError> {
        let next = self.next_instant().ok_or_else(|| self.dead_end())?;
        assert!(next >= self.now, "bug: the clock went back from {:?} to {next:?}", self.now);
        self.now = reportable(next)?;
        self.step()?;
        self.settle()?;
        let taken = self.taken.as_mut().map(std::mem::take);
        Ok((next, taken.unwrap_or_default()))
    }

    /// Tells of each request how many tokens of its output are visible.
    pub(crate) fn produced(&self, mut tell: impl FnMut(u64, u64)) {
        // What a prefill worker produces nobody sees.
        let pools = self.pools.iter().filter(|pool| pool.role() != WorkerRole::Prefill);
        for rank in pools.flat_map(Pool::ranks) {
            rank.produced(&mut tell);
        }
    }
}
