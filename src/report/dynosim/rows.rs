//! `requests.jsonl`: one row a request that ended.

use serde_json::{Value, json};

use crate::deployment::{Deployment, Workers};
use crate::record::{RequestRecord, RunRecord};
use crate::units::SimTime;

use super::latency::{e2e_ms, tpot_ms, ttft_ms, ttst_ms};

/// Returns the rows of all requests that ended, by arrival, then by identity. Requests that a time limit cut have none.
pub(crate) fn request_rows(record: &RunRecord, deployment: &Deployment) -> Vec<Value> {
    let mut ended: Vec<&RequestRecord> =
        record.requests.iter().filter(|request| request.outcome.is_some()).collect();
    ended.sort_by_key(|request| (request.arrival, request.index));
    ended.into_iter().map(|request| row(request, ranks_per_worker(deployment))).collect()
}

/// Returns rows as JSON lines: compact, keys sorted.
pub(crate) fn request_lines(rows: &[Value]) -> Vec<u8> {
    let mut lines = Vec::new();
    for row in rows {
        lines.extend_from_slice(row.to_string().as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// Returns the schedulers of one worker.
fn ranks_per_worker(deployment: &Deployment) -> u32 {
    match &deployment.workers {
        Workers::Aggregated(worker) | Workers::Disaggregated { decode: worker, .. } => {
            worker.parallelism.attention_data
        }
    }
}

/// Returns the row of a request.
fn row(request: &RequestRecord, ranks_per_worker: u32) -> Value {
    let time = |time: Option<SimTime>| time.map(SimTime::as_ms);
    let mut row = json!({
        "admission_count": request.admissions.len(),
        "admission_history": admissions(request),
        "arrival_time_ms": request.arrival.as_ms(),
        "decode_admit_ms": null,
        "decode_reused_input_tokens": null,
        "decode_route_overlap_tokens": null,
        "decode_worker_idx": request.rank,
        "destination_activated_ms": null,
        "destination_reserved_ms": null,
        "dispatched_at_ms": null,
        "e2e_latency_ms": e2e_ms(request),
        "first_admit_ms": time(request.admissions.first().map(|admission| admission.at)),
        "first_token_ms": time(request.first_token),
        "input_length": request.input.get(),
        "itl_ms": tpot_ms(request),
        "last_token_ms": time(request.last_token),
        "output_length": request.output.get(),
        "prefill_admit_ms": null,
        "prefill_route_overlap_tokens": null,
        "prefill_worker_idx": null,
        "pressure_record_ordinals": [],
        "readmission_count": request.admissions.len().saturating_sub(1),
        "requested_output_length": request.requested_output.get(),
        "reused_input_tokens": request.reused_max().get(),
        "routing_history": routing(request, ranks_per_worker),
        "session_id": request.session.to_string(),
        "source_held_ms": null,
        "source_released_ms": null,
        "terminal_status": request.outcome.map(crate::record::Outcome::name),
        "terminal_time_ms": time(request.terminal),
        "ttft_ms": ttft_ms(request),
        "ttst_ms": ttst_ms(request),
        "turn_index": request.turn,
        "uuid": uuid(request.index),
    });
    if let Some(id) = &request.request_id {
        row["request_id"] = Value::from(id.as_str());
    }
    row
}

/// Returns every admission in order; those after the first follow a preemption.
fn admissions(request: &RequestRecord) -> Vec<Value> {
    request
        .admissions
        .iter()
        .enumerate()
        .map(|(ordinal, admission)| {
            json!({
                "admission_ordinal": ordinal,
                "at_ms": admission.at.as_ms(),
                "is_readmission": ordinal > 0,
                "pool": "agg",
                "pool_admission_ordinal": ordinal,
                "reused_input_tokens": admission.reused.get(),
            })
        })
        .collect()
}

/// Returns the one decision of a round-robin router: at once, whatever is cached where.
fn routing(request: &RequestRecord, ranks_per_worker: u32) -> Vec<Value> {
    let Some(rank) = request.rank else { return Vec::new() };
    vec![json!({
        "best_available_overlap_blocks": null,
        "dp_rank": rank % ranks_per_worker,
        "logical_worker_id": rank / ranks_per_worker,
        "outcome": "immediate",
        "overlap_regret_blocks": null,
        "placement_replica_id": null,
        "pool": "agg",
        "queue_entered_at_ms": null,
        "queue_wait_ms": 0.0,
        "released_at_ms": null,
        "reported_overlap_tokens": 0,
        "scheduler_id": rank,
        "selected_overlap_blocks": null,
    })]
}

/// Returns the identity of the n-th request: the UUID of n + 1, as the reference's canonical mode gives it.
fn uuid(index: u64) -> String {
    let number = u128::from(index) + 1;
    let hex = format!("{number:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
