//! From a live run to `live.json` and `live.jsonl`.

use std::io;
use std::path::Path;

use crate::diag::{agreed, counted};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::exec::live::LiveEnvironment;
use crate::measure::live::{
    Calibration, CalibrationRow, ClientLimit, CountedBy, LIVE_DEFINITION, LiveErrors, LiveFailure,
};
use crate::plan::{Job, ReplayJob};
use crate::record::{LiveRun, SpoolWriter};
use crate::replay::wire::WirePlan;
use crate::workload::live::{Target, TokenCounter};

use super::figures;
use super::measured::SCHEMA;
use super::request;
use super::{LiveFiles, Measured};

/// A job that was sent, and all that its measurements are told with.
#[derive(Debug, Clone, Copy)]
pub struct LiveJob<'a> {
    /// The job.
    pub job: &'a Job,
    /// Its settings.
    pub replay: &'a ReplayJob,
    /// What was planned.
    pub plan: &'a WirePlan,
    /// The digest of the report of the plan.
    pub report: Sha256,
    /// What it was sent in.
    pub environment: &'a LiveEnvironment,
    /// The same traffic in virtual time, where the native engine answered it: or why there is none.
    pub simulated: Option<&'a Result<LiveRun, String>>,
}

/// Returns what a live run leaves.
///
/// # Errors
/// The answer of the system where requests are too many for memory and cannot be written to a temporary file.
pub fn measured(of: LiveJob<'_>, run: &LiveRun, scratch: Option<&Path>) -> io::Result<LiveFiles> {
    let by = counted_by(&of.replay.settings.tokens);
    let mut lines = SpoolWriter::new(scratch);
    for (index, request) in run.requests.iter().enumerate() {
        lines.push(&request::record(run, (index, request), by).to_document());
    }
    let requests = lines.finish()?;
    let metrics = figures::metrics(of.replay, run, by);
    let count = u64::try_from(run.requests.len()).expect("a count of things in memory fits");
    let limits = ClientLimit::of(run, is_held_back(of.plan));
    let value = object([
        ("calibration", calibration(of, run)),
        ("client", figures::client(run, &limits)),
        ("definition", Value::text(LIVE_DEFINITION)),
        ("duplication", duplication(of.plan, run)),
        ("ended_ns", run.ended.into()),
        ("environment", environment(of)),
        ("errors", figures::errors(run, &LiveErrors::of(run))),
        ("is_partial", Value::Bool(run.is_interrupted)),
        ("key", (*of.job.key().digest()).into()),
        ("phases", figures::phases(run)),
        ("report", of.report.into()),
        (
            "requests",
            object([("count", Value::count(count)), ("digest", requests.digest().into())]),
        ),
        ("schema", Value::text(SCHEMA)),
        ("summary", figures::summary(&metrics)),
        ("tally", figures::tally(&run.tally)),
        ("tokens_counted_by", Value::text(counter(by))),
        ("validity", validity((of, run), &limits, &figures::absent(&metrics))),
        ("wire", of.plan.digests().digest().into()),
    ]);
    Ok(LiveFiles { measured: Measured::of(value), requests })
}

/// Returns whose count of output tokens is used.
const fn counted_by(tokens: &TokenCounter) -> CountedBy {
    match tokens {
        TokenCounter::Server => CountedBy::Server,
        TokenCounter::Builtin | TokenCounter::File { .. } => CountedBy::Client,
    }
}

/// Returns the word of reports.
const fn counter(by: CountedBy) -> &'static str {
    match by {
        CountedBy::Server => "server",
        CountedBy::Client => "client",
    }
}

/// Returns whether lanes keep an open loop waiting: then lateness is none of the client's.
fn is_held_back(plan: &WirePlan) -> bool {
    plan.arrivals().is_some() && plan.lanes().is_some()
}

/// Returns how often traces were sent.
fn duplication(plan: &WirePlan, run: &LiveRun) -> Value {
    let instances = instances(run);
    let traces = u64::try_from(plan.graphs().len()).expect("64 bits");
    object([
        ("instances", Value::count(instances)),
        ("is_marked", Value::Bool(plan.is_marked())),
        ("traces", Value::count(traces)),
    ])
}

