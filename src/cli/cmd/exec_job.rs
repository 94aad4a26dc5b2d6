//! `bench exec-job`: run one job in this process and print its report.

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cli::args::ExecJobArgs;
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{Code, Problem};
use crate::gate::Kept;
use crate::plan::{Plan, load_plan};
use crate::report::EventLines;

use super::jobs::{Manner, Sending, run_jobs};
use super::judged::{Ended, judge};
use super::prepared::Prepared;

/// Runs the command. The report's bytes are stdout; a job that failed has its report as well, and exit 1.
pub(super) fn run(args: &ExecJobArgs, context: &Context) -> Result<Exit, Failure> {
    let (plan, _) = load_plan(&args.file, context.root())?;
    let prepared = Prepared::of_plan(only(plan, &args.job, &args.file)?, context)?;
    let stop = stop_on_signal();
    let (cache, events, scratch) = (None, EventLines::Digest, None);
    let sending = if args.planned { Sending::Planned } else { Sending::Sent };
    if sending == Sending::Sent {
        prepared.check_live()?;
    }
    let manner = Manner { threads: None, cache, events, sending, stop, scratch };
    let results = run_jobs(&prepared, &manner, &|_, _| Ok(()), context);
    for report in results.iter().filter_map(|result| result.report()) {
        print(report.bytes())?;
    }
    let ended = if stop.load(Ordering::SeqCst) { Ended::Interrupted } else { Ended::Whole };
    let comparison = super::judged::ungated(results.len());
    Ok(judge(&prepared.plan, &results, &comparison, (ended, Kept::Nothing, context)))
}

/// Returns the plan with one job only, and without a golden.
fn only(plan: Plan, id: &str, file: &Path) -> Result<Plan, Failure> {
    let Some(mut job) = plan.jobs.iter().find(|job| job.id.as_str() == id).cloned() else {
        let message = format!("scenario `{}` has no job `{id}`", plan.scenario);
        let help = format!("`bench plan {}` lists its jobs", file.display());
        return Err(Problem::new(Code::JobUnknown, message).help(help).into());
    };
    job.index = 0;
    Ok(Plan { jobs: vec![job], golden: None, ..plan })
}
