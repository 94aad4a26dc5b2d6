//! `partial.json`: which jobs of which plan a partial run holds, how they ended, and which program computed them.

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::exec::{JobError, Partition};
use crate::plan::{JobId, JobKey};
use crate::report::execute::PARTIAL as PARTIAL_OUTCOME;
use crate::report::json::{at, list_at, parse, text_at};
use crate::report::provenance::circumstances_value;
use crate::report::{Circumstances, JobResult, JobState};

/// The schema of `partial.json`.
pub const PARTIAL_SCHEMA: &str = "touchstone.partial/1";

/// A partial run as `partial.json` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialFile {
    /// Which jobs these are.
    pub share: Share,
    /// The digest of the program that computed them, where it was at hand.
    pub program: Option<Sha256>,
    /// When and where, as the file has it; a batch tells nothing of it, so that its files are the same wherever it runs.
    pub circumstances: Option<Value>,
    /// The jobs, in the plan's order.
    pub jobs: Vec<PartialJob>,
}

/// Which jobs of a plan a partial run holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Share {
    /// Those of a partition.
    Partition {
        /// The partition.
        partition: Partition,
        /// The scenario's name.
        scenario: String,
        /// The scenario file relative to the root.
        file: String,
        /// The digest of the plan.
        plan: Sha256,
    },
    /// Those of a batch, which does not know the plan.
    Batch {
        /// The batch's name.
        name: String,
    },
}

/// A job as `partial.json` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialJob {
    /// Its name.
    pub id: JobId,
    /// Its key.
    pub key: JobKey,
    /// Its report digest, where it has a report.
    pub report: Option<Sha256>,
    /// How it ended, in the words of `run.json`; `interrupted` where it did not.
    pub outcome: String,
    /// Why it has no report.
    pub why: Option<String>,
}

impl PartialFile {
    /// Returns the file of some results.
    pub fn new(share: Share, results: &[JobResult], circumstances: &Circumstances) -> Self {
        let told = match share {
            Share::Partition { .. } => Some(circumstances_value(circumstances)),
            Share::Batch { .. } => None,
        };
        Self {
            share,
            program: circumstances.program,
            circumstances: told,
            jobs: results.iter().map(PartialJob::of).collect(),
        }
    }

    /// Returns the value of the file.
    pub fn value(&self) -> Value {
        object([
            ("circumstances", self.circumstances.clone().unwrap_or(Value::Null)),
            ("jobs", Value::List(self.jobs.iter().map(PartialJob::value).collect())),
            ("program", self.program.map_or(Value::Null, Value::from)),
            ("schema", Value::text(PARTIAL_SCHEMA)),
            ("share", self.share.value()),
        ])
    }

    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = parse(bytes)?;
        let schema = text_at(&value, &["schema"]).unwrap_or("none");
        if schema != PARTIAL_SCHEMA {
            return Err(format!("schema `{schema}`, this program reads `{PARTIAL_SCHEMA}`"));
        }
        let jobs = list_at(&value, &["jobs"]).iter().map(PartialJob::read);
        let circumstances = at(&value, &["circumstances"]).filter(|told| **told != Value::Null);
        Ok(Self {
            share: Share::read(&value)?,
            program: optional_digest(&value, "program")?,
            circumstances: circumstances.cloned(),
            jobs: jobs.collect::<Result<_, _>>()?,
        })
    }
}

impl Share {
    /// Returns the value of the file.
    fn value(&self) -> Value {
        match self {
            Self::Batch { name } => object([("batch", Value::text(name))]),
            Self::Partition { partition, scenario, file, plan } => object([
                ("file", Value::text(file)),
                ("partition", Value::text(partition.to_string())),
                ("plan", (*plan).into()),
                ("scenario", Value::text(scenario)),
            ]),
        }
    }

    /// Reads the share of a file.
    fn read(value: &Value) -> Result<Self, String> {
        let field = |name: &str| text_at(value, &["share", name]);
        if let Some(name) = field("batch") {
            return Ok(Self::Batch { name: name.to_owned() });
        }
        let required = |name: &str| field(name).ok_or(format!("`share.{name}` is missing"));
        Ok(Self::Partition {
            partition: required("partition")?.parse().map_err(|error| format!("{error}"))?,
            scenario: required("scenario")?.to_owned(),
            file: required("file")?.to_owned(),
            plan: required("plan")?.parse().map_err(|_| "`share.plan` is no digest".to_owned())?,
        })
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Partition { partition, .. } => write!(f, "partition {partition}"),
            Self::Batch { name } => write!(f, "batch {name}"),
        }
    }
}

impl PartialJob {
    /// Returns whether the job came to an end of its own. Live traffic that a signal ended has not: another try measures the whole.
    pub fn is_ended(&self) -> bool {
        self.outcome != JobError::Interrupted.name() && self.outcome != PARTIAL_OUTCOME
    }

    /// Returns the job of a result. What could not be written has not ended: another try may fare better.
    fn of(result: &JobResult) -> Self {
        let outcome = match &result.state {
            JobState::Unreported(JobError::Unwritable { .. }) => JobError::Interrupted.name(),
            JobState::Unreported(
                JobError::Simulation(_)
                | JobError::Runner(_)
                | JobError::Traffic { .. }
                | JobError::Interrupted
                | JobError::Panicked { .. }
                | JobError::Elsewhere { .. },
            )
            | JobState::Reported { .. } => result.outcome(),
        };
        let why = match &result.state {
            JobState::Reported { .. } => None,
            JobState::Unreported(error) => Some(error.to_string()),
        };
        let report = result.report().map(super::super::Report::digest);
        Self { id: result.id.clone(), key: result.key, report, outcome: outcome.to_owned(), why }
    }

    /// Returns the value of the file.
    fn value(&self) -> Value {
        object([
            ("id", Value::text(self.id.as_str())),
            ("key", (*self.key.digest()).into()),
            ("outcome", Value::text(&self.outcome)),
            ("report", self.report.map_or(Value::Null, Value::from)),
            ("why", self.why.as_ref().map_or(Value::Null, Value::text)),
        ])
    }

    /// Reads a job, or says what is wrong with it.
    fn read(value: &Value) -> Result<Self, String> {
        let id = text_at(value, &["id"]).ok_or("a job without an id")?;
        let wrong = |what: &str| format!("the {what} of job `{id}` is missing or wrong");
        let key = text_at(value, &["key"]).and_then(|key| key.parse().ok());
        Ok(Self {
            id: JobId::new(id),
            key: JobKey::from_digest(key.ok_or(wrong("key"))?),
            report: optional_digest(value, "report").map_err(|_| wrong("report"))?,
            outcome: text_at(value, &["outcome"]).ok_or(wrong("outcome"))?.to_owned(),
            why: text_at(value, &["why"]).map(str::to_owned),
        })
    }
}

/// Returns a digest that may be `null`; nothing else will do.
fn optional_digest(value: &Value, name: &str) -> Result<Option<Sha256>, String> {
    match at(value, &[name]) {
        Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => {
            text.parse().map(Some).map_err(|_| format!("`{name}` is no digest"))
        }
        Some(_) | None => Err(format!("`{name}` is neither a digest nor `null`")),
    }
}
