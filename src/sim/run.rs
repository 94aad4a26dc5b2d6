//! Runs one job: from its description to its record.

use crate::deployment::{Eviction, KvCache};
use crate::digest::Hasher;
use crate::plan::SimulationJob;
use crate::record::{RunRecord, SpoolWriter};
use crate::workload::{BlockCursor, Corpus, Load};

use super::config::engine_config;
use super::engine::Advance;
use super::kv::Forecast;
use super::lacking::{deployment, unsupported};
use super::runtime::{PoolConfig, Runtime};
use super::timing::{PassTiming, SpedUp, built_in};
use super::traffic::{Traffic, Turn};
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
    let stated = stated_timings(job)?;
    let timings: Vec<&dyn PassTiming> = stated.iter().map(AsRef::as_ref).collect();
    run_as(job, corpus, &timings, Advance::Grouped, options)
}

/// Returns the timing models that a job states, of its pools in order.
///
/// # Errors
/// [`SimError::BadWorkload`] where what one needs was not looked up.
pub(super) fn stated_timings(job: &SimulationJob) -> Result<Vec<Box<dyn PassTiming>>, SimError> {
    let workers = job.deployment.workers_by_role().into_iter();
    let stated: Option<_> =
        workers.map(|(role, worker)| built_in(worker, job.pool(role))).collect();
    stated.ok_or_else(|| SimError::bad_workload("what a timing needs was not looked up"))
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
    let mut traffic = Traffic::new(job, corpus)?;
    let forecast = forecast(job, &mut traffic)?;
    let keep = match (options.no_transcript, options.keep_events) {
        (true, _) => Keep::Nothing,
        (false, true) => Keep::Lines(SpoolWriter::new(options.scratch)),
        (false, false) => Keep::Digest(Hasher::new()),
    };
    let log = EventLog::new(keep, config.pools.iter().map(PoolConfig::ranks).sum());
    Runtime::new(&config, &timings, traffic, log, *options).foreseeing(forecast).run()
}

/// Returns what the prompts of a job ask for in the order of arrival, where its pools evict by it.
///
/// # Errors
/// [`SimError::Unsupported`] for sessions of more than one turn and prompts that hold what earlier turns said: when they are asked for
/// depends on the run.
fn forecast(job: &SimulationJob, traffic: &mut Traffic<'_>) -> Result<Option<Forecast>, SimError> {
    let workers = job.deployment.workers_by_role();
    let foresees = |cache: &&KvCache| cache.eviction == Eviction::Belady;
    let Some(cache) = workers.iter().map(|(_, worker)| &worker.kv_cache).find(foresees) else {
        return Ok(None);
    };
    let sessions = traffic.sessions_mut();
    let count = sessions.count();
    if sessions.grows() || (0..count).any(|session| sessions.turns(session) != 1) {
        return Err(deployment(
            "eviction `belady` with sessions of more than one turn",
            "worker.*.kv-cache.eviction",
            "use `eviction=\"lru\"`",
        )
        .into());
    }
    let order: Vec<u64> = match job.workload.load {
        Load::TraceTimestamps { .. } => {
            sessions.recorded_starts()?.into_iter().map(|(_, session)| session).collect()
        }
        Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::Concurrency { .. }
        | Load::Recorded(_) => (0..count).collect(),
    };
    let (size, mut forecast) = (cache.block_size.get(), Forecast::default());
    for session in order {
        let content = sessions.content(Turn { session, number: 0 }, &[]);
        let mut cursor = BlockCursor::default();
        let blocks = 0..content.prompt_tokens() / size;
        forecast.add(session, blocks.map(|_| content.next_block(&mut cursor, size)));
    }
    Ok(Some(forecast))
}
