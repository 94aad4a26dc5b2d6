//! What a gate said of each job, for the views. The gate itself is a layer above.

use crate::plan::JobId;

use super::JobResult;

/// What a gate said of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobVerdict {
    /// The scenario names no golden.
    Ungated,
    /// The report is the accepted one.
    Equal,
    /// The report is another one.
    Drift,
    /// The golden lacks the job, or there is no golden yet.
    Unaccepted,
    /// The golden has the job and there is no report.
    NotRun,
    /// The golden was computed under other metric definitions.
    Incomparable,
    /// The report is the accepted one, and what was measured exceeds a bound.
    OverBound,
    /// The report is the accepted one, and what was measured cannot be held to a bound, or nothing was measured.
    Unjudged,
}

/// What a gate said of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// One for each job of the plan, in its order.
    pub jobs: Vec<JobVerdict>,
    /// Jobs of the golden that the plan does not have.
    pub gone: Vec<JobId>,
    /// What should be known of how jobs were judged, in the plan's order.
    pub notes: Vec<(JobId, String)>,
}

impl JobVerdict {
    /// Returns the word of tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ungated => "-",
            Self::Equal => "ok",
            Self::Drift => "DRIFT",
            Self::Unaccepted => "NEW",
            Self::NotRun => "NOT RUN",
            Self::Incomparable => "OTHER DEFINITION",
            Self::OverBound => "OUT OF BOUNDS",
            Self::Unjudged => "UNJUDGED",
        }
    }

    /// Returns whether no verdict on the job is possible.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Incomparable | Self::Unjudged)
    }

    /// Returns whether the gate has nothing against the job.
    pub const fn is_green(self) -> bool {
        matches!(self, Self::Ungated | Self::Equal)
    }
}

impl Verdicts {
    /// Returns the verdicts of a run without a gate.
    pub fn ungated(jobs: usize) -> Self {
        Self { jobs: vec![JobVerdict::Ungated; jobs], ..Self::default() }
    }

    /// Returns what should be known of how a job was judged.
    pub fn notes_of<'a>(&'a self, id: &'a JobId) -> impl Iterator<Item = &'a str> {
        self.notes.iter().filter(move |(job, _)| job == id).map(|(_, note)| note.as_str())
    }

    /// Returns whether the gate has nothing against the run.
    pub fn is_green(&self) -> bool {
        self.gone.is_empty() && self.jobs.iter().all(|verdict| verdict.is_green())
    }
}

/// Returns the last word on a job: how it ended where that was badly, else what the gate said.
pub(super) fn last_word(result: &JobResult, verdict: JobVerdict) -> String {
    match result.outcome() {
        "completed" => verdict.name().to_owned(),
        other => other.to_uppercase(),
    }
}
