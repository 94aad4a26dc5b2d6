//! From a job to what it leaves: from the cache where it is sound, else by running it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::live::{LiveEnvironment, WirePlans, send};
use crate::exec::{Board, Cache, Corpora, Executor, JobError, Lookup, Origin};
use crate::mock::simulate;
use crate::plan::{Job, JobKind, ReplayJob, SimulationJob};
use crate::replay::LiveEvent;
use crate::replay::wire::WirePlan;
use crate::sim::Options;

use super::live::{LiveJob, measured, planned};
use super::{Artifacts, build};

/// Whether the transcript's lines are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLines {
    /// Only their digest.
    Digest,
    /// The lines as well.
    Keep,
}

/// What becomes of live traffic.
#[derive(Debug, Clone, Copy)]
pub enum Traffic<'a> {
    /// It is sent, in these surroundings.
    Sent(&'a LiveEnvironment),
    /// It is planned, and nothing is sent.
    Planned,
}

/// Runs jobs of one plan.
#[derive(Clone, Copy)]
pub struct Producer<'a> {
    /// Who runs them.
    pub executor: &'a dyn Executor,
    /// The traces.
    pub corpora: &'a Corpora,
    /// The wire plans of live traffic.
    pub wires: &'a WirePlans,
    /// What becomes of it.
    pub traffic: Traffic<'a>,
    /// Where finished simulations are kept; `None` computes every job. What is measured is measured each time.
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
    /// Returns what a job leaves, and where that comes from; `tell` hears of live traffic while it is sent.
    ///
    /// # Errors
    /// [`JobError`] when the job does not come to an end.
    pub fn produce(
        &self,
        job: &Job,
        tell: &dyn Fn(LiveEvent),
    ) -> Result<(Artifacts, Origin), JobError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted);
        }
        match &job.kind {
            JobKind::Simulation(simulation) => self.simulated(job, simulation),
            JobKind::Replay(replay) => self.replayed(job, replay, tell),
        }
    }

    /// Returns what a simulation leaves.
    fn simulated(
        &self,
        job: &Job,
        simulation: &SimulationJob,
    ) -> Result<(Artifacts, Origin), JobError> {
        let cache = self.cache_of(simulation);
        let damage = match self.cached(job, cache.as_ref()) {
            Ok(Some(artifacts)) => return Ok((artifacts, Origin::Cached)),
            Ok(None) => None,
            Err(damage) => Some(damage),
        };
        let artifacts = self.compute(job, simulation)?;
        if let Some(cache) = cache {
            // A cache that cannot be written costs time in the next run and changes no result.
            let _unwritable = cache.store(&job.key(), &artifacts.files());
        }
        Ok((artifacts, damage.map_or(Origin::Computed, |damage| Origin::Recomputed { damage })))
    }

    /// Runs a simulation.
    fn compute(&self, job: &Job, simulation: &SimulationJob) -> Result<Artifacts, JobError> {
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

    /// Returns what live traffic leaves: the report of its plan, and what was measured where it was sent.
    fn replayed(
        &self,
        job: &Job,
        replay: &ReplayJob,
        tell: &dyn Fn(LiveEvent),
    ) -> Result<(Artifacts, Origin), JobError> {
        let plan = self.wires.of(job).expect("every replay is planned before a job starts");
        let unwritable = |error: std::io::Error| JobError::Unwritable { cause: error.to_string() };
        let (report, requests) = planned(job, plan, self.scratch).map_err(unwritable)?;
        let artifacts = Artifacts { report, requests, events: None, live: None };
        match self.traffic {
            Traffic::Planned => Ok((artifacts, Origin::Planned)),
            Traffic::Sent(environment) => {
                let run = self.send(replay, (plan, environment), tell)?;
                let report = artifacts.report.digest();
                let simulated = replay.served_by.as_ref().map(|served| simulate(served, plan));
                let simulated = simulated.as_ref();
                let of = LiveJob { job, replay, plan, report, environment, simulated };
                let live = measured(of, &run, self.scratch).map_err(unwritable)?;
                Ok((Artifacts { live: Some(live), ..artifacts }, Origin::Computed))
            }
        }
    }

    /// Sends the traffic of a job.
    fn send(
        &self,
        replay: &ReplayJob,
        (plan, environment): (&WirePlan, &LiveEnvironment),
        tell: &dyn Fn(LiveEvent),
    ) -> Result<crate::record::LiveRun, JobError> {
        send(replay, plan, environment, self.stop, &mut |event| tell(event)).map_err(|error| {
            JobError::Traffic { cause: error.to_string(), help: error.help().to_owned() }
        })
    }

    /// Returns the cache for what runs a job.
    fn cache_of(&self, job: &SimulationJob) -> Option<Cache> {
        let runner = self.executor.runner(job);
        self.cache.map(|cache| cache.of_runner(runner))
    }

    /// Returns what the cache has of a job, or what is wrong with it.
    fn cached(&self, job: &Job, cache: Option<&Cache>) -> Result<Option<Artifacts>, String> {
        let Some(cache) = cache else { return Ok(None) };
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
