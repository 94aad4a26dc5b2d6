//! All jobs of a plan: side by side, results by index.

use std::num::NonZeroUsize;

use crate::diag::Advice;
use crate::exec::{Ending, Event, JobError, Listener, Origin, guard, run_by_index};
use crate::measure::{Family, MetricName};
use crate::plan::{Job, JobId, JobKey, Plan};

use super::{Artifacts, Producer, Report};

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
        /// The report.
        report: Box<Report>,
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

/// Runs all jobs of a plan and returns how each ended, in the plan's order.
pub fn execute(plan: &Plan, execution: &Execution<'_>) -> Vec<JobResult> {
    let tell = |event: &Event<'_>| execution.listener.hear(event);
    tell(&Event::RunStarted { jobs: plan.jobs.len() });
    let states = run_by_index(plan.jobs.len(), execution.threads, |index| {
        let job = &plan.jobs[index];
        tell(&Event::JobStarted { index, id: &job.id });
        run_job(job, execution)
    });
    let results = plan.jobs.iter().zip(states).map(|(job, state)| JobResult {
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
    let produced = guard(|| {
        let (artifacts, origin) = execution.producer.produce(job)?;
        (execution.keep)(job, &artifacts)
            .map_err(|error| JobError::Unwritable { cause: error.to_string() })?;
        Ok((artifacts.report, origin))
    });
    let (index, id) = (job.index, &job.id);
    match produced {
        Ok((report, origin)) => {
            let ending = Ending::Reported(&origin);
            execution.listener.hear(&Event::JobFinished { index, id, ending });
            Ok(JobState::Reported { report: Box::new(report), origin })
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

    /// Returns the word of `run.json`.
    pub fn outcome(&self) -> &'static str {
        match &self.state {
            JobState::Reported { report, .. } if report.failures().is_empty() => "completed",
            JobState::Reported { .. } => "failed",
            JobState::Unreported(error) => error.name(),
        }
    }

    /// Returns why the job failed; empty where it did not fail, or was interrupted.
    pub fn failures(&self) -> Vec<String> {
        match &self.state {
            JobState::Reported { report, .. } => {
                report.failures().into_iter().map(str::to_owned).collect()
            }
            JobState::Unreported(JobError::Interrupted) => Vec::new(),
            JobState::Unreported(
                error @ (JobError::Simulation(_)
                | JobError::Runner(_)
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
        let cut = (cut > 0).then(|| format!("of {offered} requests {cut} cut when the run ended"));
        report.warnings().into_iter().map(str::to_owned).chain(cut).collect()
    }

    /// Returns whether the job was interrupted.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.state, JobState::Unreported(JobError::Interrupted))
    }
}
