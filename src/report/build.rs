//! From a job and its run record to the report.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::deployment::{Worker, WorkerRole, Workers};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::exec::LoadedTrace;
use crate::measure::{
    Bounds, DEFINITION, Failure, Invariant, Metrics, Unserved, Validity, Violation,
};
use crate::plan::{Job, SCHEMA, SimulationJob, Sla};
use crate::record::RunRecord;
use crate::units::Nanos;

use super::ceiling::ceiling;
use super::limits::limits;
use super::{Artifacts, Report, Section, requests, summary};

/// Returns what a finished simulation leaves.
///
/// Nothing that the job's key does not decide gets in: not the job's id, not the names of pins. What is too long for memory is in
/// files of `scratch`, which go away with the artifacts.
///
/// # Errors
/// The answer of the system where records are too many for memory and cannot be written to a temporary file.
pub fn build(
    job: &Job,
    simulation: &SimulationJob,
    trace: Option<&LoadedTrace>,
    record: RunRecord,
    scratch: Option<&Path>,
) -> io::Result<Artifacts> {
    let bounds = simulation.sla.as_ref().map(bounds);
    let corpus = trace.map(|trace| trace.corpus.as_ref());
    let broken = Invariant::violations(&record, &limits(simulation, corpus));
    let ceiling = ceiling(simulation, corpus, &record)?;
    let metrics = Metrics::of(&record, bounds.as_ref(), ceiling);
    let request_lines = requests::lines(&record.requests, bounds.as_ref(), scratch)?;
    let invariants = invariants(&Invariant::listed(&record, &broken), &broken);
    let unserved = Unserved::of(&record);
    let offered = u64::try_from(record.requests.len()).unwrap_or(u64::MAX);
    let validity = Validity::of(offered, &unserved, broken);
    let sections = [
        (Section::Inputs, inputs(job, simulation, trace)),
        (Section::Requests, counted(record.requests.len(), request_lines.digest())),
        (Section::Events, events(&record)),
        (Section::Summary, summary::summary(&metrics, &record)),
    ];
    let digests = sections
        .iter()
        .map(|(section, value)| (section.name().to_owned(), Value::from(value.digest())));
    let mut fields = BTreeMap::from([
        ("definition".to_owned(), Value::text(DEFINITION)),
        ("invariants".to_owned(), invariants),
        ("schema".to_owned(), Value::text(SCHEMA)),
        ("sections".to_owned(), Value::Object(digests.collect())),
        ("validity".to_owned(), validity_value(&validity, &metrics, &warnings(&unserved, &record))),
    ]);
    fields.extend(sections.into_iter().map(|(section, value)| (section.name().to_owned(), value)));
    Ok(Artifacts {
        report: Report::of(Value::Object(fields)),
        requests: request_lines,
        events: record.transcript.lines,
        live: None,
    })
}

/// Returns the `inputs` section: the canonical job, its key, and what the reader of the trace counted.
fn inputs(job: &Job, simulation: &SimulationJob, trace: Option<&LoadedTrace>) -> Value {
    let bytes = |role, worker: &Worker| simulation.kv_bytes_per_token(role, &worker.kv_cache);
    let (of_prompts, of_decode) = match &simulation.deployment.workers {
        Workers::Aggregated(worker) => (bytes(WorkerRole::Aggregated, worker), None),
        Workers::Disaggregated { prefill, decode } => {
            (bytes(WorkerRole::Prefill, prefill), Some(bytes(WorkerRole::Decode, decode)))
        }
    };
    let mut fields = vec![
        ("context_length", simulation.context_limit().map_or(Value::Null, Value::from)),
        ("job", job.canonical()),
        ("key", (*job.key().digest()).into()),
        ("kv_bytes_per_token", Value::count(of_prompts)),
        ("trace", trace.map_or(Value::Null, |trace| trace.counts.canonical())),
    ];
    let workers = simulation.deployment.workers_by_role();
    let assumed = workers.iter().find_map(|(_, worker)| worker.kv_cache.eviction.assumption());
    fields.extend(assumed.map(|assumed| ("kv_eviction_assumption", Value::text(assumed))));
    fields.extend(of_decode.map(|bytes| ("decode_kv_bytes_per_token", Value::count(bytes))));
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Returns the `events` section.
fn events(record: &RunRecord) -> Value {
    object([
        ("count", Value::count(record.transcript.count)),
        ("digest", record.transcript.digest.into()),
    ])
}

/// Returns a number of lines and their digest.
fn counted(count: usize, digest: Sha256) -> Value {
    let count = u64::try_from(count).expect("a count of things in memory fits");
    object([("count", Value::count(count)), ("digest", digest.into())])
}

/// Returns every law with whether it holds.
fn invariants(listed: &[Invariant], broken: &[Violation]) -> Value {
    let law = |law: &Invariant| {
        let holds = broken.iter().all(|violation| violation.invariant != *law);
        object([("holds", Value::Bool(holds)), ("id", Value::text(law.id()))])
    };
    Value::List(listed.iter().map(law).collect())
}

/// Returns what people should know of a run: requests that were refused or failed, and what the engine itself says.
///
/// A request that a time limit cut is none of these: `requests_unfinished` counts it.
fn warnings(unserved: &[Unserved], record: &RunRecord) -> Vec<String> {
    let offered = record.requests.len();
    let lost = unserved.iter().filter(|kind| !kind.is_cut());
    let told = lost.map(|kind| format!("of {offered} requests {kind}"));
    told.chain(record.warnings.iter().cloned()).collect()
}

/// Returns why a job has failed, and what to change where that is known.
fn failure(failure: &Failure) -> Value {
    let mut fields = BTreeMap::from([
        ("reason".to_owned(), Value::text(failure.name())),
        ("text".to_owned(), Value::text(failure.to_string())),
    ]);
    if let Some(advice) = failure.advice() {
        fields.insert("help".to_owned(), Value::text(advice.help));
        fields.insert("setting".to_owned(), Value::text(advice.setting));
    }
    Value::Object(fields)
}

/// Returns the `validity` section.
fn validity_value(validity: &Validity, metrics: &Metrics, warnings: &[String]) -> Value {
    object([
        ("absent", summary::absent(metrics)),
        ("failures", Value::List(validity.failures().iter().map(failure).collect())),
        ("valid", Value::Bool(validity.is_valid())),
        ("warnings", Value::List(warnings.iter().map(Value::text).collect())),
    ])
}

/// Returns the bounds of an SLA. A bound beyond 584 years holds always; decoders refuse one that is negative or no number.
pub(super) fn bounds(sla: &Sla) -> Bounds {
    let nanos = |ms: Option<f64>| ms.map(|ms| Nanos::from_ms(ms).unwrap_or(Nanos::new(u64::MAX)));
    Bounds { ttft: nanos(sla.ttft_ms), tpot: nanos(sla.tpot_ms), e2e: nanos(sla.e2e_ms) }
}
