//! What the record of a run must say of what was asked.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::measure::Invariant;
use crate::record::{Outcome, RequestRecord, RunRecord};
use crate::units::SimTime;

use super::plant::{Arrivals, Plant};

/// Finds a law that a record breaks.
///
/// # Errors
/// What was found.
pub(super) fn check(plant: &Plant, record: &RunRecord) -> Result<(), String> {
    let broken = Invariant::violations(record, &plant.limits());
    if let Some(violation) = broken.first() {
        return Err(format!("{violation:?}"));
    }
    let requests: Vec<RequestRecord> = record.requests.iter().map(Cow::into_owned).collect();
    requests.iter().try_for_each(|request| as_asked(plant, request))?;
    sessions(plant, &requests)?;
    in_flight(plant, &requests)
}

/// A request is served as it was asked, and nothing of it happens after its end.
fn as_asked(plant: &Plant, request: &RequestRecord) -> Result<(), String> {
    let admitted = request.admissions.last().map(|admission| admission.at);
    if request.terminal.is_some() && admitted.max(request.last_token) > request.terminal {
        return Err(format!("request {} goes on after its end: {request:?}", request.index));
    }
    if matches!(plant.arrivals, Arrivals::Sessions { .. }) {
        return Ok(());
    }
    let row = &plant.rows[usize::try_from(request.index).expect("few")];
    let is_same = request.input.get() == row.input()
        && request.requested_output.get() == u64::from(row.output);
    if !is_same {
        return Err(format!("request {} is not what was asked: {request:?}", request.index));
    }
    let produced = request.outcome == Some(Outcome::Completed) && request.admissions.is_empty();
    if produced { Err(format!("request {} was never admitted", request.index)) } else { Ok(()) }
}

/// Each turn arrives a think time after the one before it has ended, and a session ends once: with its last turn, or with one that failed.
fn sessions(plant: &Plant, requests: &[RequestRecord]) -> Result<(), String> {
    let mut sessions: BTreeMap<String, Vec<&RequestRecord>> = BTreeMap::new();
    for request in requests {
        sessions.entry(request.session.to_string()).or_default().push(request);
    }
    for (session, turns) in sessions {
        for pair in turns.windows(2) {
            let think = match plant.arrivals {
                Arrivals::Sessions { think, .. } => think,
                Arrivals::Recorded
                | Arrivals::Closed(_)
                | Arrivals::Constant(_)
                | Arrivals::Poisson(_) => {
                    plant.rows[usize::try_from(pair[1].index).expect("few")].think
                }
            };
            let ended = pair[0].terminal.map_or(f64::NAN, SimTime::as_ms);
            let waited = pair[1].arrival.as_ms() - ended;
            let failed = pair[0].outcome == Some(Outcome::Failed);
            if (waited - f64::from(think)).abs() > 1e-9 || failed {
                return Err(format!("session {session}: {waited} ms before {:?}", pair[1]));
            }
        }
    }
    Ok(())
}

/// A closed loop never has more sessions in flight than it says, and has as many until none is left to start.
fn in_flight(plant: &Plant, requests: &[RequestRecord]) -> Result<(), String> {
    let limit = match plant.arrivals {
        Arrivals::Closed(limit) | Arrivals::Sessions { at_a_time: limit, .. } => limit as usize,
        Arrivals::Recorded | Arrivals::Constant(_) | Arrivals::Poisson(_) => return Ok(()),
    };
    let mut spans: BTreeMap<String, (SimTime, SimTime)> = BTreeMap::new();
    for request in requests {
        let end = request.terminal.unwrap_or(SimTime::NEVER);
        let span = spans.entry(request.session.to_string()).or_insert((request.arrival, end));
        *span = (span.0.min(request.arrival), span.1.max(end));
    }
    for (start, _) in spans.values() {
        let open = spans.values().filter(|(from, to)| from <= start && start < to).count();
        if open > limit {
            return Err(format!("{open} sessions in flight at {start:?}, {limit} asked"));
        }
    }
    Ok(())
}
