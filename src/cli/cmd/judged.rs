//! From job results and a gate's verdict to what people are told and the exit code.

use crate::cli::{Context, Exit};
use crate::diag::{Bag, Code, Problem};
use crate::exec::{EndElsewhere, JobError};
use crate::gate::{Comparison, Finding, Kept};
use crate::plan::{JobKind, Plan};
use crate::report::{JobResult, JobState, JobVerdict, Verdicts};

/// Whether someone asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// All jobs had their turn.
    Whole,
    /// A signal came.
    Interrupted,
}

/// Reports failed jobs and what the gate has against the run, and returns the exit code.
pub(super) fn judge(
    plan: &Plan,
    results: &[JobResult],
    comparison: &Comparison,
    (ended, kept, context): (Ended, Kept, &Context),
) -> Exit {
    context.report(failures(plan, results, kept));
    let mut findings = Bag::new();
    for finding in &comparison.findings {
        let told = match ended {
            Ended::Whole => Some(finding.problem(plan, kept)),
            Ended::Interrupted => of_interrupted(finding, plan, kept),
        };
        if let Some(problem) = told {
            findings.push(problem);
        }
    }
    context.report(findings);
    exit(results, comparison, ended)
}

/// Returns what the gate has against the finished jobs of an interrupted run. Nothing is accepted on such a run's word.
fn of_interrupted(finding: &Finding, plan: &Plan, kept: Kept) -> Option<Problem> {
    match finding {
        Finding::NotRun { .. } | Finding::GoldenMissing | Finding::Unaccepted { .. } => None,
        Finding::OtherScenario { .. }
        | Finding::OtherDefinition { .. }
        | Finding::Gone { .. }
        | Finding::Edited { .. }
        | Finding::OverBound { .. }
        | Finding::Unjudged { .. }
        | Finding::Drift(_) => {
            let help = format!("the run was interrupted: bench run {}", plan.source.name());
            Some(finding.problem(plan, kept).help(help))
        }
    }
}

/// Returns the exit code: the first that applies of 130, 1, 3 and 4.
fn exit(results: &[JobResult], comparison: &Comparison, ended: Ended) -> Exit {
    let interrupted = match ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::Whole => Exit::Success,
    };
    // A job that stops although nobody asked was skipped: that is a failure, not an interruption.
    let skipped = ended == Ended::Whole && results.iter().any(JobResult::is_interrupted);
    let failed = skipped || results.iter().any(|result| !result.failures().is_empty());
    let open = if comparison.findings.iter().any(Finding::prevents_verdict) {
        Exit::NoVerdict
    } else {
        Exit::Success
    };
    let verdicts = &comparison.verdicts;
    let is_red = |verdict: &JobVerdict| !verdict.is_green() && !verdict.is_open();
    let says_no = !verdicts.gone.is_empty() || verdicts.jobs.iter().any(is_red);
    let gate = if says_no { Exit::Drift } else { Exit::Success };
    interrupted.and(if failed { Exit::JobFailed } else { Exit::Success }).and(gate).and(open)
}

/// Returns a finding for each failed job: at the setting to change, where its cause is known; live traffic at its `replay`.
fn failures(plan: &Plan, results: &[JobResult], kept: Kept) -> Bag {
    let mut bag = Bag::new();
    for (job, result) in plan.jobs.iter().zip(results) {
        let advice = result.advice().into_iter().chain(std::iter::repeat(None));
        for (failure, advice) in result.failures().into_iter().zip(advice) {
            let message = format!("job `{}` failed: {failure}", result.id);
            let problem = Problem::new(failure_code(result), message);
            bag.push(match (advice, &job.kind) {
                (Some(advice), _) => job
                    .label(problem, &plan.source, &advice.setting, "this decides it")
                    .help(advice.help),
                (None, JobKind::Replay(_)) => {
                    let at = job.places.declaration;
                    let problem = problem.label(&plan.source, at, "sends it");
                    match live_help(result, kept.requests(plan)) {
                        Some(help) => problem.help(help),
                        None => problem,
                    }
                }
                (None, JobKind::Simulation(_)) => problem,
            });
        }
    }
    bag
}

