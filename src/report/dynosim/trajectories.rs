//! What DynoSim says of recorded plays: how many ended, and how long they took.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::plan::SimulationJob;
use crate::record::RunRecord;
use crate::units::SimTime;
use crate::workload::{Load, Plays, SessionName};

use super::distribution::Distribution;

/// What is known of a play once it ran.
#[derive(Debug, Clone, Copy, Default)]
struct Ran {
    released: usize,
    completed: usize,
    /// When the first of its roots was released.
    began: Option<SimTime>,
    /// When its last request ended.
    ended: Option<SimTime>,
    /// The first request that did not complete: when, and how it ended.
    failed: Option<(SimTime, &'static str)>,
}

/// Writes the figures; those of instances in the place of those of recorded plays.
pub(super) fn write(
    record: &RunRecord,
    plays: &Plays,
    job: &SimulationJob,
    fields: &mut Map<String, Value>,
) {
    if record.instances.is_some() {
        return write_settings(plays, job, fields);
    }
    let ran = ran(record, plays);
    let is_whole = |(play, ran): &(&crate::workload::Play, Ran)| {
        ran.failed.is_none() && ran.completed == play.nodes.len()
    };
    let by_play = || plays.plays().iter().zip(ran.iter().copied());
    let took = by_play()
        .filter(is_whole)
        .filter_map(|(_, ran)| Some(ran.ended?.as_ms() - ran.began?.as_ms()));
    let took = Distribution::of(took);
    write_settings(plays, job, fields);
    let outcomes: Vec<Value> =
        by_play().map(|(play, ran)| outcome(&play.id, play.nodes.len(), ran)).collect();
    // A request is dispatched, ends and is cleaned up; a failed play skips the rest; a play that is over says so.
    let skipped = by_play().filter(|(_, ran)| ran.failed.is_some());
    let skipped: usize = skipped.map(|(play, ran)| play.nodes.len() - ran.released).sum();
    let released: usize = ran.iter().map(|ran| ran.released).sum();
    let begun = ran.iter().filter(|ran| ran.released > 0).count();
    let total = plays.plays().len();
    for (name, value) in [
        ("agentic_lifecycle_event_count", json!(3 * released + skipped + begun)),
        ("agentic_play_outcomes", Value::Array(outcomes)),
        ("completed_trajectories", json!(took.count())),
        ("incomplete_trajectories", json!(total as u64 - took.count())),
        ("p50_trajectory_e2e_latency_ms", json!(took.percentile(50.0))),
        ("total_trajectories", json!(total)),
    ] {
        fields.insert(name.to_owned(), value);
    }
    took.write("trajectory_e2e_latency_ms", fields);
}

/// Writes what was asked for.
fn write_settings(plays: &Plays, job: &SimulationJob, fields: &mut Map<String, Value>) {
    let lanes = match &job.workload.load {
        Load::Recorded(load) => load.agentic_lanes,
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::TraceTimestamps { .. } => None,
    };
    let models: std::collections::BTreeSet<&str> =
        plays.nodes().iter().map(|node| node.model.as_str()).collect();
    let projection = json!({
        "policy": "project_to_configured_target",
        "source_models": models,
        "target_model": job.deployment.model,
    });
    for (name, value) in [("agentic_lanes", json!(lanes)), ("agentic_model_projection", projection)]
    {
        fields.insert(name.to_owned(), value);
    }
}

/// Returns how a play ended.
fn outcome(id: &str, nodes: usize, ran: Ran) -> Value {
    let status = match ran.failed {
        Some(_) => "failed",
        None if ran.completed == nodes => "completed",
        None => "incomplete",
    };
    let mut object = json!({ "play_id": id, "status": status });
    if let Some(at) = ran.failed.map(|(at, _)| at).or(ran.ended) {
        object["causal_terminal_ms"] = at.as_ms().into();
    }
    if let Some(at) = ran.ended {
        object["settled_at_ms"] = at.as_ms().into();
    }
    if let Some((_, status)) = ran.failed {
        object["failure_status"] = status.into();
    }
    object
}

/// Returns what is known of each play.
fn ran(record: &RunRecord, plays: &Plays) -> Vec<Ran> {
    let by_id: BTreeMap<&str, usize> =
        plays.plays().iter().enumerate().map(|(at, play)| (play.id.as_str(), at)).collect();
    let mut all = vec![Ran::default(); plays.plays().len()];
    for request in &record.requests {
        let SessionName::Played(name) = &request.session else { continue };
        let Some(ran) = by_id.get(name.play.as_str()).map(|at| &mut all[*at]) else { continue };
        ran.released += 1;
        let node = usize::try_from(request.index).unwrap_or(usize::MAX);
        if plays.nodes().get(node).is_some_and(|node| node.waits.is_empty()) {
            ran.began = Some(ran.began.map_or(request.arrival, |seen| seen.min(request.arrival)));
        }
        let Some(end) = request.terminal else { continue };
        ran.ended = Some(ran.ended.map_or(end, |seen| seen.max(end)));
        if request.is_completed() {
            ran.completed += 1;
        } else if let Some(outcome) = request.outcome
            && ran.failed.is_none_or(|(at, _)| end < at)
        {
            ran.failed = Some((end, outcome.name()));
        }
    }
    all
}
