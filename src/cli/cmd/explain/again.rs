//! Runs the jobs of a side, with their transcripts.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::cmd::jobs::{Manner, Sending, run_jobs};
use crate::cli::cmd::prepared::Prepared;
use crate::cli::{Context, Failure};
use crate::exec::Executor;
use crate::plan::{Job, JobId, JobKind, Plan};
use crate::report::{Artifacts, EventLines, JobState};
use crate::sim::{Options, Probe, Seen};

/// Jobs that were run, and what they were run with.
#[derive(Debug)]
pub(super) struct Again {
    prepared: Prepared,
    left: BTreeMap<JobId, Left>,
}

/// What a job left.
#[derive(Debug)]
pub(super) enum Left {
    /// Report, requests, transcript.
    Artifacts(Box<Artifacts>),
    /// Nothing: why.
    Nothing(String),
}

/// How jobs are run.
#[derive(Debug, Clone, Copy)]
pub(super) struct How<'a> {
    /// How many side by side.
    pub(super) threads: Option<NonZeroUsize>,
    /// Set when someone asks to stop.
    pub(super) stop: &'a AtomicBool,
}

impl Again {
    /// Runs jobs of a plan; each has the name that it is asked for by.
    ///
    /// # Errors
    /// What is wrong with a trace or a pin that they read.
    pub(super) fn run(
        plan: &Plan,
        jobs: Vec<Job>,
        how: How<'_>,
        context: &Context,
    ) -> Result<Self, Failure> {
        let jobs = jobs.into_iter().enumerate().map(|(index, job)| Job { index, ..job }).collect();
        let plan = Plan { jobs, golden: None, blocks: Vec::new(), ..plan.clone() };
        let prepared = Prepared::of_plan(plan, context)?;
        let kept: Mutex<BTreeMap<usize, Artifacts>> = Mutex::default();
        let keep = |job: &Job, artifacts: &Artifacts| {
            let mut kept = kept.lock().map_err(|_| std::io::Error::other("poisoned"))?;
            kept.insert(job.index, artifacts.clone());
            Ok(())
        };
        let How { threads, stop } = how;
        let (cache, events, scratch) = (None, EventLines::Keep, None);
        let sending = Sending::Planned;
        let manner = Manner { threads, cache, events, sending, stop, scratch };
        let results = run_jobs(&prepared, &manner, &keep, context);
        let mut kept = kept.into_inner().unwrap_or_default();
        let left = (0..).zip(results).map(|(index, result)| {
            let left = match (kept.remove(&index), result.state) {
                (Some(artifacts), _) => Left::Artifacts(Box::new(artifacts)),
                (None, JobState::Unreported(error)) => Left::Nothing(error.to_string()),
                (None, JobState::Reported { .. }) => Left::Nothing("it left nothing".to_owned()),
            };
            (result.id, left)
        });
        let left = left.collect();
        Ok(Self { prepared, left })
    }

    /// Returns what a job left, where it was run.
    pub(super) fn left(&self, id: &JobId) -> Option<&Left> {
        self.left.get(id)
    }

    /// Runs a job once more with a probe; `None` where its engine shows no state, or someone asked to stop.
    pub(super) fn look(&self, id: &JobId, probe: &Probe, stop: &AtomicBool) -> Option<Seen> {
        let job = self.prepared.plan.jobs.iter().find(|job| job.id == *id)?;
        let JobKind::Simulation(simulation) = &job.kind else { return None };
        if !simulation.engine.is_native() || stop.load(Ordering::SeqCst) {
            return None;
        }
        let corpus = self.prepared.corpora.of(job).map(|trace| trace.corpus.as_ref());
        let options = Options {
            no_transcript: true,
            stop: Some(stop),
            probe: Some(probe),
            ..Options::default()
        };
        self.prepared.engines.run(simulation, corpus, &options).ok()?;
        Some(probe.seen())
    }
}
