//! All jobs of a plan: side by side, results by index.

use std::num::NonZeroUsize;

use crate::diag::{Advice, counted};
use crate::exec::{Ending, Event, JobError, Listener, Origin, guard, run_by_index};
use crate::measure::{Family, MetricName};
use crate::plan::{Job, JobId, JobKey, JobKind, Plan};

use super::{Artifacts, Measured, Producer, Report};

/// One job's end.
#[derive(Debug, Clone)]
pub struct JobResult {
    /// Its name.
    pub id: JobId,
    /// Its key.
    pub key: JobKey,
    /// How it ended.
    pub state: JobState,
}

/// How a job ended.
#[derive(Debug, Clone)]
pub enum JobState {
    /// It has a report (which may say that it failed).
    Reported {
        /// The report; of a replay, that of its plan.
        report: Box<Report>,
        /// What was measured, of a replay that was sent.
        measured: Option<Box<Measured>>,
        /// Where it comes from.
        origin: Origin,
    },
    /// It has none.
    Unreported(JobError),
}

/// How jobs are run and what is done with what they leave.
pub struct Execution<'a> {
    /// Runs them.
    pub producer: Producer<'a>,
    /// How many side by side.
    pub threads: NonZeroUsize,
    /// Watches.
    pub listener: &'a dyn Listener,
    /// Takes what each job leaves, as it ends; called from several threads.
    pub keep: &'a (dyn Fn(&Job, &Artifacts) -> std::io::Result<()> + Sync),
}

impl std::fmt::Debug for Execution<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Runs all jobs of a plan and returns how each ended, in the plan's order: simulations side by side, then live traffic job by job.
pub fn execute(plan: &Plan, execution: &Execution<'_>) -> Vec<JobResult> {
    let tell = |event: &Event<'_>| execution.listener.hear(event);
    tell(&Event::RunStarted { jobs: plan.jobs.len() });
    let start = |job: &Job| {
        tell(&Event::JobStarted { index: job.index, id: &job.id });
        run_job(job, execution)
    };
    let (live, simulated): (Vec<&Job>, Vec<&Job>) =
        plan.jobs.iter().partition(|job| matches!(job.kind, JobKind::Replay(_)));
    let states = run_by_index(simulated.len(), execution.threads, |at| start(simulated[at]));
    // One after the other, and beside nothing: whatever else runs is in what is measured.
    let measured: Vec<_> = live.iter().map(|job| guard(|| start(job))).collect();
    let mut states: Vec<_> =
        simulated.into_iter().zip(states).chain(live.into_iter().zip(measured)).collect();
    states.sort_by_key(|(job, _)| job.index);
    let results = states.into_iter().map(|(job, state)| JobResult {
        id: job.id.clone(),
        key: job.key(),
        state: state.unwrap_or_else(JobState::Unreported),
    });
    let results = results.collect();
    tell(&Event::RunFinished);
    results
}

/// Runs one job, keeps what it leaves, and says so.
fn run_job(job: &Job, execution: &Execution<'_>) -> Result<JobState, JobError> {
    let (index, id) = (job.index, &job.id);
    let tell = |event| execution.listener.hear(&Event::Live { index, id, event });
    let produced = guard(|| {
        let (artifacts, origin) = execution.producer.produce(job, &tell)?;
        (execution.keep)(job, &artifacts)
            .map_err(|error| JobError::Unwritable { cause: error.to_string() })?;
        let measured = artifacts.live.map(|live| Box::new(live.measured));
        Ok((Box::new(artifacts.report), measured, origin))
    });
    match produced {
        Ok((report, measured, origin)) => {
            let ending = Ending::Reported(&origin);
            execution.listener.hear(&Event::JobFinished { index, id, ending });
            Ok(JobState::Reported { report, measured, origin })
        }
        Err(error) => {
            let ending = Ending::Unreported(&error);
            execution.listener.hear(&Event::JobFinished { index, id, ending });
            Err(error)
        }
    }
}

impl JobResult {
    /// Returns the report, where there is one.
    pub fn report(&self) -> Option<&Report> {
        match &self.state {
            JobState::Reported { report, .. } => Some(report),
            JobState::Unreported(_) => None,
        }
    }

    /// Returns what was measured live, where something was.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.state {
            JobState::Reported { measured, .. } => measured.as_deref(),
            JobState::Unreported(_) => None,
        }
    }

    /// Returns what people should know of what was measured live. Two runs need not say the same.
    pub fn measured_notes(&self) -> Vec<String> {
        let warnings = self.measured().map(Measured::warnings).unwrap_or_default();
        warnings.into_iter().map(str::to_owned).collect()
    }

    /// Returns the word of `run.json`.
    pub fn outcome(&self) -> &'static str {
        match &self.state {
            JobState::Reported { report, measured, .. } => outcome_of(report, measured.as_deref()),
            JobState::Unreported(error) => error.name(),
        }
    }

    /// Returns why the job failed; empty where it did not fail, or was interrupted.
    pub fn failures(&self) -> Vec<String> {
        match &self.state {
            JobState::Reported { report, measured, .. } => {
                let live = measured.as_ref().map(|live| live.failures()).unwrap_or_default();
                report.failures().into_iter().chain(live).map(str::to_owned).collect()
            }
            JobState::Unreported(JobError::Interrupted) => Vec::new(),
            JobState::Unreported(
                error @ (JobError::Simulation(_)
                | JobError::Runner(_)
                | JobError::Traffic { .. }
                | JobError::Panicked { .. }
                | JobError::Unwritable { .. }
                | JobError::Elsewhere { .. }),
            ) => vec![error.to_string()],
        }
    }

    /// Returns what to change about each of [`JobResult::failures`], where its cause is known.
    pub fn advice(&self) -> Vec<Option<Advice>> {
        match &self.state {
            JobState::Reported { report, .. } => report.advice(),
            JobState::Unreported(JobError::Simulation(error)) => vec![error.advice()],
            JobState::Unreported(
                JobError::Interrupted
                | JobError::Runner(_)
                | JobError::Traffic { .. }
                | JobError::Panicked { .. }
                | JobError::Unwritable { .. }
                | JobError::Elsewhere { .. },
            ) => Vec::new(),
        }
    }

    /// Returns what people should know of a job that did not fail: requests without a result, and why; nothing of one that failed,
    /// whose failures say it.
    pub fn notes(&self) -> Vec<String> {
        let Some(report) = self.report().filter(|report| report.failures().is_empty()) else {
            return Vec::new();
        };
        let count = |family| report.count(MetricName::single(family)).unwrap_or(0);
        let (offered, cut) = (count(Family::RequestsOffered), count(Family::RequestsUnfinished));
        let cut = (cut > 0)
            .then(|| format!("of {} {cut} cut when the run ended", counted(offered, "request")));
        report.warnings().into_iter().map(str::to_owned).chain(cut).collect()
    }

    /// Returns whether the job was interrupted: it has no report, or one of what was measured by then.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.state, JobState::Unreported(JobError::Interrupted))
            || self.measured().is_some_and(Measured::is_partial)
    }
}

/// The word of `run.json` for live traffic that a signal ended: what had been measured by then is kept.
pub(super) const PARTIAL: &str = "partial";

/// Returns the word of `run.json` for a job that left these.
pub(crate) fn outcome_of(report: &Report, measured: Option<&Measured>) -> &'static str {
    let has_failed = !report.failures().is_empty()
        || measured.is_some_and(|measured| !measured.failures().is_empty());
    match measured {
        _ if has_failed => "failed",
        Some(measured) if measured.is_partial() => PARTIAL,
        Some(_) | None => "completed",
    }
}
