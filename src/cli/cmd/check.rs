//! `bench check`: run without the cache, compare with the golden, write nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::cli::args::{CheckArgs, Format};
use crate::cli::{Context, Exit, Failure, end_on_signal, print, stop_on_signal};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::gate::{Comparison, GoldenFile, Kept, KnownRuns, compare};
use crate::plan::{Job, JobId};
use crate::record::Spool;
use crate::report::{Artifacts, EventLines, JobResult, jobs_json, jobs_table, run_file};

use super::distinct::distinct;
use super::jobs::{Manner, Sending, run_jobs};
use super::judged::{Ended, judge};
use super::prepared::Prepared;
use super::run::tell_measured;

/// Runs the command: every scenario is checked, whatever the ones before it say.
pub(super) fn run(args: &CheckArgs, context: &Context) -> Exit {
    let mut exit = Exit::Success;
    for file in &distinct(&args.files) {
        let checked = check(file, args, context);
        let one = checked.unwrap_or_else(|failure| {
            let exit = failure.exit();
            context.report(failure.into_bag());
            exit
        });
        exit = exit.and(one);
        if one == Exit::Interrupted {
            break;
        }
    }
    exit
}

/// Checks one scenario.
fn check(file: &Path, args: &CheckArgs, context: &Context) -> Result<Exit, Failure> {
    end_on_signal();
    let prepared = Prepared::new(file, context)?;
    if matches!(prepared.golden, GoldenFile::Unnamed) {
        return Err(ungated(&prepared));
    }
    prepared.check_live()?;
    let stop = stop_on_signal();
    let (cache, events, scratch) = (None, EventLines::Digest, None);
    let sending = Sending::Sent;
    let manner = Manner { threads: args.jobs, cache, events, sending, stop, scratch };
    let (results, comparison) = compare_fresh(&prepared, &manner, context);
    print_verdicts((file, args), &prepared, (&results, &comparison))?;
    tell_measured(&results, context);
    let ended = if stop.load(Ordering::SeqCst) { Ended::Interrupted } else { Ended::Whole };
    Ok(judge(&prepared.plan, &results, &comparison, (ended, Kept::Nothing, context)))
}

/// Runs every job without the cache and compares with the golden. Nothing is left; the requests of jobs that differ are kept, to say
/// which one.
pub(super) fn compare_fresh(
    prepared: &Prepared,
    manner: &Manner<'_>,
    context: &Context,
) -> (Vec<JobResult>, Comparison) {
    let accepted = accepted_reports(&prepared.golden);
    let differing: Mutex<BTreeMap<usize, Spool>> = Mutex::new(BTreeMap::new());
    let keep = |job: &Job, artifacts: &Artifacts| {
        if accepted.get(&job.id) != Some(&artifacts.report.digest()) {
            let mut differing = differing.lock().map_err(|_| std::io::Error::other("poisoned"))?;
            differing.insert(job.index, artifacts.requests.clone());
        }
        Ok(())
    };
    let results = run_jobs(prepared, manner, &keep, context);
    let differing = differing.into_inner().unwrap_or_default();
    let known = KnownRuns::of(&prepared.runs(), &prepared.plan.scenario);
    let requests = |index: usize| differing.get(&index)?.reader().ok();
    let comparison = compare(&prepared.plan, &results, &prepared.golden, &known, &requests);
    (results, comparison)
}

/// Returns the accepted report digests by job.
fn accepted_reports(golden: &GoldenFile) -> BTreeMap<JobId, Sha256> {
    match golden {
        GoldenFile::Present(golden) => {
            golden.jobs.iter().map(|job| (job.id.clone(), job.report)).collect()
        }
        GoldenFile::Unnamed | GoldenFile::Missing => BTreeMap::new(),
    }
}

/// Prints the verdicts on stdout; each scenario under its path where there are several.
fn print_verdicts(
    (file, args): (&Path, &CheckArgs),
    prepared: &Prepared,
    (results, comparison): (&[JobResult], &Comparison),
) -> Result<(), Failure> {
    let scenario = &prepared.plan.scenario;
    match args.format {
        Format::Table => {
            let is_alone = args.files.len() == 1;
            let heading = if is_alone { String::new() } else { format!("{}\n", file.display()) };
            print(heading + &jobs_table(results, &comparison.verdicts))
        }
        Format::Json => {
            let (_, run) = run_file(&prepared.plan, results);
            print(jobs_json(&run, scenario, results, &comparison.verdicts))
        }
    }
}

/// Returns the failure of a scenario that cannot be checked: a check that compares nothing is not green.
fn ungated(prepared: &Prepared) -> Failure {
    let message = format!(
        "scenario `{}` names no golden, so there is nothing to check",
        prepared.plan.scenario
    );
    let help = "add `gate { golden \"pins/goldens/NAME.kdl\" }`, or use `bench run`";
    Failure::new(Exit::NoVerdict, Problem::new(Code::AcceptNoGate, message).help(help))
}
