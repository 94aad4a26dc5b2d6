//! `requests.jsonl`: one row a request that ended.
//!
//! Fields are declared in the order in which they are written, which is that of their names. Rows are made as they are written,
//! so that a large run does not hold them all.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::deployment::{Backend, Deployment, WorkerRole, Workers};
use crate::record::{Admission, Handoff, Outcome, RequestRecord, Requests, RunRecord};
use crate::units::SimTime;
use crate::workload::{PlayIdentity, PlayedName, SessionName};

use super::latency::{e2e_ms, tpot_ms, ttft_ms, ttst_ms};

/// What only workers with roles have: null for aggregated ones.
type OfRoles<T> = Option<T>;

/// The rows of all requests that ended, by arrival, then by identity. Requests that a time limit cut have none.
#[derive(Debug)]
pub(crate) struct Rows {
    ended: Requests,
    ranks: RanksPerWorker,
    /// What the reference calls the part of the run that is measured, where caches were prepared before it.
    phase: Option<&'static str>,
}

/// Ranks of one worker, by role.
#[derive(Debug, Clone, Copy)]
struct RanksPerWorker {
    /// Of an aggregated or decode worker.
    decode: u32,
    /// Of a prefill worker, where there is one.
    prefill: u32,
    /// Which of the two a request is placed on first.
    first: WorkerRole,
}

/// The row of a request.
#[derive(Debug, Serialize)]
struct Row<'a> {
    admission_count: usize,
    admission_history: Vec<AdmissionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agentic: Option<AgenticRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agentic_phase: Option<&'static str>,
    arrival_time_ms: f64,
    decode_admit_ms: OfRoles<f64>,
    decode_reused_input_tokens: OfRoles<u64>,
    decode_route_overlap_tokens: OfRoles<u64>,
    decode_worker_idx: Option<u32>,
    destination_activated_ms: OfRoles<f64>,
    destination_reserved_ms: OfRoles<f64>,
    dispatched_at_ms: Option<f64>,
    e2e_latency_ms: Option<f64>,
    first_admission_reused_input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_admission_g1_reused_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_admission_host_reused_input_tokens: Option<u64>,
    first_admit_ms: Option<f64>,
    first_token_ms: Option<f64>,
    input_length: u64,
    itl_ms: Option<f64>,
    last_token_ms: Option<f64>,
    output_length: u64,
    prefill_admit_ms: OfRoles<f64>,
    prefill_route_overlap_tokens: OfRoles<u64>,
    prefill_worker_idx: OfRoles<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    play_id: Option<&'a str>,
    pressure_record_ordinals: [u64; 0],
    readmission_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    requested_output_length: u64,
    reused_input_tokens: u64,
    routing_history: Vec<RoutingRow>,
    session_id: Option<String>,
    source_held_ms: OfRoles<f64>,
    source_released_ms: OfRoles<f64>,
    terminal_status: Option<&'static str>,
    terminal_time_ms: Option<f64>,
    ttft_ms: Option<f64>,
    ttst_ms: Option<f64>,
    turn_index: Option<u32>,
    uuid: String,
}

/// What places a request of a recorded play.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "as DynoSim calls them")]
struct AgenticRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_id: Option<String>,
    conversation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'a str>,
    play_id: &'a str,
    request_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_id: Option<&'a str>,
}

impl<'a> AgenticRow<'a> {
    fn new(name: &'a PlayedName, request: &'a RequestRecord) -> Self {
        let (play, own) = (&name.play, request.request_id.as_deref());
        let (cache_id, request_id) = match name.identity {
            PlayIdentity::Recorded => (None, own.map(Cow::Borrowed)),
            PlayIdentity::Instance => {
                let request = own.map(|own| Cow::Owned(format!("{play}:request:{own}")));
                (Some(format!("{play}:cache")), request)
            }
        };
        Self {
            cache_id,
            conversation_id: name.session.as_deref(),
            lane_id: name.lane.map(|lane| format!("lane:{lane}")),
            parent_id: name.parent.as_deref(),
            play_id: &name.play,
            request_id,
            root_id: name.root.as_deref(),
        }
    }
}

/// Returns what places a request of a recorded play.
fn played(request: &RequestRecord) -> Option<&PlayedName> {
    match &request.session {
        SessionName::Played(name) => Some(name),
        SessionName::Named(_)
        | SessionName::Row(_)
        | SessionName::Synthetic(_)
        | SessionName::Stated { .. } => None,
    }
}

/// One admission; those after the first follow a preemption.
#[derive(Debug, Serialize)]
struct AdmissionRow {
    admission_ordinal: usize,
    at_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    g1_reused_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_reused_input_tokens: Option<u64>,
    is_readmission: bool,
    pool: &'static str,
    pool_admission_ordinal: usize,
    reused_input_tokens: u64,
}

