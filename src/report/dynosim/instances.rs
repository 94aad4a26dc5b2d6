//! What DynoSim says of instances of recorded plays: where they were cut, what prepared for them, and the measured window.

use serde_json::{Map, Value, json};

use crate::plan::SimulationJob;
use crate::record::{
    InstanceRecord, InstanceStatus, InstancesRecord, PreparationRecord, ProfileRecord, RunRecord,
};
use crate::units::SimTime;
use crate::workload::{Corpus, CorpusReader, Plays, SessionName};

use super::distribution::Distribution;
use super::summary::duration_ms;

/// The conversation of requests that name none.
const NO_SESSION: &str = "agentic-session";
/// How many requests warm a lane up behind its primers.
const WARMUPS: usize = 10;

/// The names of a recording.
struct Names<'a> {
    reader: CorpusReader<'a>,
    plays: &'a Plays,
}

/// Writes the figures of instances.
pub(super) fn write(
    record: &RunRecord,
    run: &InstancesRecord,
    (corpus, job): (&Corpus, &SimulationJob),
    fields: &mut Map<String, Value>,
) {
    let Some(plays) = corpus.plays() else { return };
    let names = Names { reader: corpus.reader(), plays };
    // What is measured begins where preparation ends.
    let epoch = run.preparation.as_ref().map_or(SimTime::ZERO, |preparation| preparation.ended);
    let whole = run.instances.iter().filter(|one| one.status == InstanceStatus::Completed);
    let took = whole.filter_map(|one| Some(one.ended?.ms_since(one.began)));
    let took = Distribution::of(took);
    let total = run.instances.len() as u64;
    let graph = graph(run, corpus, plays);
    let outcomes: Vec<Value> =
        run.instances.iter().map(|one| outcome(one, &names, epoch)).collect();
    let snapshots: Vec<Value> =
        run.instances.iter().map(|one| snapshot(one, run, &names, &graph)).collect();
    for (name, value) in [
        ("agentic_graph", graph),
        ("agentic_lifecycle_event_count", json!(run.events)),
        ("agentic_play_outcomes", Value::Array(outcomes)),
        ("agentic_snapshots", Value::Array(snapshots)),
        ("completed_trajectories", json!(took.count())),
        ("incomplete_trajectories", json!(total - took.count())),
        ("p50_trajectory_e2e_latency_ms", json!(took.percentile(50.0))),
        ("total_trajectories", json!(total)),
    ] {
        fields.insert(name.to_owned(), value);
    }
    took.write("trajectory_e2e_latency_ms", fields);
    if let Some(preparation) = &run.preparation {
        let phases = phases(preparation, run, &names, block_size(job));
        fields.insert("agentic_phases".to_owned(), phases);
    }
    if let Some(window) = &run.profile {
        fields.insert("agentic_profile".to_owned(), profile(window, run, record));
    }
}

impl Names<'_> {
    fn request(&self, node: usize) -> String {
        self.reader.request_id(&self.reader.row(node)).unwrap_or_default()
    }

    fn conversation(&self, node: usize) -> String {
        match self.reader.session(&self.reader.row(node)) {
            SessionName::Named(name) => name,
            SessionName::Row(_)
            | SessionName::Synthetic(_)
            | SessionName::Stated { .. }
            | SessionName::Played(_) => NO_SESSION.to_owned(),
        }
    }

    /// Returns what places a request of an instance.
    fn identity(&self, one: &InstanceRecord, node: usize) -> Value {
        let play = &one.name;
        let request = |node: usize| format!("{play}:request:{}", self.request(node));
        let mut identity = json!({
            "cache_id": format!("{play}:cache"),
            "conversation_id": format!("{play}:conversation:{}", self.conversation(node)),
            "lane_id": format!("lane:{}", one.lane),
            "play_id": play,
            "request_id": request(node),
        });
        if let Some(root) = self.plays.root(node) {
            identity["root_id"] = request(root).into();
        }
        if let Some(parent) = self.plays.parent(node) {
            identity["parent_id"] = request(parent).into();
        }
        identity
    }
}

