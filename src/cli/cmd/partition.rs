//! `bench run --partition`: one share of a plan, left as a partial run for `bench merge`.

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cli::args::{Format, RunArgs};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::counted;
use crate::exec::{Engines, Partition, refusals};
use crate::gate::Kept;
use crate::pin::Registry;
use crate::plan::load_plan;
use crate::report::{EventLines, JobResult, PartialFile, RunFolder, Share, jobs_table};

use super::jobs::{Manner, Sending, run_jobs};
use super::judged::{Ended, judge, ungated};
use super::prepared::Prepared;
use super::run::{Begun, tell_measured, unwritable};

/// Runs the jobs of a share. What this build cannot run of the whole plan is refused, as without `--partition`; no gate judges a part.
pub(super) fn run(
    partition: Partition,
    args: &RunArgs,
    (begun, context): (&Begun, &Context),
) -> Result<Exit, Failure> {
    let (plan, warnings) = load_plan(&args.file, context.root())?;
    context.report(warnings);
    let engines = Engines::of_plan(&plan, &Registry::open(&plan.root)?)?;
    let refused = refusals(&plan, &engines);
    if refused.has_errors() {
        return Err(refused.into());
    }
    let digest = plan.digest();
    let share = Share::Partition {
        partition,
        scenario: plan.scenario.clone(),
        file: plan.file.clone(),
        plan: digest,
    };
    let count = plan.jobs.len();
    let prepared = Prepared::of_plan(partition.select(&plan), context)?;
    prepared.check_live()?;
    let runs = begun.runs(&prepared.plan.root);
    let cache = begun.cache(&runs);
    let folder =
        RunFolder::create(&runs, &plan.scenario).map_err(|error| unwritable(&runs, &error))?;
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
    let circumstances = begun.circumstances(manner.threads().get());
    let file = PartialFile::new(share, &results, &circumstances);
    let folder =
        write(folder, &file, (&digest, partition)).map_err(|error| unwritable(&runs, &error))?;
    print_results(args.format, &results, &file)?;
    tell_measured(&results, context);
    told((partition, count), &results, &folder, context);
    let ended = if stop.load(Ordering::SeqCst) { Ended::Interrupted } else { Ended::Whole };
    Ok(judge(&prepared.plan, &results, &ungated(results.len()), (ended, Kept::Run, context)))
}

/// Writes `partial.json` and gives the folder its name.
fn write(
    folder: RunFolder,
    file: &PartialFile,
    (plan, partition): (&crate::digest::Sha256, Partition),
) -> std::io::Result<std::path::PathBuf> {
    folder.write_file("partial.json", &file.value().to_document())?;
    Ok(folder.finish_part(plan, &partition.file_name())?.folder)
}

/// Prints the results of the share on stdout.
fn print_results(format: Format, results: &[JobResult], file: &PartialFile) -> Result<(), Failure> {
    match format {
        Format::Table => print(jobs_table(results, &ungated(results.len()).verdicts)),
        Format::Json => print(file.value().to_document()),
    }
}

/// Says where the part is and what makes a run of it.
fn told(
    (partition, all): (Partition, usize),
    results: &[JobResult],
    folder: &Path,
    context: &Context,
) {
    let count = results.len();
    context.note(&format!(
        "partition {partition}: {count} of {}; partial run: {}",
        counted(all, "job"),
        folder.display()
    ));
    let parts = folder.parent().unwrap_or(folder).display();
    context.note(&format!("no gate judges a part; when all are there: bench merge {parts}"));
}
