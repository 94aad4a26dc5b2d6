//! `provenance.json`: who ran what, where and when, as an in-toto statement. The one file with anything volatile in it.

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::plan::{Plan, PlannedPin};

use super::JobResult;
use super::schema::{LIVE, LIVE_REQUESTS, REPORT, REQUESTS};

/// Where and when a run happened. Enters provenance and nothing else.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// When it started: RFC 3339 in UTC; absent where the file must be the same whenever it is written.
    pub started: Option<String>,
    /// When it ended: likewise.
    pub finished: Option<String>,
    /// The machine's name, where it has one and may be told.
    pub host: Option<String>,
    /// How many jobs ran side by side; absent where none ran here.
    pub threads: Option<usize>,
    /// The digest of the running program, where it was computed.
    pub program: Option<Sha256>,
    /// The partial runs that the run was merged from.
    pub parts: Vec<MergedPart>,
}

/// A partial run that a run was merged from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPart {
    /// What it was: `partition hash:2/5`.
    pub name: String,
    /// SHA-256 of its `partial.json`.
    pub digest: Sha256,
    /// The program that computed it, where it is known.
    pub program: Option<Sha256>,
    /// Where and when, as it tells.
    pub circumstances: Option<Value>,
}

/// Returns the in-toto Statement v1 of a run: it vouches for `run.json`, and for each job's report and requests.
///
/// Source: in-toto attestation, Statement v1; SLSA provenance v1 for the predicate.
pub fn statement(
    plan: &Plan,
    results: &[JobResult],
    run_file: &Sha256,
    circumstances: &Circumstances,
) -> Value {
    let files = results.iter().flat_map(subjects);
    let subjects = std::iter::once(resource("run.json", run_file)).chain(files).collect();
    object([
        ("_type", Value::text("https://in-toto.io/Statement/v1")),
        ("predicate", predicate(plan, circumstances)),
        ("predicateType", Value::text("https://slsa.dev/provenance/v1")),
        ("subject", Value::List(subjects)),
    ])
}

/// Returns the files of a job: its report and requests, and what was measured live.
fn subjects(result: &JobResult) -> Vec<Value> {
    let name = |file: &str| format!("{}/{file}", super::names::job_folder(&result.id));
    let report = result.report().map(|report| (REPORT, report.digest()));
    let requests = result.report().and_then(|report| Some((REQUESTS, report.requests_digest()?)));
    let live = result.measured().map(|live| (LIVE, live.digest()));
    let sent = result.measured().and_then(|live| Some((LIVE_REQUESTS, live.requests_digest()?)));
    let files = [report, requests, live, sent].into_iter().flatten();
    files.map(|(file, digest)| resource(&name(file), &digest)).collect()
}

/// Returns the predicate: what went in, who ran it, when.
fn predicate(plan: &Plan, circumstances: &Circumstances) -> Value {
    let parameters = object([("scenario", Value::text(&plan.scenario))]);
    object([
        (
            "buildDefinition",
            object([
                ("buildType", Value::text("touchstone.run/1")),
                ("externalParameters", parameters),
                ("internalParameters", internal_parameters(circumstances)),
                ("resolvedDependencies", Value::List(dependencies(plan))),
            ]),
        ),
        (
            "runDetails",
            object([
                ("builder", builder()),
                ("byproducts", Value::List(circumstances.parts.iter().map(part).collect())),
                ("metadata", metadata(circumstances)),
            ]),
        ),
    ])
}

/// Returns when the run was.
fn metadata(circumstances: &Circumstances) -> Value {
    let times = [("finishedOn", &circumstances.finished), ("startedOn", &circumstances.started)];
    let told = times.into_iter().filter_map(|(name, time)| Some((name, time.as_ref()?)));
    Value::Object(told.map(|(name, time)| (name.to_owned(), Value::text(time))).collect())
}

/// Returns a partial run as a resource, with where and when it was computed.
fn part(part: &MergedPart) -> Value {
    let annotations = object([
        ("circumstances", part.circumstances.clone().unwrap_or(Value::Null)),
        ("program", part.program.map_or(Value::Null, Value::from)),
    ]);
    object([
        ("annotations", annotations),
        ("digest", object([("sha256", Value::text(part.digest.hex()))])),
        ("name", Value::text(&part.name)),
    ])
}

/// Returns machine, threads and times, as a partial run tells them.
pub(super) fn circumstances_value(circumstances: &Circumstances) -> Value {
    object([("machine", internal_parameters(circumstances)), ("times", metadata(circumstances))])
}

/// Returns machine and threads.
fn internal_parameters(circumstances: &Circumstances) -> Value {
    let threads = circumstances.threads.map(|threads| u64::try_from(threads).unwrap_or(u64::MAX));
    object([
        ("architecture", Value::text(std::env::consts::ARCH)),
        ("host", circumstances.host.as_deref().map_or(Value::Null, Value::text)),
        ("jobs", threads.map_or(Value::Null, Value::count)),
        ("os", Value::text(std::env::consts::OS)),
        ("program", circumstances.program.map_or(Value::Null, Value::from)),
    ])
}

/// Returns the tool with its version.
fn builder() -> Value {
    object([
        ("id", Value::text("touchstone/bench")),
        ("version", object([("bench", Value::text(env!("CARGO_PKG_VERSION")))])),
    ])
}

/// Returns the files and pins that the plan was made from.
fn dependencies(plan: &Plan) -> Vec<Value> {
    let source = std::iter::once(resource(&plan.file, &plan.source_digest));
    let includes = plan.includes.iter().map(|(path, digest)| resource(path, digest));
    let name = |pin: &PlannedPin| format!("{} {}", pin.kind, pin.name);
    let pins = plan.pins.iter().map(|pin| resource(&name(pin), &pin.digest));
    source.chain(includes).chain(pins).collect()
}

/// Returns a resource descriptor.
fn resource(name: &str, digest: &Sha256) -> Value {
    object([
        ("digest", object([("sha256", Value::text(digest.hex()))])),
        ("name", Value::text(name)),
    ])
}
