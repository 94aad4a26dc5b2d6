//! `run.json`: the jobs of a run with their keys, digests and ends.

use crate::digest::canonical::{Value, object};
use crate::digest::{Domain, Sha256};
use crate::plan::{JobId, Plan};

use super::json::{list_at, parse, text_at};
use super::{JobResult, RUN_SCHEMA};

/// A run as `run.json` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// The scenario's name.
    pub scenario: String,
    /// The run digest: its job ids and report digests.
    pub digest: Sha256,
    /// The jobs, in the plan's order.
    pub jobs: Vec<RunJob>,
}

/// A job as `run.json` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunJob {
    /// Its name.
    pub id: JobId,
    /// Its report digest, where it has a report.
    pub report: Option<Sha256>,
    /// How it ended.
    pub outcome: String,
}

/// A text that is no `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a run file of schema `{RUN_SCHEMA}`: {found}")]
pub struct RunFileError {
    /// What was found.
    found: String,
}

/// Returns the value of `run.json` and the run digest.
pub fn run_file(plan: &Plan, results: &[JobResult]) -> (Value, Sha256) {
    let digest = run_digest(results);
    let include = |(path, digest): &(String, Sha256)| {
        object([("digest", (*digest).into()), ("path", Value::text(path))])
    };
    let value = object([
        ("digest", digest.into()),
        ("includes", Value::List(plan.includes.iter().map(include).collect())),
        ("jobs", Value::List(results.iter().map(job).collect())),
        ("plan", plan_digest(results).into()),
        ("scenario", Value::text(&plan.scenario)),
        ("schema", Value::text(RUN_SCHEMA)),
        ("source", plan.source_digest.into()),
    ]);
    (value, digest)
}

/// Returns the digest of job ids and report digests.
fn run_digest(results: &[JobResult]) -> Sha256 {
    let pair = |result: &JobResult| {
        let report = result.report().map_or(Value::Null, |report| report.digest().into());
        Value::List(vec![Value::text(result.id.as_str()), report])
    };
    Domain::Run.digest(&Value::List(results.iter().map(pair).collect()).to_bytes())
}

/// Returns the digest of job ids and keys.
fn plan_digest(results: &[JobResult]) -> Sha256 {
    let pair = |result: &JobResult| {
        Value::List(vec![Value::text(result.id.as_str()), (*result.key.digest()).into()])
    };
    Value::List(results.iter().map(pair).collect()).digest()
}

/// Returns one job.
fn job(result: &JobResult) -> Value {
    object([
        ("id", Value::text(result.id.as_str())),
        ("key", (*result.key.digest()).into()),
        ("outcome", Value::text(result.outcome())),
        ("report", result.report().map_or(Value::Null, |report| report.digest().into())),
    ])
}

impl RunFile {
    /// Reads a run file.
    ///
    /// # Errors
    /// [`RunFileError`] when the bytes are none of this schema.
    pub fn parse(bytes: &[u8]) -> Result<Self, RunFileError> {
        let wrong = |found: String| RunFileError { found };
        let value = parse(bytes).map_err(wrong)?;
        let schema = text_at(&value, &["schema"]).unwrap_or("none");
        if schema != RUN_SCHEMA {
            return Err(wrong(format!("schema `{schema}`")));
        }
        let field =
            |name: &str| text_at(&value, &[name]).ok_or(wrong(format!("`{name}` is missing")));
        let digest = field("digest")?.parse().map_err(|_| wrong("a bad digest".to_owned()))?;
        let jobs = list_at(&value, &["jobs"]).iter().map(read_job);
        Ok(Self {
            scenario: field("scenario")?.to_owned(),
            digest,
            jobs: jobs.collect::<Option<_>>().ok_or(wrong("a job without an id".to_owned()))?,
        })
    }
}

/// Reads one job.
fn read_job(value: &Value) -> Option<RunJob> {
    Some(RunJob {
        id: JobId::new(text_at(value, &["id"])?),
        report: text_at(value, &["report"]).and_then(|text| text.parse().ok()),
        outcome: text_at(value, &["outcome"])?.to_owned(),
    })
}
