//! A look into a run while it goes on: the tests check laws here that no record shows. Compiled for tests alone.

use std::fmt::Debug;

use crate::sim::handoff::Handoffs;
use crate::sim::tiers::Tiers;
use crate::units::SimTime;

use super::{Pool, Runtime};

/// What has just happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The ranks of a worker have formed a pass; nobody has seen anything of it.
    Formed {
        /// The place of the worker's pool.
        pool: usize,
        /// The worker.
        worker: usize,
    },
    /// All that happens at an instant has happened.
    Settled,
}

/// Looks at a run and leaves it as it is.
pub(crate) trait Watcher: Debug {
    /// Looks at the run.
    fn see(&mut self, moment: Moment, run: &mut Runtime<'_>);
}

impl<'a> Runtime<'a> {
    /// Shows the run to whoever watches it.
    pub(super) fn show(&mut self, moment: Moment) {
        if let Some(watcher) = self.options.watcher {
            watcher.borrow_mut().see(moment, self);
        }
    }

    /// Returns the clock.
    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the pools.
    pub(crate) fn pools(&self) -> &[Pool<'a>] {
        &self.pools
    }

    /// Returns the requests between two pools, where there are two.
    pub(crate) fn requests_between(&mut self) -> Option<&mut Handoffs> {
        self.handoffs.as_mut()
    }

    /// Returns the tiers behind the pool, where there are any.
    pub(crate) fn tiers(&self) -> Option<&Tiers> {
        self.tiers.as_ref()
    }
}