/// Returns how many instances were begun.
fn instances(run: &LiveRun) -> u64 {
    let all: std::collections::BTreeSet<u64> =
        run.requests.iter().map(|request| request.instance).collect();
    u64::try_from(all.len()).expect("64 bits")
}

/// Returns how far the simulation of the same traffic is from what was measured; `null` where no engine of ours answered.
fn calibration(of: LiveJob<'_>, run: &LiveRun) -> Value {
    let Some(Ok(simulated)) = of.simulated else { return Value::Null };
    let row = |row: &CalibrationRow| {
        object([
            ("live_ns", row.live.into()),
            ("metric", Value::text(row.metric)),
            ("simulated_ns", row.simulated.into()),
            ("statistic", Value::text(row.statistic.name())),
        ])
        .with("error_ppm", row.error().map(Value::from))
    };
    Value::List(Calibration::of(run, simulated).rows().iter().map(row).collect())
}

/// Returns where requests went, and what of the environment counts for nothing.
fn environment(of: LiveJob<'_>) -> Value {
    let endpoint = &of.replay.settings.endpoint;
    let target = match &endpoint.target {
        Target::Url(url) => url.clone(),
        Target::Unix(path) => format!("unix:{path}"),
        Target::Mock(_) => "mock".to_owned(),
    };
    let ignored = of.environment.ignored().map(Value::text);
    object([
        ("endpoint", Value::text(target)),
        ("proxy", endpoint.proxy.as_ref().map_or(Value::Null, Value::text)),
        ("proxy_variables_ignored", Value::List(ignored.collect())),
    ])
}

/// Returns whether the run can be believed, and what should be known of it.
fn validity((of, run): (LiveJob<'_>, &LiveRun), limits: &[ClientLimit], absent: &Value) -> Value {
    let failures: Vec<LiveFailure> = LiveFailure::of(run)
        .into_iter()
        // A run that a signal ended had no time to complete anything: nobody has failed.
        .filter(|it| !(run.is_interrupted && matches!(it, LiveFailure::NothingCompleted { .. })))
        .collect();
    let failure = |failure: &LiveFailure| {
        object([
            ("reason", Value::text(failure.name())),
            ("text", Value::text(failure.to_string())),
        ])
    };
    object([
        ("absent", absent.clone()),
        ("failures", Value::List(failures.iter().map(failure).collect())),
        ("valid", Value::Bool(failures.is_empty())),
        ("warnings", Value::List(warnings(of, run, limits).iter().map(Value::text).collect())),
    ])
}

/// Returns what people should know of a run: failures by kind, what was not sent, clones, signs of an overloaded client, proxies that
/// count for nothing.
fn warnings(of: LiveJob<'_>, run: &LiveRun, limits: &[ClientLimit]) -> Vec<String> {
    let sent = run.measured().count();
    let mut told: Vec<String> = LiveErrors::of(run)
        .kinds()
        .map(|(kind, error)| {
            format!(
                "of {} {} failed: {kind}, the first: {}",
                counted(sent, "request"),
                error.count,
                error.message
            )
        })
        .collect();
    let tally = &run.tally;
    let counts = [
        (tally.missed, "request", ["was", "were"], "due before the end and not sent"),
        (
            tally.overflowed,
            "session",
            ["ended"; 2],
            "early: the context had grown too long for the model",
        ),
        (
            tally.unsendable,
            "session",
            ["ended"; 2],
            "early: a call held an answer that there never was",
        ),
        (
            of.plan.selection().too_long,
            "trace",
            ["was", "were"],
            "left out by `select max-context-tokens`",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    told.extend(counts.map(|(count, noun, [one, many], what)| {
        format!("{} {} {what}", counted(count, noun), agreed(count, one, many))
    }));
    if let Some(Err(why)) = of.simulated {
        told.push(format!("the same traffic cannot be simulated: {why}"));
    }
    told.extend(of.plan.duplication(instances(run)));
    told.extend(limits.iter().map(|limit| format!("the client was the limit: {limit}")));
    let ignored: Vec<&str> = of.environment.ignored().collect();
    if !ignored.is_empty() {
        let names = ignored.join(", ");
        told.push(format!("{names} set and ignored: a scenario alone names a proxy"));
    }
    told
}
