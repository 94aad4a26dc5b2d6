//! May a report be compared at all, and has its job failed?

use crate::diag::Advice;

use super::{Unserved, Violation};

/// Why a job has failed although its run came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Not one request completed.
    NothingCompleted {
        /// How many were released.
        offered: u64,
        /// How they ended, and why.
        unserved: Vec<Unserved>,
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

    /// Returns what to change, where the cause is known.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Self::NothingCompleted { offered: 0, .. } => Some(longer()),
            Self::NothingCompleted { unserved, .. } => unserved.iter().find_map(Unserved::advice),
            Self::BrokenInvariant(_) => None,
        }
    }
}

/// Returns the advice on a run that was cut before anything had ended.
pub(super) fn longer() -> Advice {
    Advice::new("workload.stop.virtual-time", "let the run last longer, or stop it by a count")
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NothingCompleted { offered: 0, .. } => {
                write!(f, "no request was released before the run ended")
            }
            Self::NothingCompleted { offered, unserved } => {
                let told: Vec<String> = unserved.iter().map(ToString::to_string).collect();
                let ending = if *offered == 1 { "" } else { "s" };
                write!(f, "none of {offered} request{ending} completed: {}", told.join("; "))
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
    /// Returns the verdict on a run that released `offered` requests, all of which completed but for the unserved.
    pub fn of(offered: u64, unserved: &[Unserved], violations: Vec<Violation>) -> Self {
        let mut failures = Vec::new();
        if unserved.iter().map(|kind| kind.count).sum::<u64>() == offered {
            failures.push(Failure::NothingCompleted { offered, unserved: unserved.to_vec() });
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
    use crate::deployment::WorkerRole;
    use crate::measure::sample::run;
    use crate::record::{Outcome, Refusal, Rule, RunRecord};
    use crate::units::{Blocks, Tokens};

    /// A run of requests that were all refused by a rule.
    fn refused(count: u64, rule: Rule) -> RunRecord {
        let mut record = run(count);
        for request in record.requests.in_memory() {
            request.outcome = Some(Outcome::Rejected);
            request.refusal = Some(Box::new(Refusal { role: WorkerRole::Prefill, rule }));
        }
        record
    }

    fn verdict(offered: u64, record: &RunRecord) -> Validity {
        Validity::of(offered, &Unserved::of(record), Vec::new())
    }

    #[test]
    fn a_run_without_a_completed_request_has_failed_and_says_why_and_what_to_change() {
        let (prompt, limit) = (Tokens::new(100), Tokens::new(50));
        let validity = verdict(3, &refused(3, Rule::ContextLimit { prompt, limit }));
        assert!(!validity.is_valid());
        let failure = &validity.failures()[0];
        assert_eq!(
            failure.to_string(),
            "none of 3 requests completed: 3 rejected: the first is request 0, which has a prompt of 100 tokens, and the context limit is 50"
        );
        assert_eq!(
            failure.advice().map(|advice| advice.setting).as_deref(),
            Some("context-length")
        );
        let (needed, capacity) = (Blocks::new(7), Blocks::new(6));
        let validity = verdict(1, &refused(1, Rule::KvBlocks { needed, capacity }));
        let advice = validity.failures()[0].advice().expect("a known cause");
        assert_eq!(advice.setting, "worker.prefill.kv-cache.capacity");
        assert!(advice.help.contains("at least 7 blocks"), "{}", advice.help);
    }

    #[test]
    fn a_run_that_was_cut_before_anything_ended_is_to_last_longer() {
        let nothing = verdict(0, &run(0));
        assert!(!nothing.is_valid(), "a run of no requests measured nothing");
        let mut record = run(1);
        let cut = &mut record.requests.in_memory()[0];
        (cut.outcome, cut.terminal) = (None, None);
        let cut = verdict(1, &record);
        for (validity, text) in [
            (nothing, "no request was released before the run ended"),
            (cut, "none of 1 request completed: 1 cut when the run ended"),
        ] {
            let failure = &validity.failures()[0];
            assert_eq!(failure.to_string(), text);
            let setting = failure.advice().map(|advice| advice.setting);
            assert_eq!(setting.as_deref(), Some("workload.stop.virtual-time"));
        }
    }

    #[test]
    fn one_completed_request_is_enough() {
        let mut record = run(3);
        record.requests.in_memory()[0].outcome = Some(Outcome::Failed);
        assert!(verdict(3, &record).is_valid());
    }
}
