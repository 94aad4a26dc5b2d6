//! The events that an engine tells of its requests, as canonical lines: admissions, preemptions, hand-offs, tokens, ends.

use std::collections::BTreeMap;
use std::io;

use crate::digest::canonical::{Value, object};
use crate::protocol::EngineRun;
use crate::record::{Requests, SpoolWriter, Transcript};
use crate::units::{Nanos, SimTime};

use super::answer::{Unusable, time};

/// An event: when, its rank among those of one instant, whose, and what it says. Instants are those that lines state: an engine's floats are apart by
/// less than a nanosecond from one version to the next, and may not decide the order.
type Event = (Nanos, u8, u64, Value);

/// Returns the transcript of a run; `by_uuid` says which request a name of the engine's stands for.
///
/// # Errors
/// What makes the answer none of this job; the answer of the system where the lines cannot be kept.
pub(super) fn transcript(
    run: &EngineRun,
    requests: &Requests,
    by_uuid: &BTreeMap<&str, u64>,
    keep_lines: bool,
) -> Result<Transcript, Unusable> {
    let mut events: Vec<Event> = Vec::new();
    for request in requests {
        let mut put = |at: Option<SimTime>, kind: u8, name: &str, fields: Value| {
            let Some(at) = at.map(Nanos::from) else { return };
            let line = fields
                .with("at_ns", Some(at.into()))
                .with("event", Some(Value::text(name)))
                .with("request", Some(Value::count(request.index)));
            events.push((at, kind, request.index, line));
        };
        let none = || object([]);
        let rank = |rank: Option<u32>| rank.map(|rank| Value::count(u64::from(rank)));
        let prefills = request.handoff.as_ref().map_or(0, |handoff| handoff.prefill_admissions);
        for (place, admission) in request.admissions.iter().enumerate() {
            let prefill_rank = request.handoff.as_ref().and_then(|handoff| handoff.prefill_rank);
            let on = if place < prefills { prefill_rank } else { request.rank };
            let fields = object([("reused", admission.reused.into())]).with("rank", rank(on));
            put(Some(admission.at), 4, "admit", fields);
        }
        if let Some(handoff) = &request.handoff {
            put(handoff.held, 1, "held", none());
            put(handoff.reserved, 2, "reserved", none());
            put(handoff.activated, 3, "activated", none());
            put(handoff.released, 3, "released", none());
        }
        put(request.first_token, 5, "first-token", none());
        let output = object([("output", request.output.into())]).with("rank", rank(request.rank));
        put(request.terminal, 6, request.outcome.map_or("cut", |outcome| outcome.name()), output);
    }
    for record in run.evidence.pressure.iter().flat_map(|pressure| &pressure.records) {
        let request = by_uuid.get(record.request_uuid.as_str()).copied();
        // A request that was cut has no record: its preemption is nobody's.
        let at = Nanos::from(time(record.at_ms)?);
        let line = object([
            ("at_ns", at.into()),
            ("event", Value::text("preempt")),
            ("pool", Value::text(&record.pool)),
        ])
        .with("request", request.map(Value::count));
        events.push((at, 0, request.unwrap_or(u64::MAX), line));
    }
    events.sort_by_key(|(at, kind, request, _)| (*at, *kind, *request));
    Ok(write(&events, keep_lines)?)
}

/// Writes the events in order.
fn write(events: &[Event], keep_lines: bool) -> io::Result<Transcript> {
    let mut spool = SpoolWriter::new(None);
    for (_, _, _, line) in events {
        spool.push(&line.to_document());
    }
    let lines = spool.finish()?;
    Ok(Transcript {
        count: events.len() as u64,
        digest: lines.digest(),
        lines: keep_lines.then_some(lines),
    })
}
