//! When a result may become golden.

use crate::digest::Sha256;
use crate::report::{JobVerdict, Report};

use super::Comparison;

/// What several runs of one job in fresh processes say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// All reports are the same.
    Equal,
    /// They are not: the digests, in the order of the runs.
    Unequal(Vec<Sha256>),
}

/// Returns the indices of the jobs whose results are not the accepted ones.
pub fn changed_jobs(comparison: &Comparison) -> Vec<usize> {
    let verdicts = comparison.verdicts.jobs.iter().enumerate();
    verdicts
        .filter(|(_, verdict)| match verdict {
            JobVerdict::Equal | JobVerdict::OverBound | JobVerdict::Unjudged => false,
            JobVerdict::Ungated
            | JobVerdict::Drift
            | JobVerdict::Unaccepted
            | JobVerdict::NotRun
            | JobVerdict::Incomparable => true,
        })
        .map(|(index, _)| index)
        .collect()
}

/// Returns whether the reports of fresh processes, and the one of this process, are the same bytes.
pub fn agreement(here: &Report, fresh: &[Report]) -> Agreement {
    if fresh.iter().all(|report| report.bytes() == here.bytes()) {
        return Agreement::Equal;
    }
    let digests = std::iter::once(here).chain(fresh).map(Report::digest);
    Agreement::Unequal(digests.collect())
}
