//! What a job says beforehand of every run of it.

use crate::deployment::ContextLength;
use crate::measure::{Limits, Offered};
use crate::plan::SimulationJob;
use crate::units::Tokens;
use crate::workload::Corpus;

/// Returns what the laws need to know of a job; `corpus` is its trace where it has one.
pub fn limits(job: &SimulationJob, corpus: Option<&Corpus>) -> Limits {
    let offered =
        job.workload.requests(corpus).map(|requests| match job.workload.stop.virtual_time {
            None => Offered::All(requests),
            Some(_) => Offered::AtMost(requests),
        });
    Limits { context_length: Some(context_length(job)), offered }
}

/// Returns the longest sequence that a request of the job may reach.
pub(super) fn context_length(job: &SimulationJob) -> Tokens {
    match job.deployment.context_length {
        ContextLength::Max => Tokens::new(job.model_context_limit),
        ContextLength::Tokens(tokens) => tokens,
    }
}
