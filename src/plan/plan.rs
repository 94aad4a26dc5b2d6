//! An ordered list of jobs with what it was planned from.

use std::ops::Range;
use std::path::PathBuf;

use crate::diag::{SourceFile, Span};
use crate::digest::Sha256;
use crate::digest::canonical::Value;

use super::{EngineIdentity, Job};

/// A pin that a plan was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedPin {
    /// The kind as scenarios write it: `trace`, `engine`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its digest. Scenarios repeat it, except that of an engine, which they pin by version and checksum.
    pub digest: Sha256,
}

/// The jobs of one `simulate`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedBlock {
    /// Its name.
    pub name: String,
    /// Its jobs: indices into [`Plan::jobs`].
    pub jobs: Range<usize>,
    /// How many of them one build derivation runs; no result depends on it.
    pub batch: u64,
}

/// An ordered list of jobs with what it was planned from.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario's name.
    pub scenario: String,
    /// The question it asks.
    pub about: Option<String>,
    /// The scenario file, for labels of later problems.
    pub source: SourceFile,
    /// The scenario file relative to the root; its bare name where it lies outside.
    pub file: String,
    /// SHA-256 of the scenario file's bytes.
    pub source_digest: Sha256,
    /// Included files: path relative to the root, and SHA-256 of the bytes.
    pub includes: Vec<(String, Sha256)>,
    /// The pins, by kind and name.
    pub pins: Vec<PlannedPin>,
    /// The jobs, in the order written, last axis fastest.
    pub jobs: Vec<Job>,
    /// The jobs of each `simulate`, in the order written, and how many of them one build derivation runs.
    pub blocks: Vec<PlannedBlock>,
    /// The golden file relative to the root, and where it is named; absent without a `gate`.
    pub golden: Option<(PathBuf, Span)>,
    /// The project root: the nearest ancestor of the scenario that holds `pins/`.
    pub root: PathBuf,
}

impl Plan {
    /// Returns the same plan with every simulation on another engine; see [`Job::under`].
    #[must_use]
    pub fn under(&self, engine: &EngineIdentity) -> Self {
        let jobs = self.jobs.iter().map(|job| job.under(engine)).collect();
        Self { jobs, ..self.clone() }
    }

    /// Returns the digest of its job ids and keys: what two runs must share to be parts of one.
    pub fn digest(&self) -> Sha256 {
        digest_of_jobs(&self.jobs)
    }
}

/// Returns the digest of the ids and keys of some jobs.
pub(super) fn digest_of_jobs(jobs: &[Job]) -> Sha256 {
    let pair =
        |job: &Job| Value::List(vec![Value::text(job.id.as_str()), (*job.key().digest()).into()]);
    Value::List(jobs.iter().map(pair).collect()).digest()
}
