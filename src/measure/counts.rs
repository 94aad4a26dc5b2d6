//! How requests ended, and their tokens.

use crate::record::{Outcome, RunRecord};
use crate::units::Tokens;

/// How requests ended, and the tokens of those that completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were released.
    pub offered: u64,
    /// All output was produced.
    pub completed: u64,
    /// The engine refused them.
    pub rejected: u64,
    /// Something broke.
    pub failed: u64,
    /// The client gave up.
    pub canceled: u64,
    /// Cut by the time limit.
    pub unfinished: u64,
    /// Prompt tokens of completed requests.
    pub input: Tokens,
    /// Output tokens of completed requests.
    pub output: Tokens,
}

impl Counts {
    /// Returns the counts of a run.
    pub fn of(record: &RunRecord) -> Self {
        let unlisted = record.witness.unlisted();
        let mut counts = Self { offered: unlisted, unfinished: unlisted, ..Self::default() };
        for request in &record.requests {
            counts.offered += 1;
            match request.outcome {
                Some(Outcome::Completed) => {
                    counts.completed += 1;
                    counts.input += request.input;
                    counts.output += request.output;
                }
                Some(Outcome::Rejected) => counts.rejected += 1,
                Some(Outcome::Failed) => counts.failed += 1,
                Some(Outcome::Canceled) => counts.canceled += 1,
                None => counts.unfinished += 1,
            }
        }
        counts
    }
}
