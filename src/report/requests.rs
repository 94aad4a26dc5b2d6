//! `requests.jsonl`: one canonical record a request, in request order.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::digest::canonical::{Value, object};
use crate::measure::{Bounds, e2e, is_good, queue, tpot, ttft, ttst};
use crate::record::{Admission, Handoff, Refusal, RequestRecord, Requests, Spool, SpoolWriter};
use crate::units::{Nanos, SimTime};
use crate::workload::SessionName;

/// Returns the lines. Those that are too many for memory are in a file of `scratch`.
///
/// # Errors
/// The answer of the system where that file cannot be written.
pub(super) fn lines(
    requests: &Requests,
    bounds: Option<&Bounds>,
    scratch: Option<&Path>,
) -> io::Result<Spool> {
    let mut lines = SpoolWriter::new(scratch);
    for request in requests {
        lines.push(&record(&request, bounds).to_document());
    }
    lines.finish()
}

/// Returns the record of one request; what never happened is left out.
pub(super) fn record(request: &RequestRecord, bounds: Option<&Bounds>) -> Value {
    let instant = |time: SimTime| Nanos::from(time).into();
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    let mut put = |key: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("index", Some(Value::count(request.index)));
    put("session", Some(Value::text(request.session.to_string())));
    put("turn", Some(Value::count(u64::from(request.turn))));
    put("line", request.line.map(Value::count));
    put("request_id", request.request_id.as_deref().map(Value::text));
    if let SessionName::Played(name) = &request.session {
        put("play", Some(Value::text(&name.play)));
        put("lane", name.lane.map(|lane| Value::count(u64::from(lane))));
        put("spawned_by", name.parent.as_deref().map(Value::text));
    }
    put("rank", request.rank.map(|rank| Value::count(u64::from(rank))));
    put("input_tokens", Some(request.input.into()));
    put("requested_output_tokens", Some(request.requested_output.into()));
    put("output_tokens", Some(request.output.into()));
    put("arrival_ns", Some(instant(request.arrival)));
    put("admissions", Some(Value::List(request.admissions.iter().map(admission).collect())));
    put("handoff", request.handoff.as_deref().map(handoff));
    put("first_token_ns", request.first_token.map(instant));
    put("second_token_ns", request.second_token.map(instant));
    put("last_token_ns", request.last_token.map(instant));
    put("end_ns", request.terminal.map(instant));
    put("outcome", request.outcome.map(|outcome| Value::text(outcome.name())));
    put("refusal", request.refusal.as_deref().map(refusal));
    put("queue_ns", queue(request).map(Value::from));
    put("ttft_ns", ttft(request).map(Value::from));
    put("ttst_ns", ttst(request).map(Value::from));
    put("tpot_ns", tpot(request).map(Value::from));
    put("e2e_ns", e2e(request).map(Value::from));
    put("good", bounds.map(|bounds| Value::Bool(is_good(request, bounds))));
    Value::Object(fields)
}

/// Returns why a request was refused.
fn refusal(refusal: &Refusal) -> Value {
    let (needed, limit) = refusal.rule.sizes();
    object([
        ("limit", Value::count(limit)),
        ("needed", Value::count(needed)),
        ("role", Value::text(refusal.role.name())),
        ("rule", Value::text(refusal.rule.name())),
    ])
}

/// Returns one admission.
fn admission(admission: &Admission) -> Value {
    let mut fields = BTreeMap::from([
        ("at_ns".to_owned(), Nanos::from(admission.at).into()),
        ("reused_tokens".to_owned(), admission.reused.into()),
    ]);
    let from_host = admission.from_host.map(Value::from);
    fields.extend(from_host.map(|tokens| ("reused_from_host_tokens".to_owned(), tokens)));
    Value::Object(fields)
}

/// Returns the steps of a hand-off; what never happened is left out.
fn handoff(handoff: &Handoff) -> Value {
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    let mut put = |key: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    for (key, time) in [
        ("activated_ns", handoff.activated),
        ("held_ns", handoff.held),
        ("released_ns", handoff.released),
        ("reserved_ns", handoff.reserved),
        ("transfer_began_ns", handoff.transfer_began),
        ("transfer_ended_ns", handoff.transfer_ended),
    ] {
        put(key, time.map(|time| Nanos::from(time).into()));
    }
    put("charged_tokens", handoff.transfer_began.map(|_| handoff.charged.into()));
    put("missing_tokens", handoff.reserved.and(handoff.missing).map(Value::from));
    put("prefill_admissions", Some(Value::count(handoff.prefill_admissions as u64)));
    put("prefill_rank", handoff.prefill_rank.map(|rank| Value::count(u64::from(rank))));
    Value::Object(fields)
}
