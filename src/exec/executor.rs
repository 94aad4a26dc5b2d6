//! Who runs a simulation job: the seam where faults are planted in tests.

use crate::digest::Sha256;
use crate::plan::{Part, SimulationJob};
use crate::record::RunRecord;
use crate::sim::{self, Options, Unsupported};
use crate::workload::Corpus;

use super::JobError;

/// Runs simulation jobs.
///
/// A job is a pure function of its description; whatever implements this is called from several threads, one job each.
pub trait Executor: Sync {
    /// Returns everything that a job lacks here to be run.
    fn unsupported(&self, job: &SimulationJob) -> Vec<Unsupported>;

    /// Returns the digest of the program that runs a job, where that is another than this one.
    fn runner(&self, _job: &SimulationJob) -> Option<Sha256> {
        None
    }

    /// Runs a job.
    ///
    /// # Errors
    /// [`JobError`] when the job does not come to an end.
    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError>;
}

/// The simulator of this program.
#[derive(Debug, Clone, Copy)]
pub struct Native;

impl Executor for Native {
    fn unsupported(&self, job: &SimulationJob) -> Vec<Unsupported> {
        if job.engine.is_native() {
            return sim::unsupported(job);
        }
        let what = format!("engine `{}` {}", job.engine.name, job.engine.version);
        vec![Unsupported::new(what, Part::Engine)]
    }

    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        Ok(sim::run(job, corpus, options)?)
    }
}
