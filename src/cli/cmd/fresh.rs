//! The same job again in processes of their own, before anyone believes it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::args::AcceptArgs;
use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::exec::{JobError, run_by_index};
use crate::gate::{Agreement, agreement};
use crate::plan::Plan;
use crate::report::{JobResult, Report};

/// How many fresh processes must agree.
pub(super) const RUNS: u64 = 3;

/// Runs each changed job in fresh processes and compares the bytes of their reports with those of this one.
///
/// # Errors
/// [`Code::AcceptUnstable`] for each job whose runs differ, or do not come to an end.
pub(super) fn agree(
    args: &AcceptArgs,
    context: &Context,
    (plan, changed, results): (&Plan, &[usize], &[JobResult]),
    threads: NonZeroUsize,
) -> Result<(), Failure> {
    let runs = usize::try_from(RUNS).expect("a small number");
    let reports = run_by_index(changed.len() * runs, threads, |index| {
        let id = plan.jobs[changed[index / runs]].id.as_str();
        Ok(in_fresh_process(&args.file, context.root(), id))
    });
    let mut bag = Bag::new();
    for (fresh, index) in reports.chunks(runs).zip(changed) {
        if let Some(problem) = disagreement(&results[*index], fresh) {
            bag.push(problem);
        }
    }
    if bag.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Drift, bag)) }
}

/// Returns what one fresh process says, or why it says nothing.
type Fresh = Result<Result<Report, String>, JobError>;

/// Runs one job in a process of its own.
fn in_fresh_process(file: &Path, root: Option<&Path>, id: &str) -> Result<Report, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg("--quiet");
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    command.arg("exec-job").arg("--job").arg(id).arg("--").arg(file).stdin(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", output.status, said.trim()));
    }
    Report::parse(output.stdout).map_err(|error| error.to_string())
}

/// Returns the finding about a job whose runs do not agree.
fn disagreement(result: &JobResult, fresh: &[Fresh]) -> Option<Problem> {
    let id = &result.id;
    let mut reports = Vec::with_capacity(fresh.len());
    for run in fresh {
        match run {
            Ok(Ok(report)) => reports.push(report.clone()),
            Ok(Err(why)) => return Some(unstable(id.as_str(), why)),
            Err(error) => return Some(unstable(id.as_str(), &error.to_string())),
        }
    }
    let here = result.report()?;
    match agreement(here, &reports) {
        Agreement::Equal => None,
        Agreement::Unequal(digests) => {
            let digests: Vec<String> = digests.iter().map(ToString::to_string).collect();
            Some(unstable(id.as_str(), &format!("reports {}", digests.join(", "))))
        }
    }
}

/// Returns the finding about a job whose runs do not agree.
fn unstable(id: &str, why: &str) -> Problem {
    let message = format!("equal runs of job `{id}` in fresh processes disagree: {why}");
    Problem::new(Code::AcceptUnstable, message).help("nothing is accepted; find out why first")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{Fake, Fault, Setup, keep_nothing, plan, run};

    fn result(executor: &Fake) -> JobResult {
        let setup = Setup { executor, ..Setup::default() };
        run(&plan(1), setup, &keep_nothing).remove(0)
    }

    #[test]
    fn one_run_of_three_that_differs_or_breaks_refuses_the_job() {
        let here = result(&Fake::default());
        let report = |executor: &Fake| result(executor).report().expect("it ran").clone();
        let same = || Ok(Ok(report(&Fake::default())));
        let late = Ok(Ok(report(&Fake { fault: Some((2, Fault::OneNanosecond)) })));
        assert!(disagreement(&here, &[same(), same(), same()]).is_none());
        for odd in [late, Ok(Err("exit status: 1".to_owned())), Err(JobError::Interrupted)] {
            let problem = disagreement(&here, &[same(), same(), odd]).expect("they differ");
            assert_eq!(problem.code(), Code::AcceptUnstable);
        }
    }
}
