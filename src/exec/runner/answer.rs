//! An engine's own records as the record of a run: times as it tells them, and nothing that it does not tell.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::deployment::{WorkerRole, Workers};
use crate::plan::SimulationJob;
use crate::protocol::{EngineAdmission, EngineRequest, EngineRun};
use crate::record::{
    Admission, Gaps, Handoff, Outcome, PoolUse, RequestRecord, RequestSorter, RunRecord, Witness,
};
use crate::sim::{OfferedName, SimError};
use crate::units::{Blocks, SimTime, Tokens};
use crate::workload::SessionName;

use super::transcript::transcript;

/// How many outcomes an engine knows.
const OUTCOMES: [Outcome; 4] =
    [Outcome::Completed, Outcome::Rejected, Outcome::Canceled, Outcome::Failed];

/// Why an answer is no record.
#[derive(Debug)]
pub(super) enum Unusable {
    /// It contradicts what was asked, or itself.
    Nonsense(String),
    /// The records do not fit.
    Spill(SimError),
}

impl From<std::io::Error> for Unusable {
    fn from(error: std::io::Error) -> Self {
        Self::Spill(SimError::spill(&error))
    }
}

impl From<String> for Unusable {
    fn from(found: String) -> Self {
        Self::Nonsense(found)
    }
}

/// Returns the record of a run. `names` say whose each turn is.
///
/// # Errors
/// What makes the answer none of this job.
pub(super) fn record(
    job: &SimulationJob,
    names: &[Vec<OfferedName>],
    run: &EngineRun,
    keep_lines: bool,
) -> Result<RunRecord, Unusable> {
    let unended = (run.summary.num_requests)
        .checked_sub(run.requests.len() as u64)
        .ok_or("it lists more requests than it counts".to_owned())?;
    let asked = Asked::new(names);
    let mut seen = vec![];
    let mut sorter = RequestSorter::default();
    let mut by_uuid = BTreeMap::new();
    for request in &run.requests {
        let turn = asked.turn_of(request)?;
        let name = &names[turn.0][turn.1];
        seen.push(name.index);
        by_uuid.insert(request.uuid.as_str(), name.index);
        let record = one(request, turn, name)
            .map_err(|found| format!("request {} of session {}: {found}", turn.1, turn.0))?;
        sorter.push(record)?;
    }
    seen.sort_unstable();
    if let Some([twice, _]) = seen.array_windows().find(|[one, next]| one == next) {
        return Err(format!("it lists request {twice} twice").into());
    }
    let requests = sorter.finish()?;
    // The engine's own duration leaves out requests that were refused after the last that completed.
    let last = requests.iter().filter_map(|request| request.terminal).max();
    let duration = last.unwrap_or(SimTime::ZERO).max(time(run.summary.duration_ms)?);
    let transcript = transcript(run, &requests, &by_uuid, keep_lines)?;
    Ok(RunRecord {
        instances: None,
        requests,
        duration,
        ended_at: duration,
        gaps: Gaps::default(),
        committed_prefill: Tokens::new(run.summary.committed_prefill_tokens.unwrap_or(0)),
        passes: 0,
        pools: pools(job, run),
        host: None,
        storage: None,
        transcript,
        warnings: Vec::new(),
        witness: Witness::Requests {
            unended,
            counts_prefill: run.summary.committed_prefill_tokens.is_some(),
        },
    })
}

/// The turns that were asked for, as the engine names them.
struct Asked<'n> {
    names: &'n [Vec<OfferedName>],
    /// Sessions by the place of their request in the list, where requests are stated: those are in the order of arrival.
    stated: Option<BTreeMap<u64, usize>>,
}

impl<'n> Asked<'n> {
    fn new(names: &'n [Vec<OfferedName>]) -> Self {
        let is_stated = |name: &OfferedName| matches!(name.session, SessionName::Stated { .. });
        let by_place = || (0..).zip(names).map(|(session, turns)| (turns[0].index, session));
        let stated = names.iter().flatten().any(is_stated).then(|| by_place().collect());
        Self { names, stated }
    }

    /// Returns the session and turn of a request: those of its name, or of its place where the specification listed it.
    fn turn_of(&self, request: &EngineRequest) -> Result<(usize, usize), String> {
        let found = if let Some(by_place) = &self.stated {
            let place: Option<u64> = number(request.request_id.as_ref());
            place.and_then(|place| by_place.get(&place)).map(|session| (*session, 0))
        } else {
            let session: Option<usize> = number(request.session_id.as_ref());
            session.map(|session| (session, request.turn_index.map_or(0, |turn| turn as usize)))
        };
        found
            .filter(|(session, turn)| {
                self.names.get(*session).is_some_and(|turns| *turn < turns.len())
            })
            .ok_or_else(|| format!("it lists a request that was not asked: {request:?}"))
    }
}

