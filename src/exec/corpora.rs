//! The traces of a plan: each read once for each way of reading it, and shared by all jobs.

use std::sync::Arc;

use crate::diag::Bag;
use crate::digest::Sha256;
use crate::plan::{Job, JobKind, Plan, TraceInput};
use crate::trace::{ArrivalRule, ReadCounts};
use crate::workload::{Corpus, Load, StopCount, Workload};

/// A trace in memory.
#[derive(Debug, Clone)]
pub struct LoadedTrace {
    /// Its rows.
    pub corpus: Arc<Corpus>,
    /// What reading it counted.
    pub counts: ReadCounts,
}

/// How a job reads its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Whether the load needs recorded arrivals.
    pub arrivals: ArrivalRule,
    /// How many rows in file order, before rebasing; all where absent.
    pub first_rows: FirstRows,
}

/// The traces of a plan.
#[derive(Debug, Default, Clone)]
pub struct Corpora {
    loaded: Vec<(Sha256, Reading, LoadedTrace)>,
}

impl Corpora {
    /// Reads every trace that a job of `plan` needs, before any job starts: once for each rule about arrivals, whatever rows its jobs take.
    ///
    /// `read` returns one trace for each of the numbers of first rows that it is given, in their order.
    ///
    /// # Errors
    /// Everything that is wrong with any of the traces.
    pub fn load(
        plan: &Plan,
        mut read: impl FnMut(&TraceInput, ArrivalRule, &[FirstRows]) -> Result<Vec<LoadedTrace>, Bag>,
    ) -> Result<Self, Bag> {
        let (mut loaded, mut bag) = (Vec::new(), Bag::new());
        let mut is_refused = false;
        for (trace, arrivals, firsts) in wanted(plan) {
            match read(trace, arrivals, &firsts) {
                Ok(traces) => {
                    for (first_rows, one) in firsts.into_iter().zip(traces) {
                        loaded.push((trace.digest, Reading { arrivals, first_rows }, one));
                    }
                }
                Err(problems) => {
                    is_refused = true;
                    bag.extend(problems);
                }
            }
        }
        if is_refused { Err(bag) } else { Ok(Self { loaded }) }
    }

    /// Returns the trace of a job, or `None` where its workload has none.
    pub fn of(&self, job: &Job) -> Option<&LoadedTrace> {
        let (trace, reading) = reading_of(job)?;
        find(&self.loaded, &trace.digest, reading)
    }

    /// Returns every trace that was read, once for each way of reading it.
    pub fn all(&self) -> impl Iterator<Item = &LoadedTrace> {
        self.loaded.iter().map(|(_, _, trace)| trace)
    }
}

/// How many rows in file order are taken; all where absent.
pub type FirstRows = Option<u64>;

/// Returns the traces that the jobs of a plan read, in the order of the first job that does, with the numbers of rows that they take.
fn wanted(plan: &Plan) -> Vec<(&TraceInput, ArrivalRule, Vec<FirstRows>)> {
    let mut wanted: Vec<(&TraceInput, ArrivalRule, Vec<FirstRows>)> = Vec::new();
    for (trace, Reading { arrivals, first_rows }) in plan.jobs.iter().filter_map(reading_of) {
        let same = |(known, rule, _): &&mut (&TraceInput, ArrivalRule, Vec<FirstRows>)| {
            known.digest == trace.digest && *rule == arrivals
        };
        match wanted.iter_mut().find(same) {
            Some((_, _, firsts)) if firsts.contains(&first_rows) => {}
            Some((_, _, firsts)) => firsts.push(first_rows),
            None => wanted.push((trace, arrivals, vec![first_rows])),
        }
    }
    wanted
}

/// Returns the trace that was read in this way.
fn find<'a>(
    loaded: &'a [(Sha256, Reading, LoadedTrace)],
    digest: &Sha256,
    reading: Reading,
) -> Option<&'a LoadedTrace> {
    let same =
        |(known, how, _): &&(Sha256, Reading, LoadedTrace)| known == digest && *how == reading;
    loaded.iter().find(same).map(|(_, _, trace)| trace)
}

/// Returns the trace of a job and how it is read.
fn reading_of(job: &Job) -> Option<(&TraceInput, Reading)> {
    match &job.kind {
        JobKind::Simulation(job) => Some((job.trace.as_ref()?, reading(&job.workload))),
        // What is sent live is read as a recording, when it is planned.
        JobKind::Replay(_) => None,
    }
}

/// Returns how a workload reads its trace. Source: DSL, "`stop`": `requests=N` takes the first N rows in file order.
fn reading(workload: &Workload) -> Reading {
    let arrivals = match &workload.load {
        Load::Recorded(load) if load.snapshot_seed.is_some() => ArrivalRule::Snapshot,
        Load::TraceTimestamps { .. } | Load::Recorded(_) => ArrivalRule::Required,
        Load::Concurrency { .. } | Load::ConstantRate { .. } | Load::Poisson { .. } => {
            ArrivalRule::Ignored
        }
    };
    let first_rows = match workload.stop.count {
        Some(count @ (StopCount::Requests(_) | StopCount::RequestsPerLoadUnit(_))) => {
            count.resolve(&workload.load)
        }
        Some(StopCount::Sessions(_) | StopCount::SessionsPerLoadUnit(_)) | None => None,
    };
    Reading { arrivals, first_rows }
}
