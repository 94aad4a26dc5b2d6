//! The laws of every run hold for predictions too: a broken one is a bug of this program, and its numbers are not written.

use crate::cli::{Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::measure::Invariant;
use crate::plan::SimulationJob;
use crate::record::RunRecord;
use crate::report::limits;
use crate::workload::Corpus;

/// Checks the laws of every run.
///
/// # Errors
/// `job::bug` for each that is broken, exit 1.
pub(super) fn check(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    record: &RunRecord,
) -> Result<(), Failure> {
    let mut bag = Bag::new();
    for violation in Invariant::violations(record, &limits(job, corpus)) {
        let (law, found) = (violation.invariant.id(), violation.found);
        let problem =
            Problem::new(Code::JobBug, format!("{law} is broken, which is a bug: {found}"))
                .help("nothing was written; please report the configuration");
        bag.push(problem);
    }
    if bag.is_empty() { Ok(()) } else { Err(Failure::new(Exit::JobFailed, bag)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::run;
    use crate::plan::JobKind;
    use crate::report::sample;

    #[test]
    fn a_prediction_that_breaks_a_law_fails_as_a_bug() {
        let JobKind::Simulation(job) = sample::job(1).kind else { panic!("samples simulate") };
        assert!(check(&job, None, &run(3)).is_ok());
        let lost = check(&job, None, &run(2)).expect_err("a request is lost");
        assert_eq!(lost.exit(), Exit::JobFailed);
        let problems = lost.into_bag().into_sorted();
        assert_eq!(problems[0].code(), Code::JobBug);
        assert!(problems[0].to_string().contains("INV-1 "), "{}", problems[0]);
    }
}
