//! From a job to what it leaves: from the cache where it is sound, else by running it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::{Board, Cache, Corpora, Executor, JobError, Lookup, Origin};
use crate::plan::{Job, JobKind, SimulationJob};
use crate::sim::{Options, SimError, Unsupported};

use super::{Artifacts, build};

/// Whether the transcript's lines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLines {
    /// Only their digest.
    Digest,
    /// The lines as well.
    Keep,
}

/// Runs jobs of one plan.
#[derive(Clone, Copy)]
pub struct Producer<'a> {
    /// Who runs them.
    pub executor: &'a dyn Executor,
    /// The traces.
    pub corpora: &'a Corpora,
    /// Where finished jobs are kept; `None` computes every job.
    pub cache: Option<&'a Cache>,
    /// Set when someone asks to stop.
    pub stop: &'a AtomicBool,
    /// Where to say how far each job is.
    pub board: &'a Board,
    /// Whether the transcript's lines are kept.
    pub events: EventLines,
    /// Where what is too long for memory is kept meanwhile, best beside where it is to stay; the system's folder without one.
    pub scratch: Option<&'a Path>,
}

impl std::fmt::Debug for Producer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl Producer<'_> {
    /// Returns what a job leaves, and where that comes from.
    ///
    /// # Errors
    /// [`JobError`] when the job does not come to an end.
    pub fn produce(&self, job: &Job) -> Result<(Artifacts, Origin), JobError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted);
        }
        let damage = match self.cached(job) {
            Ok(Some(artifacts)) => return Ok((artifacts, Origin::Cached)),
            Ok(None) => None,
            Err(damage) => Some(damage),
        };
        let artifacts = self.compute(job)?;
        if let Some(cache) = self.cache_of(job) {
            // A cache that cannot be written costs time in the next run and changes no result.
            let _unwritable = cache.store(&job.key(), &artifacts.files());
        }
        Ok((artifacts, damage.map_or(Origin::Computed, |damage| Origin::Recomputed { damage })))
    }

    /// Runs a job.
    fn compute(&self, job: &Job) -> Result<Artifacts, JobError> {
        let simulation = simulation(job)?;
        let trace = self.corpora.of(job);
        let options = Options {
            keep_events: self.events == EventLines::Keep,
            scratch: self.scratch,
            stop: Some(self.stop),
            progress: Some(self.board.job(job.index)),
            ..Options::default()
        };
        let corpus = trace.map(|trace| trace.corpus.as_ref());
        let record = self.executor.run(simulation, corpus, &options)?;
        build(job, simulation, trace, record, self.scratch)
            .map_err(|error| JobError::Unwritable { cause: error.to_string() })
    }

    /// Returns the cache for what runs a job.
    fn cache_of(&self, job: &Job) -> Option<Cache> {
        let runner = simulation(job).ok().and_then(|job| self.executor.runner(job));
        self.cache.map(|cache| cache.of_runner(runner))
    }

    /// Returns what the cache has of a job, or what is wrong with it.
    fn cached(&self, job: &Job) -> Result<Option<Artifacts>, String> {
        let Some(cache) = self.cache_of(job) else { return Ok(None) };
        let files = match cache.load(&job.key(), self.scratch) {
            Lookup::Hit(files) => files,
            Lookup::Miss => return Ok(None),
            Lookup::Damaged(damage) => return Err(damage),
        };
        let artifacts = Artifacts::from_files(files)?;
        if artifacts.report.key() != Some(*job.key().digest()) {
            return Err("the report is that of another job".to_owned());
        }
        match self.events {
            EventLines::Keep if artifacts.events.is_none() => Ok(None),
            EventLines::Keep => Ok(Some(artifacts)),
            EventLines::Digest => Ok(Some(Artifacts { events: None, ..artifacts })),
        }
    }
}

/// Returns the simulation of a job; others are refused before any job starts.
fn simulation(job: &Job) -> Result<&SimulationJob, JobError> {
    match &job.kind {
        JobKind::Simulation(simulation) => Ok(simulation),
        JobKind::Replay(_) => {
            let part = crate::plan::Part::Declaration;
            Err(SimError::Unsupported(Unsupported::new("`replay` jobs", part)).into())
        }
    }
}