/// The one decision of a round-robin router: at once, whatever is cached where.
#[derive(Debug, Serialize)]
struct RoutingRow {
    best_available_overlap_blocks: (),
    dp_rank: u32,
    logical_worker_id: u32,
    outcome: &'static str,
    overlap_regret_blocks: (),
    placement_replica_id: (),
    pool: &'static str,
    queue_entered_at_ms: (),
    queue_wait_ms: f64,
    released_at_ms: (),
    reported_overlap_tokens: u64,
    scheduler_id: u32,
    selected_overlap_blocks: (),
}

impl Rows {
    /// Returns the rows of a run.
    ///
    /// # Errors
    /// The answer of the system where records are too many for memory and cannot be written to a temporary file.
    pub(crate) fn new(record: &RunRecord, deployment: &Deployment) -> io::Result<Self> {
        let ended = record.requests.by_arrival(|request| request.outcome.is_some())?;
        let (prefill, decode) = match &deployment.workers {
            Workers::Aggregated(worker) => (worker, worker),
            Workers::Disaggregated { prefill, decode } => (prefill, decode),
        };
        let ranks = RanksPerWorker {
            decode: decode.parallelism.attention_data,
            prefill: prefill.parallelism.attention_data,
            first: match deployment.backend {
                Backend::Vllm | Backend::Trtllm => WorkerRole::Prefill,
                Backend::Sglang => WorkerRole::Decode,
            },
        };
        let prepared = record.instances.as_ref().and_then(|run| run.preparation.as_ref());
        Ok(Self { ended, ranks, phase: prepared.map(|_| "profile") })
    }

    /// Returns the row of a request.
    fn row<'a>(&self, request: &'a RequestRecord) -> Row<'a> {
        Row { agentic_phase: self.phase, ..Row::new(request, self.ranks) }
    }

    /// Writes the rows as JSON lines: compact, keys sorted.
    ///
    /// # Errors
    /// What the writer answers.
    pub(crate) fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for request in &self.ended {
            serde_json::to_writer(&mut *out, &self.row(&request))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.ended.len()))?;
        for request in &self.ended {
            sequence.serialize_element(&self.row(&request))?;
        }
        sequence.end()
    }
}

impl<'a> Row<'a> {
    fn new(request: &'a RequestRecord, ranks: RanksPerWorker) -> Self {
        let time = |time: Option<SimTime>| time.map(SimTime::as_ms);
        let admissions = &request.admissions;
        let handoff = request.handoff.as_deref();
        let step = |step: fn(&Handoff) -> Option<SimTime>| time(handoff.and_then(step));
        let (prefills, decodes) =
            admissions.split_at(handoff.map_or(0, |handoff| handoff.prefill_admissions));
        let split = admissions.first().and_then(by_tier);
        Self {
            admission_count: admissions.len(),
            admission_history: admission_rows(request).collect(),
            agentic: played(request).map(|name| AgenticRow::new(name, request)),
            agentic_phase: None,
            arrival_time_ms: request.arrival.as_ms(),
            decode_admit_ms: handoff.and(time(decodes.first().map(|admission| admission.at))),
            decode_reused_input_tokens: handoff.and(most_reused(decodes)),
            decode_route_overlap_tokens: handoff.and(request.rank).map(|_| 0),
            decode_worker_idx: request.rank,
            destination_activated_ms: step(|handoff| handoff.activated),
            destination_reserved_ms: step(|handoff| handoff.reserved),
            dispatched_at_ms: played(request).map(|_| request.arrival.as_ms()),
            e2e_latency_ms: e2e_ms(request),
            first_admission_reused_input_tokens: request.reused_first().get(),
            first_admission_g1_reused_input_tokens: split.map(|(device, _)| device),
            first_admission_host_reused_input_tokens: split.map(|(_, host)| host),
            first_admit_ms: time(admissions.first().map(|admission| admission.at)),
            first_token_ms: time(request.first_token),
            input_length: request.input.get(),
            itl_ms: tpot_ms(request),
            last_token_ms: time(request.last_token),
            output_length: request.output.get(),
            prefill_admit_ms: time(prefills.first().map(|admission| admission.at)),
            prefill_route_overlap_tokens: handoff.and_then(|of| of.prefill_rank).map(|_| 0),
            prefill_worker_idx: handoff.and_then(|handoff| handoff.prefill_rank),
            play_id: played(request).map(|name| name.play.as_str()),
            pressure_record_ordinals: [],
            readmission_count: prefills.len().saturating_sub(1) + decodes.len().saturating_sub(1),
            request_id: request.request_id.as_deref(),
            requested_output_length: request.requested_output.get(),
            reused_input_tokens: match handoff {
                None => request.reused_max().get(),
                // What a decode rank reuses after a preemption has a field of its own.
                Some(_) => most_reused(prefills).unwrap_or(0),
            },
            routing_history: routing_rows(request, ranks).collect(),
            session_id: session_id(&request.session),
            source_held_ms: step(|handoff| handoff.held),
            source_released_ms: step(|handoff| handoff.released),
            terminal_status: request.outcome.map(Outcome::name),
            terminal_time_ms: time(request.terminal),
            ttft_ms: ttft_ms(request),
            ttst_ms: ttst_ms(request),
            turn_index: turn_index(request),
            uuid: uuid(request.index),
        }
    }
}

