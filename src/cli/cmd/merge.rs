//! `bench merge`: one run of its parts, as if one process had run them all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::args::MergeArgs;
use crate::cli::{Context, Exit, Failure, host, timestamp};
use crate::diag::{Bag, Code, Problem, counted};
use crate::gate::{GoldenFile, Kept, KnownRuns, Unsent, compare, judge_unsent};
use crate::pin::Registry;
use crate::plan::{Job, JobKind, Plan, load_plan};
use crate::replay::wire::WirePlan;
use crate::report::live::planned;
use crate::report::{
    Artifacts, Circumstances, MergedPart, PartialRun, Programs, RunFolder, Share, check_parts,
    collect_parts, partial_runs,
};
use crate::scenario::project_root;

use super::judged::{Ended, judge};
use super::prepared::golden_path;
use super::program::program_digest;
use super::run::{print_results, unwritable};
use super::run_files::{RunFiles, write_run_files};

/// Runs the command.
pub(super) fn run(args: &MergeArgs, context: &Context) -> Result<Exit, Failure> {
    let started = timestamp();
    let parts = read(&args.parts)?;
    let plan = plan(args, &parts, context)?;
    let programs = if args.any_program { Programs::Any } else { Programs::One };
    check_parts(&plan, &parts, programs).map_err(refused)?;
    let golden = match golden_path(&plan) {
        Some((path, name)) => GoldenFile::read(&path, &name)?,
        None => GoldenFile::Unnamed,
    };
    let runs = args.runs.clone().unwrap_or_else(|| plan.root.join("runs"));
    let cannot_write = |error: std::io::Error| unwritable(&runs, &error);
    let folder = RunFolder::create(&runs, &plan.scenario).map_err(cannot_write)?;
    let keep = |job: &Job, artifacts: &Artifacts| folder.write_job(&job.id, artifacts);
    let results = collect_parts(&plan, &parts, &keep, Some(folder.path()), &|job| {
        plan_live(&plan, job, folder.path())
    })?;
    let known = KnownRuns::of(&runs, &plan.scenario);
    let requests = |index: usize| folder.read_requests(&plan.jobs[index].id);
    let mut comparison = compare(&plan, &results, &golden, &known, &requests);
    let unsent = if args.planned { Unsent::PlanOnly } else { Unsent::Owed };
    judge_unsent(&plan, &results, unsent, &mut comparison);
    let circumstances = circumstances(args, &parts, (started, context));
    let files = RunFiles { results: &results, comparison: &comparison, circumstances };
    let finished = write_run_files(folder, &plan, &files).map_err(cannot_write)?;
    print_results(args.format, &plan, (&results, &comparison))?;
    context.note(&format!("merged {}", counted(parts.len(), "part")));
    context.note(&format!("run folder: {}", finished.folder.display()));
    Ok(judge(&plan, &results, &comparison, (Ended::Whole, Kept::Run, context)))
}

/// Returns the report of live traffic that no part holds: batches are of simulations.
fn plan_live(plan: &Plan, job: &Job, scratch: &Path) -> Result<Artifacts, Problem> {
    let refused = |why: String| Problem::new(Code::MergeGap, why);
    let JobKind::Replay(replay) = &job.kind else {
        return Err(refused("no part holds it".to_owned()));
    };
    let first = |bag: Bag| {
        let first = bag.into_sorted().into_iter().next();
        first.unwrap_or_else(|| refused("its traffic cannot be planned".to_owned()))
    };
    let registry = Registry::open(&plan.root)?;
    let wire = WirePlan::load(replay, &registry).map_err(first)?;
    let planned = planned(job, &wire.plan, Some(scratch));
    let (report, requests) = planned.map_err(|error| refused(error.to_string()))?;
    Ok(Artifacts { report, requests, events: None, live: None })
}

