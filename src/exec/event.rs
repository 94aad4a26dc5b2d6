//! What happens during a run, for whoever watches. Nothing here reaches a report.

use crate::plan::JobId;
use crate::replay::LiveEvent;
use crate::sim::Progress;

use super::JobError;

/// What happens during a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// Jobs are about to start.
    RunStarted {
        /// How many.
        jobs: usize,
    },
    /// A job starts.
    JobStarted {
        /// Its index in the plan.
        index: usize,
        /// Its name.
        id: &'a JobId,
    },
    /// Something happened in the live traffic of a job.
    Live {
        /// Its index in the plan.
        index: usize,
        /// Its name.
        id: &'a JobId,
        /// What.
        event: LiveEvent,
    },
    /// A job has ended.
    JobFinished {
        /// Its index in the plan.
        index: usize,
        /// Its name.
        id: &'a JobId,
        /// How.
        ending: Ending<'a>,
    },
    /// All jobs have ended.
    RunFinished,
}

/// How a job ended.
#[derive(Debug, Clone, Copy)]
pub enum Ending<'a> {
    /// It has a report.
    Reported(&'a Origin),
    /// It has none.
    Unreported(&'a JobError),
}

/// Where a report comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The job ran.
    Computed,
    /// The result cache had it.
    Cached,
    /// The result cache had it, damaged; the job ran.
    Recomputed {
        /// What was wrong with the cache entry.
        damage: String,
    },
    /// Another process computed it, and left it in a partial run.
    Merged,
    /// Live traffic was planned and not sent: there are no measurements.
    Planned,
}

/// Watches a run. Called from several threads, in the order in which things happen.
pub trait Listener: Sync {
    /// Takes notice of an event.
    fn hear(&self, event: &Event<'_>);
}

/// How far each job of a run is: written by the simulator, read by a progress bar.
#[derive(Debug)]
pub struct Board {
    jobs: Vec<Progress>,
}

impl Board {
    /// Returns a board for `count` jobs.
    pub fn new(count: usize) -> Self {
        Self { jobs: (0..count).map(|_| Progress::default()).collect() }
    }

    /// Returns the place of one job.
    pub fn job(&self, index: usize) -> &Progress {
        &self.jobs[index]
    }

    /// Returns the virtual nanoseconds of all jobs together.
    pub fn virtual_ns(&self) -> u64 {
        self.jobs.iter().map(|job| job.get().0).fold(0, u64::saturating_add)
    }
}
