//! `bench run`: run a scenario: plan, simulate, print a table, write the run folder, check the golden.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::cli::args::{Format, RunArgs};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal, timestamp};
use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::exec::Cache;
use crate::gate::{Comparison, Kept, KnownRuns, compare};
use crate::plan::Plan;
use crate::report::{
    Circumstances, EventLines, JobResult, RunFolder, jobs_json, jobs_table, measured_table,
    run_file,
};

use super::jobs::{Manner, Sending, run_jobs};
use super::judged::{Ended, judge};
use super::partition;
use super::prepared::Prepared;
use super::program::program_digest;
use super::run_files::{RunFiles, write_run_files};

/// Runs the command.
pub(super) fn run(args: &RunArgs, context: &Context) -> Result<Exit, Failure> {
    let begun = Begun::new(args, context);
    if let Some(partition) = args.partition {
        return partition::run(partition, args, (&begun, context));
    }
    let prepared = Prepared::new(&args.file, context)?;
    prepared.check_live()?;
    let runs = begun.runs(&prepared.plan.root);
    let cache = begun.cache(&runs);
    let cannot_write = |error: io::Error| unwritable(&runs, &error);
    let folder = RunFolder::create(&runs, &prepared.plan.scenario).map_err(cannot_write)?;
    let stop = stop_on_signal();
    let manner = Manner {
        threads: args.jobs,
        cache: cache.as_ref(),
        events: if args.events { EventLines::Keep } else { EventLines::Digest },
        sending: Sending::Sent,
        stop,
        scratch: Some(folder.path()),
    };
    let keep = |job: &crate::plan::Job, artifacts: &crate::report::Artifacts| {
        folder.write_job(&job.id, artifacts)
    };
    let results = run_jobs(&prepared, &manner, &keep, context);
    let comparison = compare_here(&prepared, &results, (&runs, &folder));
    let circumstances = begun.circumstances(manner.threads().get());
    let files = RunFiles { results: &results, comparison: &comparison, circumstances };
    let finished = write_run_files(folder, &prepared.plan, &files).map_err(cannot_write)?;
    print_results(args.format, &prepared.plan, (&results, &comparison))?;
    tell_measured(&results, context);
    context.note(&format!("run folder: {}", finished.folder.display()));
    let is_stopped = stop.load(Ordering::SeqCst);
    let ended = if is_stopped { Ended::Interrupted } else { Ended::Whole };
    Ok(judge(&prepared.plan, &results, &comparison, (ended, Kept::Run, context)))
}

/// A run that has begun: when, by which program, and where it is kept.
#[derive(Debug)]
pub(super) struct Begun {
    started: String,
    program: Option<Sha256>,
    runs: Option<PathBuf>,
    caching: Caching,
}

/// Whether the result cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caching {
    On,
    Off,
}

impl Begun {
    /// Returns a run that begins.
    fn new(args: &RunArgs, context: &Context) -> Self {
        Self {
            started: timestamp(),
            program: program_digest(context),
            runs: args.runs.clone(),
            caching: if args.no_cache { Caching::Off } else { Caching::On },
        }
    }

    /// Returns where runs are kept.
    pub(super) fn runs(&self, root: &Path) -> PathBuf {
        self.runs.clone().unwrap_or_else(|| root.join("runs"))
    }

    /// Returns the result cache, where it is used.
    pub(super) fn cache(&self, runs: &Path) -> Option<Cache> {
        let program = self.program.filter(|_| self.caching == Caching::On)?;
        Some(Cache::new(runs.join(".cache"), program))
    }

    /// Returns where and when it was, at its end.
    pub(super) fn circumstances(&self, threads: usize) -> Circumstances {
        Circumstances {
            started: Some(self.started.clone()),
            finished: Some(timestamp()),
            host: crate::cli::host(),
            threads: Some(threads),
            program: self.program,
            parts: Vec::new(),
        }
    }
}

/// Compares the results with the golden; the requests of this run are in its folder.
fn compare_here(
    prepared: &Prepared,
    results: &[JobResult],
    (runs, folder): (&Path, &RunFolder),
) -> Comparison {
    let plan = &prepared.plan;
    let known = KnownRuns::of(runs, &plan.scenario);
    let requests = |index: usize| folder.read_requests(&plan.jobs[index].id);
    compare(plan, results, &prepared.golden, &known, &requests)
}

/// Tells what was measured live, on stderr: stdout holds what is the same in each run.
pub(super) fn tell_measured(results: &[JobResult], context: &Context) {
    if let Some(table) = measured_table(results) {
        context.note(&format!("\n{}", table.trim_end()));
    }
}

/// Prints the results on stdout.
pub(super) fn print_results(
    format: Format,
    plan: &Plan,
    (results, comparison): (&[JobResult], &Comparison),
) -> Result<(), Failure> {
    let verdicts = &comparison.verdicts;
    match format {
        Format::Table => print(jobs_table(results, verdicts)),
        Format::Json => {
            let (_, run) = run_file(plan, results);
            print(jobs_json(&run, &plan.scenario, results, verdicts))
        }
    }
}

/// Returns the failure of a run whose folder cannot be written.
pub(super) fn unwritable(runs: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write under `{}`: {error}", runs.display());
    Failure::new(Exit::JobFailed, Problem::new(Code::RunUnwritable, message))
}
