//! A batch: planned jobs as data, with every file that they read by path and digest. Needs no scenario, and knows no neighbours.
//!
//! `bench plan --format nix-json` writes batches; a build derivation hands one to `bench exec-batch`.

use std::path::{Component, Path};

use serde::Deserialize;

use super::{Job, JobId, JobKey, Plan, plan_text};
use crate::diag::{Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};

/// The schema of a batch.
pub const BATCH_SCHEMA: &str = "touchstone.batch/1";

/// Jobs that run together, and all that they read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// A name that a build store takes; it follows from the ids and keys of the jobs.
    pub name: String,
    /// The files, sorted by path.
    pub inputs: Vec<BatchInput>,
    /// The jobs, in the plan's order.
    pub jobs: Vec<BatchJob>,
}

/// A file that a batch reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchInput {
    /// Its path below the project root, with `/`.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: Sha256,
}

/// A job as a batch holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchJob {
    /// Its name.
    pub id: JobId,
    /// Its key, which the scenario must give again.
    pub key: JobKey,
    /// The job as a scenario of its own, in KDL.
    pub scenario: String,
}

/// A batch as JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBatch {
    schema: String,
    name: String,
    inputs: Vec<WrittenInput>,
    jobs: Vec<WrittenJob>,
}

/// An input as JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenInput {
    path: String,
    sha256: String,
}

/// A job as JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenJob {
    id: String,
    key: String,
    scenario: String,
}

impl Batch {
    /// Returns the value of the JSON.
    pub fn value(&self) -> Value {
        let input = |input: &BatchInput| {
            object([
                ("path", Value::text(&input.path)),
                ("sha256", Value::text(input.sha256.hex())),
            ])
        };
        let job = |job: &BatchJob| {
            object([
                ("id", Value::text(job.id.as_str())),
                ("key", (*job.key.digest()).into()),
                ("scenario", Value::text(&job.scenario)),
            ])
        };
        object([
            ("inputs", Value::List(self.inputs.iter().map(input).collect())),
            ("jobs", Value::List(self.jobs.iter().map(job).collect())),
            ("name", Value::text(&self.name)),
            ("schema", Value::text(BATCH_SCHEMA)),
        ])
    }

    /// Reads the JSON of a batch, in whatever order its keys are; `file` is what people call it.
    ///
    /// # Errors
    /// [`Code::BatchWrong`] for anything else than a batch of this schema.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let wrong = |why: String| {
            Problem::new(Code::BatchWrong, format!("`{file}` is no batch: {why}"))
                .help("one element of `batches` of `bench plan FILE --format nix-json` is one")
        };
        let written: WrittenBatch =
            serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if written.schema != BATCH_SCHEMA {
            let found = written.schema;
            return Err(wrong(format!("schema `{found}`, this program reads `{BATCH_SCHEMA}`")));
        }
        if written.jobs.is_empty() {
            return Err(wrong("it has no job".to_owned()));
        }
        let inputs = written.inputs.into_iter().map(read_input).collect::<Result<_, _>>();
        let jobs = written.jobs.into_iter().map(read_job).collect::<Result<Vec<_>, _>>();
        let jobs = jobs.map_err(wrong)?;
        if let Some(job) = repeated(&jobs) {
            return Err(wrong(format!("it has job `{}` twice", job.id)));
        }
        Ok(Self { name: written.name, inputs: inputs.map_err(wrong)?, jobs })
    }

    /// Checks that every input lies below `root` and has its digest.
    ///
    /// # Errors
    /// [`Code::BatchInput`] for each that does not.
    pub fn verify(&self, root: &Path) -> Result<(), Bag> {
        let mut bag = Bag::new();
        for input in &self.inputs {
            let path = &input.path;
            let problem = |why: String| {
                let message = format!("input `{path}` of batch `{}` {why}", self.name);
                Problem::new(Code::BatchInput, message)
            };
            match std::fs::read(root.join(path)) {
                Err(error) => bag.push(problem(format!("cannot be read: {error}"))),
                Ok(bytes) if Sha256::of(&bytes) != input.sha256 => {
                    let (stated, found) = (input.sha256, Sha256::of(&bytes));
                    let both = format!("planned {stated}\nfound   {found}");
                    bag.push(problem("is not what was planned with".to_owned()).help(both));
                }
                Ok(_) => {}
            }
        }
        if bag.is_empty() { Ok(()) } else { Err(bag) }
    }

    /// Returns each job planned again from its own text, under its own name, and the warnings. `root` holds the inputs.
    ///
    /// # Errors
    /// What planning finds; [`Code::BatchJob`] for a text that plans another job.
    pub fn plans(&self, root: &Path) -> Result<(Vec<Plan>, Bag), Bag> {
        let (mut plans, mut findings) = (Vec::with_capacity(self.jobs.len()), Bag::new());
        for job in &self.jobs {
            match job.plan(root) {
                Ok((plan, warnings)) => {
                    plans.push(plan);
                    findings.extend(warnings);
                }
                Err(bag) => findings.extend(bag),
            }
        }
        if findings.has_errors() { Err(findings) } else { Ok((plans, findings)) }
    }
}

impl BatchJob {
    /// Plans the job from its text.
    fn plan(&self, root: &Path) -> Result<(Plan, Bag), Bag> {
        let source = SourceFile::new(&format!("{}.kdl", self.id), &self.scenario);
        let (mut plan, warnings) = plan_text(&source, root)?;
        let other = |why: String| {
            let message = format!("the text of job `{}` plans another one: {why}", self.id);
            let problem = Problem::new(Code::BatchJob, message);
            Bag::from(problem.help("write the plan again: bench plan FILE --format nix-json"))
        };
        let [job] = plan.jobs.as_slice() else {
            return Err(other(format!("{} jobs", plan.jobs.len())));
        };
        if job.key() != self.key {
            return Err(other(format!("key {}, the batch says {}", job.key(), self.key)));
        }
        plan.jobs = vec![Job { id: self.id.clone(), ..job.clone() }];
        Ok((plan, warnings))
    }
}

/// Reads an input, or says what is wrong with it.
fn read_input(written: WrittenInput) -> Result<BatchInput, String> {
    let path = written.path;
    let is_below = !path.is_empty()
        && Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        return Err(format!("input `{path}` lies outside of the project root"));
    }
    let digest = written.sha256.parse().map_err(|_| format!("the sha256 of `{path}` is none"))?;
    Ok(BatchInput { path, sha256: digest })
}

/// Reads a job, or says what is wrong with it.
fn read_job(written: WrittenJob) -> Result<BatchJob, String> {
    let (id, scenario) = (JobId::new(written.id), written.scenario);
    let key = written.key.parse().map_err(|_| format!("the key of job `{id}` is no digest"))?;
    Ok(BatchJob { id, key: JobKey::from_digest(key), scenario })
}

/// Returns a job that is there twice.
fn repeated(jobs: &[BatchJob]) -> Option<&BatchJob> {
    let mut ids = std::collections::BTreeSet::new();
    jobs.iter().find(|job| !ids.insert(&job.id))
}