/// Returns what the recording is called.
fn graph(run: &InstancesRecord, corpus: &Corpus, plays: &Plays) -> Value {
    let models: std::collections::BTreeSet<&str> =
        plays.nodes().iter().map(|node| node.model.as_str()).collect();
    json!({
        "block_size": corpus.block_size().get(),
        "graph_digest": run.digest,
        "node_count": plays.nodes().len(),
        "play_count": plays.plays().len(),
        "source_models": models,
    })
}

/// Returns how an instance ended.
fn outcome(one: &InstanceRecord, names: &Names<'_>, epoch: SimTime) -> Value {
    let status = match one.status {
        InstanceStatus::Completed => "completed",
        InstanceStatus::Failed => "failed",
        InstanceStatus::Incomplete => "incomplete",
    };
    let mut outcome = json!({ "play_id": one.name, "status": status });
    let failed = one.failure.map(|(_, at, _)| at);
    if let Some(at) = failed.or(one.ended) {
        outcome["causal_terminal_ms"] = at.ms_since(epoch).into();
    }
    if let Some(at) = one.settled {
        outcome["settled_at_ms"] = at.ms_since(epoch).into();
    }
    if let Some((node, _, how)) = one.failure {
        outcome["failure_request_id"] = names.request(node).into();
        outcome["failure_status"] = how.name().into();
    }
    outcome
}

/// Returns where an instance was cut.
fn snapshot(
    one: &InstanceRecord,
    run: &InstancesRecord,
    names: &Names<'_>,
    graph: &Value,
) -> Value {
    let play = &one.name;
    let instance = |node: usize| format!("{play}:request:{}", names.request(node));
    let requests = one.requests.iter().map(|part| {
        let (start, end) = names.plays.nodes()[part.node].recorded_ms;
        let pending: Vec<String> = part.pending.iter().map(|node| instance(*node)).collect();
        json!({
            "historical": part.is_history,
            "identity": names.identity(one, part.node),
            "pending_dependencies": pending,
            "recorded_end_ms": end,
            "recorded_start_ms": start,
            "remaining_delay_ms": part.remaining_ms,
            "source_request_id": names.request(part.node),
        })
    });
    let primers = one.primers.iter().map(|node| {
        json!({
            "conversation_id": format!("{play}:conversation:{}", names.conversation(*node)),
            "input_length": names.reader.row(*node).input.get(),
            "request_id": instance(*node),
            "source_request_id": names.request(*node),
        })
    });
    json!({
        "cache_id": format!("{play}:cache"),
        "graph": graph,
        "lane_id": one.lane,
        "play_id": play,
        "play_ordinal": one.ordinal,
        "primers": primers.collect::<Vec<_>>(),
        "recorded_last_start_ms": one.starts_ms.1,
        "recorded_start_ms": one.starts_ms.0,
        "requests": requests.collect::<Vec<_>>(),
        "schema": "aisimulate.agentic.snapshot.v1",
        "seed": run.seed,
        "source_play_id": names.plays.plays()[one.play].id,
        "t_star_ms": one.cut_ms,
    })
}

/// Returns the block size of the engine that computes prompts.
fn block_size(job: &SimulationJob) -> u64 {
    let workers = job.deployment.workers_by_role();
    workers.first().map_or(1, |(_, worker)| u64::from(worker.kv_cache.block_size.get()))
}

