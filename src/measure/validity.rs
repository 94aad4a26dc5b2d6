//! May a report be compared at all, and has its job failed?

use super::{Counts, Violation};

/// Why a job has failed although its run came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Not one request completed.
    NothingCompleted {
        /// How many were released.
        offered: u64,
        /// How many the engine refused.
        rejected: u64,
    },
    /// A law of every run is broken: a bug in this program.
    BrokenInvariant(Violation),
}

/// The verdict on one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validity {
    failures: Vec<Failure>,
}

impl Failure {
    /// Returns the word of reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NothingCompleted { .. } => "nothing-completed",
            Self::BrokenInvariant(_) => "broken-invariant",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NothingCompleted { offered, rejected } => {
                write!(f, "none of {offered} requests completed ({rejected} rejected)")
            }
            Self::BrokenInvariant(violation) => {
                write!(
                    f,
                    "{} is broken, which is a bug: {}",
                    violation.invariant.id(),
                    violation.found
                )
            }
        }
    }
}

impl Validity {
    /// Returns the verdict on a run.
    pub fn of(counts: &Counts, violations: Vec<Violation>) -> Self {
        let mut failures = Vec::new();
        if counts.completed == 0 {
            let (offered, rejected) = (counts.offered, counts.rejected);
            failures.push(Failure::NothingCompleted { offered, rejected });
        }
        failures.extend(violations.into_iter().map(Failure::BrokenInvariant));
        Self { failures }
    }

    /// Returns whether the job has not failed.
    pub fn is_valid(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns why the job has failed.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_completed_request_has_failed() {
        let counts = Counts { offered: 3, rejected: 3, ..Counts::default() };
        let validity = Validity::of(&counts, Vec::new());
        assert!(!validity.is_valid());
        assert_eq!(validity.failures()[0].to_string(), "none of 3 requests completed (3 rejected)");
        let nothing_offered = Validity::of(&Counts::default(), Vec::new());
        assert!(!nothing_offered.is_valid(), "a run of no requests measured nothing");
    }

    #[test]
    fn one_completed_request_is_enough() {
        let counts = Counts { offered: 3, completed: 1, unfinished: 2, ..Counts::default() };
        assert!(Validity::of(&counts, Vec::new()).is_valid());
    }
}
