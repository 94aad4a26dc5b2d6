//! `run.json`: the jobs of a run with their keys, digests and ends.

use crate::digest::canonical::{Value, object};
use crate::digest::{Domain, Sha256};
use crate::plan::{JobId, Plan, PlannedPin};

use super::json::{at, list_at, parse, text_at};
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
        ("pins", Value::List(plan.pins.iter().map(pin).collect())),
        ("plan", plan.digest().into()),
        ("scenario", Value::text(&plan.scenario)),
        ("schema", Value::text(RUN_SCHEMA)),
        ("source", plan.source_digest.into()),
    ]);
    (value, digest)
}

/// Returns what the folder of a run is called: its digest in short, and behind it that of what was measured, where something was: runs
/// that planned the same and measured otherwise are kept side by side.
pub fn run_name(results: &[JobResult], digest: &Sha256) -> String {
    let measured = results.iter().filter_map(JobResult::measured).map(|it| it.digest().into());
    let measured: Vec<Value> = measured.collect();
    if measured.is_empty() {
        return digest.short();
    }
    format!("{}-{}", digest.short(), Value::List(measured).digest().short())
}

/// Returns one pin.
fn pin(pin: &PlannedPin) -> Value {
    object([
        ("digest", pin.digest.into()),
        ("kind", Value::text(pin.kind)),
        ("name", Value::text(&pin.name)),
    ])
}

/// Returns the digest of job ids and report digests.
fn run_digest(results: &[JobResult]) -> Sha256 {
    let pair = |result: &JobResult| {
        let report = result.report().map_or(Value::Null, |report| report.digest().into());
        Value::List(vec![Value::text(result.id.as_str()), report])
    };
    Domain::Run.digest(&Value::List(results.iter().map(pair).collect()).to_bytes())
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
        let jobs = list_at(&value, &["jobs"]).iter().map(|job| read_job(job).map_err(wrong));
        Ok(Self {
            scenario: field("scenario")?.to_owned(),
            digest,
            jobs: jobs.collect::<Result<_, _>>()?,
        })
    }
}

/// Reads one job, or says what is wrong with it. A job without a report has `null` for its digest, and nothing else will do.
fn read_job(value: &Value) -> Result<RunJob, String> {
    let id = text_at(value, &["id"]).ok_or("a job without an id")?;
    let outcome = text_at(value, &["outcome"]).ok_or(format!("job `{id}` has no outcome"))?;
    let report = match at(value, &["report"]) {
        Some(Value::Null) => None,
        Some(Value::Text(text)) => Some(
            text.parse().map_err(|_| format!("the report digest of job `{id}` is no digest"))?,
        ),
        Some(_) | None => return Err(format!("job `{id}` has neither a report digest nor `null`")),
    };
    Ok(RunJob { id: JobId::new(id), report, outcome: outcome.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{Setup, keep_nothing, plan, run};

    #[test]
    fn a_damaged_report_digest_is_an_error_and_not_a_job_without_a_report() {
        let plan = plan(1);
        let results = run(&plan, Setup::default(), &keep_nothing);
        let (file, _) = run_file(&plan, &results);
        let text = String::from_utf8(file.to_document()).expect("UTF-8");
        let digest = results[0].report().expect("it ran").digest().to_string();
        assert!(text.contains(&format!("\"report\":\"{digest}\"")), "{text}");
        let read = |report: &str| {
            let text = text.replace(&format!("\"report\":\"{digest}\""), report);
            RunFile::parse(text.as_bytes())
        };
        assert!(read(&format!("\"report\":\"{digest}\"")).expect("whole").jobs[0].report.is_some());
        assert_eq!(read("\"report\":null").expect("no report").jobs[0].report, None);
        for damaged in ["\"report\":\"sha256:12\"", "\"report\":7", "\"reports\":null"] {
            let error = read(damaged).expect_err(damaged).to_string();
            assert!(error.contains("s/w/d/native/requests=0"), "{damaged}: {error}");
        }
    }
}
