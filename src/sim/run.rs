//! Runs one job: from its description to its record.

use crate::plan::SimulationJob;
use crate::record::RunRecord;
use crate::workload::Corpus;

use super::config::engine_config;
use super::engine::Advance;
use super::lacking::unsupported;
use super::runtime::{PoolConfig, Runtime};
use super::timing::{PassTiming, SpedUp, built_in};
use super::traffic::Traffic;
use super::transcript::{EventLog, Keep};
use super::{Options, SimError};

/// Runs a job to its end, or to its virtual-time cut.
///
/// `corpus` holds the rows of the job's trace where it has one.
///
/// # Errors
/// [`SimError`] when the engine reaches a dead end, a timing model answers no time, or the run is interrupted.
pub fn run(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    options: &Options<'_>,
) -> Result<RunRecord, SimError> {
    if let Some(lacking) = unsupported(job).into_iter().next() {
        return Err(lacking.into());
    }
    let stated: Option<Vec<Box<dyn PassTiming>>> = job
        .deployment
        .workers_by_role()
        .into_iter()
        .map(|(role, worker)| built_in(worker, job.pool(role)))
        .collect();
    let stated =
        stated.ok_or_else(|| SimError::bad_workload("what a timing needs was not looked up"))?;
    let timings: Vec<&dyn PassTiming> = stated.iter().map(AsRef::as_ref).collect();
    run_as(job, corpus, &timings, Advance::Grouped, options)
}

/// Runs a job with a timing model of the caller's instead of the stated ones.
///
/// # Errors
/// As [`run`].
pub fn run_timed(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    timing: &dyn PassTiming,
    options: &Options<'_>,
) -> Result<RunRecord, SimError> {
    run_as(job, corpus, &[timing, timing], Advance::Grouped, options)
}

/// Runs a job, advancing decodes as told: the two ways give the same record. `timings` are those of its pools, in
/// order, to which the workers' speedups are applied.
pub(super) fn run_as(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    timings: &[&dyn PassTiming],
    advance: Advance,
    options: &Options<'_>,
) -> Result<RunRecord, SimError> {
    let config = engine_config(job, advance)?;
    let workers = job.deployment.workers_by_role();
    let sped_up: Vec<SpedUp<'_>> = workers
        .iter()
        .zip(timings)
        .map(|((_, worker), timing)| SpedUp { timing: *timing, speedup: worker.speedup })
        .collect();
    let timings: Vec<&dyn PassTiming> =
        sped_up.iter().map(|timing| timing as &dyn PassTiming).collect();
    let traffic = Traffic::new(job, corpus)?;
    let keep = match (options.no_transcript, options.keep_events) {
        (true, _) => Keep::Nothing,
        (false, true) => Keep::Lines,
        (false, false) => Keep::Digest,
    };
    let log = EventLog::new(keep, config.pools.iter().map(PoolConfig::ranks).sum());
    Runtime::new(&config, &timings, traffic, log, *options).run()
}
