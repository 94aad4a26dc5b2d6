//! The native simulator: engines in virtual time.
//!
//! One job is single-threaded and a pure function of its description. Owns the clock, the event loop, engines, KV pools, timing
//! models and routers; knows nothing of scenarios, files or reports.

mod error;
mod options;

pub use error::{SimError, Unsupported};
pub use options::{Options, Progress};

use crate::plan::SimulationJob;
use crate::record::RunRecord;
use crate::workload::Corpus;

/// Says whether this build can run a job, and if not, what it lacks.
///
/// # Errors
/// [`Unsupported`] names the first thing that this build cannot simulate.
pub fn check_supported(_job: &SimulationJob) -> Result<(), Unsupported> {
    Ok(())
}

/// Runs a job to its end, or to its virtual-time cut.
///
/// `corpus` holds the rows of the job's trace where it has one.
///
/// # Errors
/// [`SimError`] when the engine reaches a dead end, a timing model answers no time, or the run is interrupted.
pub fn run(
    _job: &SimulationJob,
    _corpus: Option<&Corpus>,
    _options: &Options<'_>,
) -> Result<RunRecord, SimError> {
    Err(SimError::Interrupted)
}