/// Returns what prepared for the first instances. It has succeeded: a run whose preparation fails has no summary.
fn phases(
    preparation: &PreparationRecord,
    run: &InstancesRecord,
    names: &Names<'_>,
    block: u64,
) -> Value {
    let requests = preparation.requests.iter().zip(0_u128..).map(|(request, at)| {
        let one = &run.instances[request.instance];
        let phase = if request.is_primer { "primer" } else { "warmup" };
        let mut identity = names.identity(one, request.node);
        identity["request_id"] = format!("{}:{phase}:{}", one.name, request.ordinal).into();
        json!({
            "causal_terminal_at_ms": request.ended.as_ms(),
            "dispatched_at_ms": request.sent.as_ms(),
            "expected_full_block_tokens": request.input.get() / block * block,
            "first_admission_reused_input_tokens": request.reused.get(),
            "first_admit_ms": request.admitted.map(SimTime::as_ms),
            "identity": identity,
            "input_length": request.input.get(),
            "lane_id": one.lane,
            "max_output_tokens": 1,
            "observed_output_tokens": 1,
            "phase": phase,
            "quiescent_at_ms": request.ended.as_ms(),
            "source_request_id": names.request(request.node),
            "terminal_status": "completed",
            "uuid": uuid((1 << 127) + at),
        })
    });
    let lanes = run.instances.iter().enumerate().filter(|(_, one)| one.ordinal == 0);
    let lanes = lanes.map(|(at, one)| {
        let sent = preparation.requests.iter().filter(|request| request.instance == at).count();
        json!({
            "lane_id": one.lane,
            "play_id": one.name,
            "primers_completed": one.primers.len(),
            "primers_expected": one.primers.len(),
            "requests_quiescent": sent,
            "warmup_completed": WARMUPS,
            "warmup_expected": WARMUPS,
        })
    });
    json!({
        "barrier_condition": "all_preparation_succeeded_and_server_quiescent",
        "failure_reason": (),
        "failure_request_id": (),
        "finished_at_ms": preparation.ended.as_ms(),
        "lanes": lanes.collect::<Vec<_>>(),
        "phase": "profile",
        "profile_start_ms": preparation.ended.as_ms(),
        "requests": requests.collect::<Vec<_>>(),
        "schema": "aisimulate.agentic.phases.v1",
    })
}

/// Returns the measured window.
///
/// Whether an engine had cleaned up what was given up at the end of the grace is not known here: these fields are null then.
fn profile(window: &ProfileRecord, run: &InstancesRecord, record: &RunRecord) -> Value {
    let asked = window.asked;
    let cutoff = window.began.as_ms() + asked.duration_ms;
    let grace = cutoff + asked.grace_ms;
    let count = |is_so: &dyn Fn(&InstanceRecord) -> bool| {
        run.instances.iter().filter(|one| is_so(one)).count() as u64
    };
    let settled = count(&|one| one.settled.is_some());
    let known = |value: u64| (window.canceled == 0).then_some(value);
    let took = duration_ms(record);
    #[expect(clippy::cast_precision_loss, reason = "a run has less than 2^53 requests")]
    let rate = (took > 0.0).then(|| window.completed as f64 * 1000.0 / took);
    let shifts = window.shifts.iter().map(|shift| {
        json!({
            "at_ms": shift.at.as_ms(),
            "play_id": shift.instance.map(|at| run.instances[at].name.as_str()),
            "shifted_by_ms": shift.by_ms,
            "timer_count": shift.waits,
        })
    });
    json!({
        "admission_closed": window.finished.as_ms() >= cutoff,
        "admission_cutoff_ms": cutoff,
        "cancel_drain_deadline_ms": grace + asked.cancel_drain_ms,
        "cancel_drain_timed_out": false,
        "canceled_requests": window.canceled,
        "client_completed_plays": count(&|one| one.status != InstanceStatus::Incomplete),
        "client_in_flight_requests": 0,
        "corpus_cursor": window.drawn,
        "finished_at_ms": window.finished.as_ms(),
        "first_request_ms": window.first_sent.map(SimTime::as_ms),
        "idle_shifts": shifts.collect::<Vec<_>>(),
        "issued_requests": window.sent,
        "last_successful_response_ms": window.last_completed.map(SimTime::as_ms),
        "never_issued_requests": window.never_sent,
        "observation_duration_ms": took,
        "options": {
            "cancel_drain_seconds": asked.cancel_drain_ms / 1000.0,
            "duration_seconds": asked.duration_ms / 1000.0,
            "global_idle_cap_seconds": asked.global_idle_cap_ms / 1000.0,
            "response_grace_seconds": asked.grace_ms / 1000.0,
            "tree_idle_cap_seconds": asked.tree_idle_cap_ms / 1000.0,
        },
        "plays_started": run.instances.len(),
        "profile_start_ms": window.began.as_ms(),
        "response_grace_deadline_ms": grace,
        "retired_plays": settled,
        "schema": "aisimulate.agentic.profile.v1",
        "server_quiescent_plays": known(settled),
        "server_unsettled_requests": known(0),
        "successful_request_throughput": rate,
        "successful_responses": window.completed,
        "unsettled_server_requests": known(0),
    })
}

/// Returns a number as a UUID.
fn uuid(number: u128) -> String {
    let hex = format!("{number:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
