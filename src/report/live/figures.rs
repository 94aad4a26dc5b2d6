//! The parts of `live.json`.

use crate::digest::canonical::{Value, object};
use crate::measure::live::{ClientLimit, CountedBy, LiveErrors, LiveMetrics};
use crate::plan::ReplayJob;
use crate::record::{LiveRun, LiveTally};
use crate::report::build::bounds;

/// Returns the metrics of a run under the job's SLA.
pub(super) fn metrics(replay: &ReplayJob, run: &LiveRun, by: CountedBy) -> LiveMetrics {
    let bounds = replay.settings.sla.as_ref().map(bounds);
    LiveMetrics::of(run, bounds.as_ref(), by)
}

/// Returns every figure by name.
pub(super) fn summary(metrics: &LiveMetrics) -> Value {
    Value::Object(metrics.figures().map(|(name, it)| (name.to_string(), it.into())).collect())
}

/// Returns what is absent, and why.
pub(super) fn absent(metrics: &LiveMetrics) -> Value {
    let reasons = metrics.absent();
    Value::Object(reasons.map(|(name, why)| (name.to_string(), Value::text(why.name()))).collect())
}

/// Returns failures by kind, with the first of each as an index of `live.jsonl`.
pub(super) fn errors(run: &LiveRun, errors: &LiveErrors) -> Value {
    let call = |index: usize| {
        run.requests.get(index).and_then(|request| run.recorded(request)).map(|call| &call.id)
    };
    let kind = |(kind, error): (&str, &crate::measure::live::ErrorKind)| {
        object([
            ("count", Value::count(error.count)),
            ("first", Value::count(u64::try_from(error.first).expect("64 bits"))),
            ("kind", Value::text(kind)),
            ("message", Value::text(&error.message)),
        ])
        .with("call", call(error.first).map(Value::text))
    };
    Value::List(errors.kinds().map(kind).collect())
}

/// Returns the phases and when they began.
pub(super) fn phases(run: &LiveRun) -> Value {
    let phase = |(phase, at): &(crate::record::Phase, crate::units::Nanos)| {
        object([("at_ns", (*at).into()), ("phase", Value::text(phase.name()))])
    };
    Value::List(run.phases.iter().map(phase).collect())
}

/// Returns what became of instances.
pub(super) fn tally(tally: &LiveTally) -> Value {
    object([
        ("completed", Value::count(tally.completed)),
        ("cut", Value::count(tally.cut)),
        ("missed", Value::count(tally.missed)),
        ("overflowed", Value::count(tally.overflowed)),
        ("skipped_ns", tally.skipped.into()),
        ("unsendable", Value::count(tally.unsendable)),
    ])
}

/// Returns what the client itself was like.
pub(super) fn client(run: &LiveRun, limits: &[ClientLimit]) -> Value {
    let client = &run.client;
    let limits = limits.iter().map(|limit| Value::text(limit.to_string()));
    object([("limits", Value::List(limits.collect())), ("observed_ns", client.observed.into())])
        .with("busy_ns", client.busy.map(Value::from))
        .with("waited_ns", client.waited.map(Value::from))
}
