//! The same job again in processes of their own, before anyone believes it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::args::AcceptArgs;
use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::exec::{JobError, run_by_index};
use crate::gate::{Agreement, agreement};
use crate::plan::Plan;
use crate::report::{JobResult, Report};

use super::jobs::Manner;

/// How many fresh processes must agree.
pub(super) const RUNS: u64 = 3;

/// Runs each changed job in fresh processes and compares the bytes of their reports with those of this one.
///
/// # Errors
/// [`Code::AcceptUnstable`] for each job whose runs differ, or do not come to an end; [`Code::AcceptInterrupted`] where someone
/// asked this process or one of the others to stop.
pub(super) fn agree(
    args: &AcceptArgs,
    context: &Context,
    (plan, changed, results): (&Plan, &[usize], &[JobResult]),
    manner: &Manner<'_>,
) -> Result<(), Failure> {
    let fresh = run_by_index(changed.len() * runs(), manner.threads(), |index| {
        if manner.stop.load(Ordering::SeqCst) {
            return Err(JobError::Interrupted);
        }
        let id = plan.jobs[changed[index / runs()]].id.as_str();
        in_fresh_process(&args.file, context.root(), id)
    });
    refuse_interrupted(manner.stop)?;
    judge((changed, results), &fresh)
}

/// Refuses to accept where someone asked to stop.
///
/// # Errors
/// [`Code::AcceptInterrupted`], exit 130.
pub(super) fn refuse_interrupted(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::SeqCst) { Err(interrupted()) } else { Ok(()) }
}

/// Returns the failure of an interrupted command.
fn interrupted() -> Failure {
    let problem = Problem::new(Code::AcceptInterrupted, "interrupted: nothing is accepted")
        .help("run the command again");
    Failure::new(Exit::Interrupted, problem)
}

/// Returns how many fresh processes run one job.
fn runs() -> usize {
    usize::try_from(RUNS).expect("a small number")
}

/// Judges what the fresh processes of all changed jobs say, job by job.
fn judge((changed, results): (&[usize], &[JobResult]), fresh: &[Fresh]) -> Result<(), Failure> {
    // A signal to the whole group may reach the others alone: that is no disagreement.
    if fresh.iter().any(|run| matches!(run, Err(JobError::Interrupted))) {
        return Err(interrupted());
    }
    let mut bag = Bag::new();
    for (fresh, index) in fresh.chunks(runs()).zip(changed) {
        if let Some(problem) = disagreement(&results[*index], fresh) {
            bag.push(problem);
        }
    }
    if bag.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Drift, bag)) }
}

/// Returns what one fresh process says, or why it says nothing.
type Fresh = Result<Result<Report, String>, JobError>;

/// Runs one job in a process of its own.
fn in_fresh_process(file: &Path, root: Option<&Path>, id: &str) -> Fresh {
    let output = match output_of(file, root, id) {
        Ok(output) => output,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if output.status.code() == Some(i32::from(Exit::Interrupted.code())) {
        return Err(JobError::Interrupted);
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(format!("{}: {}", output.status, said.trim())));
    }
    Ok(Report::parse(output.stdout).map_err(|error| error.to_string()))
}

/// Runs `exec-job` to its end.
fn output_of(file: &Path, root: Option<&Path>, id: &str) -> std::io::Result<Output> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("--quiet");
    if let Some(root) = root {
        command.arg("--root").arg(root);
    }
    command
        .arg("exec-job")
        .arg("--planned")
        .arg("--job")
        .arg(id)
        .arg("--")
        .arg(file)
        .stdin(Stdio::null());
    command.output()
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
        for odd in [late, Ok(Err("exit status: 1".to_owned()))] {
            let problem = disagreement(&here, &[same(), same(), odd]).expect("they differ");
            assert_eq!(problem.code(), Code::AcceptUnstable);
        }
    }

    #[test]
    fn an_interrupted_run_is_an_interruption_and_no_disagreement() {
        let here = [result(&Fake::default())];
        let same = || Ok(Ok(result(&Fake::default()).report().expect("it ran").clone()));
        let good: [Fresh; 3] = [same(), same(), same()];
        assert!(judge((&[0], &here), &good).is_ok());
        let cut: [Fresh; 3] = [same(), Err(JobError::Interrupted), same()];
        let refused = judge((&[0], &here), &cut).expect_err("it was interrupted");
        assert_eq!(refused.exit(), Exit::Interrupted);
        let odd: [Fresh; 3] = [same(), Ok(Err("exit status: 1".to_owned())), same()];
        let refused = judge((&[0], &here), &odd).expect_err("it broke");
        assert_eq!(refused.exit(), Exit::Drift);
    }
}