/// Reads all parts; one that two arguments name is read once.
fn read(folders: &[PathBuf]) -> Result<Vec<PartialRun>, Failure> {
    let (mut parts, mut known, mut bag) = (Vec::new(), BTreeSet::new(), Bag::new());
    for folder in folders {
        match partial_runs(folder) {
            Ok(found) => {
                for part in found {
                    let real = part.folder.canonicalize().unwrap_or_else(|_| part.folder.clone());
                    if known.insert(real) {
                        parts.push(part);
                    }
                }
            }
            Err(problem) => bag.push(problem),
        }
    }
    if bag.is_empty() { Ok(parts) } else { Err(bag.into()) }
}

/// Plans the scenario that the parts belong to.
fn plan(args: &MergeArgs, parts: &[PartialRun], context: &Context) -> Result<Plan, Failure> {
    let file = match &args.scenario {
        Some(file) => file.clone(),
        None => scenario_of(&args.parts, parts, context)?,
    };
    let (plan, warnings) = load_plan(&file, context.root())?;
    context.report(warnings);
    Ok(plan)
}

/// Returns the scenario that the parts name; all must name the same.
fn scenario_of(
    folders: &[PathBuf],
    parts: &[PartialRun],
    context: &Context,
) -> Result<PathBuf, Failure> {
    let mut files: Vec<&str> = Vec::new();
    for part in parts {
        match &part.file.share {
            Share::Partition { file, .. } if files.contains(&file.as_str()) => {}
            Share::Partition { file, .. } => files.push(file),
            Share::Batch { .. } => return Err(unnamed("a batch does not know its scenario")),
        }
    }
    match files.as_slice() {
        [file] => Ok(root(folders, context)?.join(file)),
        several => Err(unnamed(&format!("the parts are of {}", several.join(" and ")))),
    }
}

/// Returns the project root: `--root`, else the nearest folder with `pins/` above a part, else above here.
fn root(folders: &[PathBuf], context: &Context) -> Result<PathBuf, Failure> {
    if let Some(root) = context.root() {
        return Ok(root.to_owned());
    }
    let above = folders.iter().map(|folder| folder.join("partial.json"));
    let found = above.chain([PathBuf::from("partial.json")]).map(|path| project_root(&path));
    let mut found = found.filter_map(Result::ok);
    found
        .next()
        .ok_or_else(|| unnamed("no folder above the parts, or above this one, holds `pins/`"))
}

/// Returns the failure of parts whose scenario is not known.
fn unnamed(why: &str) -> Failure {
    let message = format!("it is not known which scenario to merge for: {why}");
    Problem::new(Code::MergeNoScenario, message)
        .help("name it: `bench merge --scenario scenarios/NAME.kdl RUN...`")
        .into()
}

/// Returns the failure of parts that are no run: a disagreement is drift, a gap leaves no verdict, the rest are mistakes of the call.
fn refused(bag: Bag) -> Failure {
    let of_code = |code: Code| {
        if code == Code::MergeDisagreement {
            Exit::Drift
        } else if code == Code::MergeGap {
            Exit::NoVerdict
        } else {
            Exit::Refused
        }
    };
    let mut findings = Bag::new();
    let mut exit = Exit::Success;
    for problem in bag.into_sorted() {
        exit = exit.and(of_code(problem.code()));
        findings.push(problem);
    }
    Failure::new(exit, findings)
}

/// Returns where and when the parts were merged, and what they tell of themselves.
fn circumstances(
    args: &MergeArgs,
    parts: &[PartialRun],
    (started, context): (String, &Context),
) -> Circumstances {
    let is_told = !args.reproducible;
    let part = |part: &PartialRun| MergedPart {
        name: part.file.share.to_string(),
        digest: part.digest,
        program: part.file.program,
        circumstances: part.file.circumstances.clone(),
    };
    Circumstances {
        started: is_told.then_some(started),
        finished: is_told.then(timestamp),
        host: host().filter(|_| is_told),
        threads: None,
        program: program_digest(context),
        parts: parts.iter().map(part).collect(),
    }
}
