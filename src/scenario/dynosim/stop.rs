//! `traffic.stop`.

use crate::units::{Nanos, SimTime};
use crate::workload::{Stop, StopCount};

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, nullable};
use super::prediction::TraceFormat;
use super::source::SourceKind;

/// Fields of `stop`, for every source.
const STOP: &[Field] = &[
    nullable("requests"),
    nullable("requests_per_load_unit"),
    nullable("sessions"),
    nullable("sessions_per_load_unit"),
    nullable("max_virtual_time_seconds"),
];

/// Returns the stop condition that the source asks for; nothing where it is wrong.
pub(super) fn decode(
    traffic: &Fields<'_>,
    kind: Option<SourceKind>,
    report: &mut Report,
) -> Option<Stop> {
    let stop =
        if traffic.states("stop") { Some(traffic.section("stop", STOP, report)?) } else { None };
    match kind? {
        SourceKind::Trace(format) => match stop {
            None => Some(Stop::default()),
            Some(stop) => Some(of_trace(&stop, format, report)),
        },
        SourceKind::Synthetic => {
            let names = ["requests", "requests_per_load_unit"];
            counted(traffic, stop.as_ref(), "synthetic", names, report)
        }
        SourceKind::Session => {
            let names = ["sessions", "sessions_per_load_unit"];
            counted(traffic, stop.as_ref(), "synthetic-session", names, report)
        }
    }
}

/// Returns the stop of a trace: a virtual time at the most.
fn of_trace(stop: &Fields<'_>, format: TraceFormat, report: &mut Report) -> Stop {
    for field in STOP.iter().filter(|field| field.name != "max_virtual_time_seconds") {
        let why = "does not stop a trace, which takes only `max_virtual_time_seconds`";
        stop.conflict(field.name, why, report);
    }
    if matches!(format, TraceFormat::AgenticMooncake | TraceFormat::Weka) {
        stop.conflict("max_virtual_time_seconds", "does not go with an agentic trace", report);
    }
    let seconds = stop.real("max_virtual_time_seconds", Real::Positive, report);
    let virtual_time = seconds.and_then(|seconds| {
        let ms = seconds * 1000.0;
        Nanos::from_ms(ms).and_then(|_| SimTime::from_ms(ms)).ok()
    });
    if seconds.is_some() && virtual_time.is_none() {
        stop.conflict("max_virtual_time_seconds", "is beyond what a clock can reach", report);
    }
    Stop { count: None, virtual_time }
}

/// Returns the one count of a synthetic source; `names` are the absolute and the relative one.
fn counted(
    traffic: &Fields<'_>,
    stop: Option<&Fields<'_>>,
    source: &str,
    names: [&'static str; 2],
    report: &mut Report,
) -> Option<Stop> {
    let [absolute, relative] = names;
    let Some(stop) = stop else {
        let why = format!("a `{source}` source needs `{absolute}` or `{relative}`");
        traffic.missing("stop", &why, report);
        return None;
    };
    for field in STOP.iter().filter(|field| !names.contains(&field.name)) {
        stop.conflict(field.name, &format!("does not stop a `{source}` source"), report);
    }
    let sessions = absolute == "sessions";
    let count = stop.whole(absolute, Whole::REQUESTS, report);
    let each = stop.real(relative, Real::Positive, report);
    let count = match (stop.states(absolute), stop.states(relative)) {
        (true, true) => {
            stop.conflict(relative, &format!("excludes `{absolute}`; state one"), report);
            return None;
        }
        (false, false) => {
            stop.missing(absolute, &format!("or `{relative}`; one count ends the run"), report);
            return None;
        }
        (true, false) if sessions => StopCount::Sessions(count?),
        (true, false) => StopCount::Requests(count?),
        (false, true) if sessions => StopCount::SessionsPerLoadUnit(each?),
        (false, true) => StopCount::RequestsPerLoadUnit(each?),
    };
    Some(Stop { count: Some(count), virtual_time: None })
}