/// Returns the reused tokens of an admission that the GPU had and that the host tier gave; nothing without a host tier.
fn by_tier(admission: &Admission) -> Option<(u64, u64)> {
    let host = admission.from_host?.get();
    Some((admission.reused.get() - host, host))
}

/// Returns the rows of a request's admissions: to a prefill rank first, where prefill and decode are apart.
fn admission_rows(request: &RequestRecord) -> impl Iterator<Item = AdmissionRow> {
    let prefills = request.handoff.as_ref().map_or(0, |handoff| handoff.prefill_admissions);
    let own = own_role(request);
    request.admissions.iter().enumerate().map(move |(ordinal, admission)| {
        let (role, first) =
            if ordinal < prefills { (WorkerRole::Prefill, 0) } else { (own, prefills) };
        let split = by_tier(admission);
        AdmissionRow {
            admission_ordinal: ordinal,
            at_ms: admission.at.as_ms(),
            g1_reused_input_tokens: split.map(|(device, _)| device),
            host_reused_input_tokens: split.map(|(_, host)| host),
            is_readmission: ordinal > first,
            pool: pool(role),
            pool_admission_ordinal: ordinal - first,
            reused_input_tokens: admission.reused.get(),
        }
    })
}

/// Returns the rows of a request's routes in order: one, or one to each pool where prefill and decode are apart.
fn routing_rows(
    request: &RequestRecord,
    ranks: RanksPerWorker,
) -> impl Iterator<Item = RoutingRow> {
    let prefill = request.handoff.as_ref().and_then(|handoff| handoff.prefill_rank);
    let own = own_role(request);
    let prefill = prefill.map(|rank| RoutingRow::new(WorkerRole::Prefill, rank, ranks.prefill));
    let decode = request.rank.map(|rank| RoutingRow::new(own, rank, ranks.decode));
    // In the order of the decisions.
    if is_decode_first(request) {
        decode.into_iter().chain(prefill)
    } else {
        let (first, second) =
            if ranks.first == WorkerRole::Decode { (decode, prefill) } else { (prefill, decode) };
        first.into_iter().chain(second)
    }
}

/// Returns whether the decode rank was chosen before the prompt was computed, as SGLang does.
fn is_decode_first(request: &RequestRecord) -> bool {
    request.handoff.as_ref().is_some_and(|handoff| {
        handoff.reserved.is_some_and(|reserved| handoff.held.is_none_or(|held| reserved < held))
    })
}

/// Returns the role of the rank that produced a request's tokens.
fn own_role(request: &RequestRecord) -> WorkerRole {
    if request.handoff.is_some() { WorkerRole::Decode } else { WorkerRole::Aggregated }
}

/// Returns DynoSim's word for the pool of a role.
fn pool(role: WorkerRole) -> &'static str {
    match role {
        WorkerRole::Aggregated => "agg",
        WorkerRole::Prefill => "prefill",
        WorkerRole::Decode => "decode",
    }
}

/// Returns the largest reuse of admissions, where there are any.
fn most_reused(admissions: &[Admission]) -> Option<u64> {
    admissions.iter().map(|admission| admission.reused.get()).max()
}

impl RoutingRow {
    fn new(role: WorkerRole, rank: u32, ranks_per_worker: u32) -> Self {
        Self {
            best_available_overlap_blocks: (),
            dp_rank: rank % ranks_per_worker,
            logical_worker_id: rank / ranks_per_worker,
            outcome: "immediate",
            overlap_regret_blocks: (),
            placement_replica_id: (),
            pool: pool(role),
            queue_entered_at_ms: (),
            queue_wait_ms: 0.0,
            released_at_ms: (),
            reported_overlap_tokens: 0,
            scheduler_id: rank,
            selected_overlap_blocks: (),
        }
    }
}

/// Returns the identity of the n-th request: the UUID of n + 1, as the reference's canonical mode gives it.
fn uuid(index: u64) -> String {
    let hex = format!("{:032x}", u128::from(index) + 1);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Returns what a session is called; nothing for a stated request that names none.
fn session_id(session: &SessionName) -> Option<String> {
    match session {
        SessionName::Stated { name, .. } => name.clone(),
        SessionName::Played(name) => name.session.clone(),
        SessionName::Named(_) | SessionName::Row(_) | SessionName::Synthetic(_) => {
            Some(session.to_string())
        }
    }
}

/// Returns the turn that a request is; nothing for a stated request that does not say.
fn turn_index(request: &RequestRecord) -> Option<u32> {
    match request.session {
        SessionName::Stated { turn, .. } => turn,
        SessionName::Played(_) => None,
        SessionName::Named(_) | SessionName::Row(_) | SessionName::Synthetic(_) => {
            Some(request.turn)
        }
    }
}