/// Returns what to do about live traffic that failed; `requests` says where each request can be looked at.
fn live_help(result: &JobResult, requests: String) -> Option<String> {
    match &result.state {
        JobState::Reported { measured: Some(_), .. } => Some(requests),
        JobState::Unreported(JobError::Traffic { help, .. }) => Some(help.clone()),
        JobState::Reported { measured: None, .. }
        | JobState::Unreported(
            JobError::Simulation(_)
            | JobError::Runner(_)
            | JobError::Interrupted
            | JobError::Panicked { .. }
            | JobError::Unwritable { .. }
            | JobError::Elsewhere { .. },
        ) => None,
    }
}

/// Returns whether a failure is the job's or this program's.
fn failure_code(result: &JobResult) -> Code {
    match &result.state {
        JobState::Reported { report, .. } if report.has_broken_invariant() => Code::JobBug,
        JobState::Reported { measured: Some(live), .. } if live.has_broken_law() => Code::JobBug,
        JobState::Unreported(
            JobError::Panicked { .. } | JobError::Elsewhere { end: EndElsewhere::Panicked, .. },
        ) => Code::JobBug,
        JobState::Unreported(JobError::Unwritable { .. }) => Code::RunUnwritable,
        JobState::Reported { .. }
        | JobState::Unreported(
            JobError::Simulation(_)
            | JobError::Runner(_)
            | JobError::Traffic { .. }
            | JobError::Interrupted
            | JobError::Elsewhere { end: EndElsewhere::Failed, .. },
        ) => Code::JobFailed,
    }
}

/// Returns the comparison of a run that nothing is compared with.
pub(super) fn ungated(jobs: usize) -> Comparison {
    Comparison { verdicts: Verdicts::ungated(jobs), findings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{Fake, Fault, Setup, keep_nothing, plan, run};
    use crate::sim::SimError;

    fn results(fault: Fault) -> Vec<JobResult> {
        let fake = Fake { fault: Some((2, fault)) };
        run(&plan(2), Setup { executor: &fake, ..Setup::default() }, &keep_nothing)
    }

    fn red(finding: Option<Finding>) -> Comparison {
        let verdict = if finding.is_some() { JobVerdict::Incomparable } else { JobVerdict::Drift };
        let verdicts = Verdicts { jobs: vec![verdict; 2], ..Verdicts::default() };
        Comparison { verdicts, findings: finding.into_iter().collect() }
    }

    #[test]
    fn a_failure_is_the_jobs_or_ours() {
        for (fault, code) in [
            (Fault::AllRejected, Code::JobFailed),
            (Fault::DroppedRequest, Code::JobBug),
            (Fault::Panic, Code::JobBug),
        ] {
            let found = failures(&plan(2), &results(fault), Kept::Run).into_sorted();
            assert!(!found.is_empty(), "{fault:?}");
            assert!(found.iter().all(|problem| problem.code() == code), "{fault:?}: {found:?}");
        }
        let mut dead = results(Fault::Panic);
        for result in &mut dead {
            let reason = "the pool is too small".to_owned();
            let error = SimError::DeadEnd { at_ms: 1.0, unfinished: 1, reason, advice: None };
            result.state = JobState::Unreported(JobError::Simulation(error));
        }
        let found = failures(&plan(2), &dead, Kept::Run).into_sorted();
        assert!(found.iter().all(|problem| problem.code() == Code::JobFailed), "{found:?}");
    }

    #[test]
    fn the_first_of_130_1_3_4_is_the_exit_code() {
        let (good, bad) = (results(Fault::OneNanosecond), results(Fault::AllRejected));
        let definition = Finding::OtherDefinition { golden: "x".to_owned(), ours: "y" };
        assert_eq!(exit(&good, &ungated(2), Ended::Whole), Exit::Success);
        assert_eq!(exit(&good, &red(None), Ended::Whole), Exit::Drift);
        assert_eq!(exit(&good, &red(Some(definition)), Ended::Whole), Exit::NoVerdict);
        assert_eq!(exit(&bad, &red(None), Ended::Whole), Exit::JobFailed);
        assert_eq!(exit(&bad, &red(None), Ended::Interrupted), Exit::Interrupted);
    }

    #[test]
    fn a_job_that_is_skipped_although_nobody_asked_has_failed() {
        let skipped = results(Fault::Skipped);
        assert_eq!(exit(&skipped, &ungated(2), Ended::Whole), Exit::JobFailed);
        assert_eq!(exit(&skipped, &ungated(2), Ended::Interrupted), Exit::Interrupted);
    }
}
