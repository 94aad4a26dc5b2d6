//! Asks both versions of an engine about a job.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diag::SourceFile;
use crate::digest::Sha256;
use crate::exec::{Engines, Executor, JobError, LoadedTrace, guard};
use crate::gate::minimise::{Candidate, Stop, Tried};
use crate::plan::{EngineIdentity, Job, JobKind, plan_text};
use crate::report::{Report, Section, build};
use crate::sim::Options;
use crate::trace::{ArrivalRule, ReadCounts};
use crate::workload::{Corpus, Load};

/// What a version says of a job.
#[derive(Debug)]
pub(super) enum Answer {
    /// A report.
    Report(Box<Report>),
    /// It does not come to its end: why.
    Failure(String),
}

/// What both versions say of a job.
#[derive(Debug)]
pub(super) struct Answers {
    /// The one.
    pub(super) from: Answer,
    /// The other.
    pub(super) to: Answer,
}

/// How two versions differ. A search keeps to one kind: a job that fails under one version is no smaller case of figures that move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Both report, and not the same.
    Reports,
    /// Only the first does not come to its end.
    FirstFails,
    /// Only the second does not.
    SecondFails,
}

/// Two versions of an engine.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    pub(super) engines: Engines,
    pub(super) from: EngineIdentity,
    pub(super) to: EngineIdentity,
    pub(super) stop: &'a AtomicBool,
    /// How they are to differ.
    pub(super) wanted: Difference,
    /// The jobs of scenarios that were planned, by text.
    planned: BTreeMap<Sha256, Option<Job>>,
}

impl<'a> Trial<'a> {
    /// Returns a trial between two versions.
    pub(super) fn new(
        engines: Engines,
        (from, to): (EngineIdentity, EngineIdentity),
        stop: &'a AtomicBool,
    ) -> Self {
        let (wanted, planned) = (Difference::Reports, BTreeMap::new());
        Self { engines, from, to, stop, wanted, planned }
    }

    /// Asks about a candidate whose pins are below `root`.
    ///
    /// # Errors
    /// [`Stop::Interrupted`] where someone asked to stop.
    pub(super) fn ask(&mut self, candidate: &Candidate, root: &Path) -> Result<Tried, Stop> {
        let text = candidate.text();
        let key = Sha256::of(text.as_bytes());
        let job = self.planned.entry(key).or_insert_with(|| planned(&text, root)).clone();
        let Some(job) = job else { return Ok(Tried::Invalid) };
        let corpus = match (&candidate.rows, arrivals(&job)) {
            (None, _) => None,
            (Some(rows), arrivals) => match rows.corpus(arrivals) {
                Ok(corpus) => Some(Arc::new(corpus)),
                Err(_) => return Ok(Tried::Invalid),
            },
        };
        self.compare(&job, corpus.as_ref())
    }

    /// Asks about a job.
    ///
    /// # Errors
    /// As [`Trial::ask`].
    fn compare(&self, job: &Job, corpus: Option<&Arc<Corpus>>) -> Result<Tried, Stop> {
        let answers = self.answers(job, corpus)?;
        Ok(match answers.map(|answers| answers.difference()) {
            Some(Some(difference)) if difference == self.wanted => Tried::Differs,
            Some(_) => Tried::Same,
            None => Tried::Invalid,
        })
    }

    /// Returns what both versions say of a job; nothing where one of them cannot be asked.
    ///
    /// # Errors
    /// As [`Trial::ask`].
    pub(super) fn answers(
        &self,
        job: &Job,
        corpus: Option<&Arc<Corpus>>,
    ) -> Result<Option<Answers>, Stop> {
        let Some(from) = self.answer(&job.under(&self.from), corpus)? else { return Ok(None) };
        Ok(self.answer(&job.under(&self.to), corpus)?.map(|to| Answers { from, to }))
    }

    /// Returns what a version says of a job.
    fn answer(&self, job: &Job, corpus: Option<&Arc<Corpus>>) -> Result<Option<Answer>, Stop> {
        let JobKind::Simulation(simulation) = &job.kind else { return Ok(None) };
        if !self.engines.unsupported(simulation).is_empty() {
            return Ok(None);
        }
        let options = Options { stop: Some(self.stop), ..Options::default() };
        let ran = guard(|| {
            let record = self.engines.run(simulation, corpus.map(Arc::as_ref), &options)?;
            let trace = corpus.map(|corpus| LoadedTrace {
                corpus: Arc::clone(corpus),
                counts: ReadCounts::default(),
            });
            build(job, simulation, trace.as_ref(), record, None)
                .map_err(|error| JobError::Unwritable { cause: error.to_string() })
        });
        if self.stop.load(Ordering::SeqCst) {
            return Err(Stop::Interrupted);
        }
        Ok(Some(match ran {
            Ok(artifacts) => Answer::Report(Box::new(artifacts.report)),
            Err(error) => Answer::Failure(error.to_string()),
        }))
    }
}

impl Answers {
    /// Returns how the two differ; two failures are alike.
    pub(super) fn difference(&self) -> Option<Difference> {
        match (&self.from, &self.to) {
            (Answer::Report(from), Answer::Report(to)) => {
                differ(from, to).then_some(Difference::Reports)
            }
            (Answer::Failure(_), Answer::Report(_)) => Some(Difference::FirstFails),
            (Answer::Report(_), Answer::Failure(_)) => Some(Difference::SecondFails),
            (Answer::Failure(_), Answer::Failure(_)) => None,
        }
    }
}

/// Returns whether two reports tell of other events, requests or figures.
fn differ(from: &Report, to: &Report) -> bool {
    let sections = [Section::Events, Section::Requests, Section::Summary];
    sections.into_iter().any(|section| from.section(section) != to.section(section))
}

/// Returns the one job of a scenario, where it is one.
fn planned(text: &str, root: &Path) -> Option<Job> {
    let (plan, _) = plan_text(&SourceFile::new("candidate.kdl", text), root).ok()?;
    let [job] = plan.jobs.as_slice() else { return None };
    Some(job.clone())
}

/// Returns whether a job replays recorded times.
fn arrivals(job: &Job) -> ArrivalRule {
    let JobKind::Simulation(simulation) = &job.kind else { return ArrivalRule::Ignored };
    match &simulation.workload.load {
        Load::TraceTimestamps { .. } => ArrivalRule::Required,
        Load::Recorded(load) if load.snapshot_seed.is_some() => ArrivalRule::Snapshot,
        Load::Recorded(_)
        | Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. } => ArrivalRule::Ignored,
    }
}
