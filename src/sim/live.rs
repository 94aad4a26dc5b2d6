//! A run in which requests arrive as it goes on: the engine behind a server in real time.
//!
//! The same event loop as that of a whole run: for the same arrivals it gives the same records.

use std::collections::BTreeMap;

use crate::plan::SimulationJob;
use crate::record::RequestRecord;
use crate::units::SimTime;
use crate::workload::{Content, Run};

use super::config::engine_config;
use super::engine::Advance;
use super::lacking::unsupported;
use super::run::stated_timings;
use super::runtime::{PoolConfig, Runtime};
use super::sessions::PushedRequest;
use super::timing::{PassTiming, SpedUp};
use super::traffic::Traffic;
use super::transcript::{EventLog, Keep};
use super::{Options, SimError};

/// A run in which requests arrive as it goes on.
#[derive(Debug)]
pub struct Live<'a> {
    runtime: Runtime<'a>,
    /// How many tokens of each request have been told of.
    told: BTreeMap<u64, u64>,
}

/// A request as it arrives.
#[derive(Debug, Clone)]
pub struct Arriving {
    /// The runs of its prompt.
    pub prompt: Vec<Run>,
    /// The runs of its output, as far as they are known: a later prompt may hold them.
    pub output: Vec<Run>,
    /// Output tokens asked for.
    pub tokens: u64,
    /// What keeps it on one rank with others of the same; any number will do.
    pub affinity: Option<u64>,
}

/// Tokens that became visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveTokens {
    /// Whose.
    pub request: u64,
    /// How many.
    pub tokens: u64,
}

/// What happened at an instant.
#[derive(Debug)]
pub struct LiveEnd {
    /// The instant.
    pub at: SimTime,
    /// Tokens that became visible, by request.
    pub tokens: Vec<LiveTokens>,
    /// Requests that ended; their tokens are told of.
    pub ended: Vec<RequestRecord>,
}

/// Runs the deployment of a job for requests that `body` lets arrive; the job's workload does not matter.
///
/// # Errors
/// [`SimError::Unsupported`] for what this build lacks.
pub fn live<T>(job: &SimulationJob, body: impl FnOnce(&mut Live<'_>) -> T) -> Result<T, SimError> {
    let mut job = job.clone();
    job.workload.stop.virtual_time = None;
    if let Some(lacking) = unsupported(&job).into_iter().next() {
        return Err(lacking.into());
    }
    let config = engine_config(&job, Advance::Each)?;
    let stated = stated_timings(&job)?;
    let workers = job.deployment.workers_by_role();
    let sped_up: Vec<SpedUp<'_>> = workers
        .iter()
        .zip(&stated)
        .map(|((_, worker), timing)| SpedUp { timing: timing.as_ref(), speedup: worker.speedup })
        .collect();
    let timings: Vec<&dyn PassTiming> =
        sped_up.iter().map(|timing| timing as &dyn PassTiming).collect();
    let log = EventLog::new(Keep::Nothing, config.pools.iter().map(PoolConfig::ranks).sum());
    let runtime = Runtime::new(&config, &timings, Traffic::live(), log, Options::default());
    Ok(body(&mut Live { runtime: runtime.goes_on(), told: BTreeMap::new() }))
}

impl Live<'_> {
    /// Lets a request arrive at `at`, which is not before the last instant of [`Live::go_on`]; returns its number, from 0.
    pub fn arrive(&mut self, at: SimTime, request: Arriving) -> u64 {
        self.runtime.push(at, |number| PushedRequest {
            content: Content::new(request.prompt, number).planned(request.output),
            output: request.tokens,
            affinity: request.affinity,
        })
    }

    /// Returns when something happens next; nothing does while no request is there.
    pub fn next_at(&mut self) -> Option<SimTime> {
        self.runtime.next_at()
    }

    /// Goes to the next instant and does all that happens there.
    ///
    /// # Errors
    /// As [`run`](super::run()); the run cannot go on then.
    pub fn go_on(&mut self) -> Result<LiveEnd, SimError> {
        let (at, ended) = self.runtime.go_on()?;
        let mut tokens = Vec::new();
        let told = &mut self.told;
        self.runtime.produced(|request, produced| {
            let before = told.entry(request).or_default();
            if produced > *before {
                tokens.push(LiveTokens { request, tokens: produced - *before });
                *before = produced;
            }
        });
        for record in &ended {
            let before = told.remove(&record.index).unwrap_or_default();
            let left = record.output.get().saturating_sub(before);
            if left > 0 {
                tokens.push(LiveTokens { request: record.index, tokens: left });
            }
        }
        Ok(LiveEnd { at, tokens, ended })
    }
}