/// Returns the number that a name is.
fn number<T: FromStr>(name: Option<&String>) -> Option<T> {
    name?.parse().ok()
}

/// Returns the record of a request.
fn one(
    request: &EngineRequest,
    (_, turn): (usize, usize),
    name: &OfferedName,
) -> Result<RequestRecord, String> {
    let outcome = OUTCOMES.into_iter().find(|outcome| outcome.name() == request.terminal_status);
    let outcome = outcome.ok_or_else(|| format!("it ended as `{}`", request.terminal_status))?;
    let first = instant(request.first_token_ms)?;
    let last = instant(request.last_token_ms)?;
    let second = match (request.output_length, first, request.ttst_ms) {
        (0 | 1, _, _) | (_, None, _) | (_, _, None) => None,
        (2, _, _) => last,
        (_, Some(first), Some(gap)) => Some(time(first.as_ms() + gap)?),
    };
    let rank = |wanted: &[&str]| {
        let mut routes = request.routing_history.iter().rev();
        routes
            .find(|route| wanted.contains(&route.pool.as_str()))
            .and_then(|route| route.scheduler_id)
    };
    Ok(RequestRecord {
        index: name.index,
        session: name.session.clone(),
        turn: u32::try_from(turn).unwrap_or(u32::MAX),
        line: name.line,
        request_id: name.request_id.clone(),
        arrival: time(request.arrival_time_ms)?,
        input: Tokens::new(request.input_length),
        requested_output: Tokens::new(request.requested_output_length),
        output: Tokens::new(request.output_length),
        // SGLang chooses a decode rank before it refuses a prompt: that rank served nothing.
        rank: request.decode_worker_idx.and_then(|_| rank(&["agg", "decode"])),
        admissions: request.admission_history.iter().map(admission).collect::<Result<_, _>>()?,
        handoff: handoff(request, rank(&["prefill"]))?.map(Box::new),
        first_token: first,
        second_token: second,
        last_token: last,
        terminal: Some(time(request.terminal_time_ms)?),
        outcome: Some(outcome),
        refusal: None,
    })
}

/// Returns an admission.
fn admission(admission: &EngineAdmission) -> Result<Admission, String> {
    Ok(Admission {
        at: time(admission.at_ms)?,
        reused: Tokens::new(admission.reused_input_tokens),
        from_host: admission.host_reused_input_tokens.map(Tokens::new),
    })
}

/// Returns the steps of a hand-off that the engine tells; nothing for a request of one pool.
fn handoff(request: &EngineRequest, prefill_rank: Option<u32>) -> Result<Option<Handoff>, String> {
    let is_apart = request.routing_history.iter().any(|route| route.pool != "agg");
    if !is_apart {
        return Ok(None);
    }
    let admitted = request.admission_history.iter();
    Ok(Some(Handoff {
        prefill_rank,
        prefill_admissions: admitted.take_while(|admission| admission.pool == "prefill").count(),
        held: instant(request.source_held_ms)?,
        reserved: instant(request.destination_reserved_ms)?,
        activated: instant(request.destination_activated_ms)?,
        released: instant(request.source_released_ms)?,
        ..Handoff::default()
    }))
}

/// Returns the pools as they were asked for, with the preemptions that the engine tells.
fn pools(job: &SimulationJob, run: &EngineRun) -> Vec<PoolUse> {
    let roles = job.deployment.workers_by_role();
    let none = Blocks::new(0);
    let pool = |(role, worker): (WorkerRole, &crate::deployment::Worker)| {
        let name = match (role, &job.deployment.workers) {
            (WorkerRole::Prefill, _) => "prefill",
            (WorkerRole::Decode, _) => "decode",
            (WorkerRole::Aggregated, Workers::Aggregated(_) | Workers::Disaggregated { .. }) => {
                "agg"
            }
        };
        let pressure = run.evidence.pressure.iter().flat_map(|pressure| &pressure.records);
        let workers = u64::from(worker.parallelism.replicas);
        PoolUse {
            pool: name,
            gpus_per_worker: worker.parallelism.gpus_per_worker(),
            workers,
            blocks_per_rank: job.kv_blocks(role, &worker.kv_cache).unwrap_or(none),
            ranks: workers * u64::from(worker.parallelism.attention_data),
            blocks_held_at_end: none,
            blocks_cached_at_end: none,
            blocks_free_at_end: none,
            blocks_held_peak: none,
            preemptions: pressure.filter(|record| record.pool == name).count() as u64,
        }
    };
    roles.into_iter().map(pool).collect()
}

/// Returns a time that the engine tells.
pub(super) fn time(ms: f64) -> Result<SimTime, String> {
    SimTime::from_ms(ms).map_err(|error| error.to_string())
}

/// Returns a time that the engine may tell.
fn instant(ms: Option<f64>) -> Result<Option<SimTime>, String> {
    ms.map(time).transpose()
}
