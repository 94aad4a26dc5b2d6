//! `bench run`: run a scenario: plan, simulate, print a table, write the run folder, check the golden.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cli::args::{Format, RunArgs};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal, timestamp};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::exec::Cache;
use crate::gate::{Comparison, KnownRuns, compare};
use crate::report::{
    Circumstances, EventLines, JobResult, RunFolder, jobs_json, jobs_table, run_file,
};

use super::jobs::{Manner, run_jobs};
use super::judged::{Ended, judge};
use super::prepared::Prepared;
use super::run_files::{RunFiles, write_run_files};

/// Runs the command.
pub(super) fn run(args: &RunArgs, context: &Context) -> Result<Exit, Failure> {
    let started = timestamp();
    let prepared = Prepared::new(&args.file, context)?;
    let program = program_digest(context);
    let cache = program
        .filter(|_| !args.no_cache)
        .map(|program| Cache::new(prepared.runs().join(".cache"), program));
    let stop = stop_on_signal();
    let manner = Manner {
        threads: args.jobs,
        cache: cache.as_ref(),
        events: if args.events { EventLines::Keep } else { EventLines::Digest },
        stop,
    };
    let folder = RunFolder::create(&prepared.runs(), &prepared.plan.scenario)
        .map_err(|error| unwritable(&prepared.runs(), &error))?;
    let keep = |job: &crate::plan::Job, artifacts: &crate::report::Artifacts| {
        folder.write_job(&job.id, artifacts)
    };
    let results = run_jobs(&prepared, &manner, &keep, context);
    let comparison = compare_here(&prepared, &results, &folder);
    let circumstances = Circumstances {
        started,
        finished: timestamp(),
        host: crate::cli::host(),
        threads: manner.threads().get(),
        program,
    };
    let files = RunFiles { results: &results, comparison: &comparison, circumstances };
    let finished = write_run_files(folder, &prepared.plan, &files)
        .map_err(|error| unwritable(&prepared.runs(), &error))?;
    print_results(args.format, &prepared, (&results, &comparison))?;
    context.note(&format!("run folder: {}", finished.folder.display()));
    let ended = if stop.load(Ordering::SeqCst) { Ended::Interrupted } else { Ended::Whole };
    Ok(judge(&prepared.plan, &results, &comparison, (ended, context)))
}

/// Compares the results with the golden; the requests of this run are in its folder.
fn compare_here(prepared: &Prepared, results: &[JobResult], folder: &RunFolder) -> Comparison {
    let plan = &prepared.plan;
    let known = KnownRuns::of(&prepared.runs(), &plan.scenario);
    let requests = |index: usize| folder.read_requests(&plan.jobs[index].id);
    compare(plan, results, &prepared.golden, &known, &requests)
}

/// Prints the results on stdout.
fn print_results(
    format: Format,
    prepared: &Prepared,
    (results, comparison): (&[JobResult], &Comparison),
) -> Result<(), Failure> {
    let verdicts = &comparison.verdicts;
    match format {
        Format::Table => print(jobs_table(results, verdicts)),
        Format::Json => {
            let (_, run) = run_file(&prepared.plan, results);
            print(jobs_json(&run, &prepared.plan.scenario, results, verdicts))
        }
    }
}

/// Returns the digest of the running program, for provenance and as the name of its cache; without it nothing is cached.
fn program_digest(context: &Context) -> Option<Sha256> {
    let read = std::env::current_exe().and_then(std::fs::read);
    match read {
        Ok(bytes) => Some(Sha256::of(&bytes)),
        Err(error) => {
            context.note(&format!("no digest of the program and no result cache: cannot read the running program: {error}"));
            None
        }
    }
}

/// Returns the failure of a run whose folder cannot be written.
fn unwritable(runs: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write under `{}`: {error}", runs.display());
    Failure::new(Exit::JobFailed, Problem::new(Code::RunUnwritable, message))
}
