//! `bench exec-batch`: run one batch of a plan as data and leave a partial run. For build derivations: no scenario, no cache, no
//! network, nothing of the machine in what it leaves.

use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cli::args::ExecBatchArgs;
use crate::cli::{Context, Exit, Failure, stop_on_signal};
use crate::diag::{Bag, Code, Problem};
use crate::exec::{Engines, refusals};
use crate::gate::Kept;
use crate::pin::Registry;
use crate::plan::{Batch, Plan};
use crate::report::{
    Circumstances, EventLines, JobResult, JobState, PartialFile, Share, write_file, write_job,
};

use super::jobs::{Manner, Sending, run_jobs};
use super::judged::{Ended, judge, ungated};
use super::prepared::Prepared;
use super::program::program_digest;
use super::run::unwritable;

/// Runs the command. `partial.json` is written last, and only where every job came to an end of its own.
pub(super) fn run(args: &ExecBatchArgs, context: &Context) -> Result<Exit, Failure> {
    let batch = read(&args.batch)?;
    let root = context.root().unwrap_or(Path::new("."));
    batch.verify(root)?;
    let (plans, warnings) = batch.plans(root)?;
    context.report(warnings);
    let prepared = Prepared::of_plan(together(&plans)?, context)?;
    prepare_folder(&args.out)?;
    let stop = stop_on_signal();
    let (cache, events, scratch) = (None, EventLines::Digest, Some(args.out.as_path()));
    let sending = Sending::Planned;
    let manner = Manner { threads: args.jobs, cache, events, sending, stop, scratch };
    let keep = |job: &crate::plan::Job, artifacts: &crate::report::Artifacts| {
        write_job(&args.out, &job.id, artifacts)
    };
    let results = run_jobs(&prepared, &manner, &keep, context);
    let ended = if stop.load(Ordering::SeqCst) { Ended::Interrupted } else { Ended::Whole };
    if results.iter().all(is_ended) {
        let share = Share::Batch { name: batch.name };
        let file = PartialFile::new(share, &results, &nowhere(program_digest(context)));
        write_file(&args.out, "partial.json", &file.value().to_document())
            .map_err(|error| unwritable(&args.out, &error))?;
    }
    Ok(judge(&prepared.plan, &results, &ungated(results.len()), (ended, Kept::Run, context)))
}

/// Reads the batch.
fn read(path: &Path) -> Result<Batch, Failure> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(Code::BatchWrong, format!("cannot read the batch `{name}`: {error}"))
    })?;
    Ok(Batch::parse(&name, &bytes)?)
}

/// Returns one plan of all jobs, or what this build cannot run of them. Each was planned from a text of its own, and is refused there.
fn together(plans: &[Plan]) -> Result<Plan, Failure> {
    let mut refused = Bag::new();
    let mut jobs = Vec::with_capacity(plans.len());
    for plan in plans {
        let engines = Engines::of_plan(plan, &Registry::open(&plan.root)?)?;
        refused.extend(refusals(plan, &engines));
        for job in &plan.jobs {
            jobs.push(crate::plan::Job { index: jobs.len(), ..job.clone() });
        }
    }
    if refused.has_errors() {
        return Err(refused.into());
    }
    let first = plans.first().expect("a batch without jobs is refused when it is read");
    Ok(Plan { jobs, ..first.clone() })
}

/// Makes the folder of the partial run, which must hold nothing.
fn prepare_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut entries = std::fs::read_dir(folder).map_err(|error| unwritable(folder, &error))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let message = format!("`{}` is not empty", folder.display());
    Err(Problem::new(Code::RunUnwritable, message)
        .help("a partial run gets a folder of its own")
        .into())
}

/// Returns whether a job came to an end of its own: what could not be written has not.
fn is_ended(result: &JobResult) -> bool {
    let unwritable =
        matches!(result.state, JobState::Unreported(crate::exec::JobError::Unwritable { .. }));
    !result.is_interrupted() && !unwritable
}

/// Returns circumstances that tell the program alone.
fn nowhere(program: Option<crate::digest::Sha256>) -> Circumstances {
    Circumstances {
        started: None,
        finished: None,
        host: None,
        threads: None,
        program,
        parts: Vec::new(),
    }
}
