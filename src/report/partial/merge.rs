//! From partial runs to the results of the whole plan: each job exactly once, of one plan, by one program.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::{PartialJob, PartialRun, Share};
use crate::diag::{Bag, Code, Problem, counted};
use crate::exec::{EndElsewhere, JobError, Origin, Partition};
use crate::plan::{Job, Plan, planned_batches};
use crate::report::{Artifacts, JobResult, JobState};

/// Which programs may have computed the parts of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Programs {
    /// One and the same.
    One,
    /// Several builds, as on machines of several kinds.
    Any,
}

/// Checks that the parts are one run: of this plan, by one program, each job once.
///
/// # Errors
/// [`Code::MergeOtherPlan`], [`Code::MergeOtherProgram`], [`Code::MergeOverlap`], [`Code::MergeDisagreement`] and [`Code::MergeGap`].
pub fn check(plan: &Plan, parts: &[PartialRun], programs: Programs) -> Result<(), Bag> {
    let mut bag = Bag::new();
    for part in parts {
        bag.extend(foreign(plan, part).map_or_else(Bag::new, Bag::from));
    }
    if !bag.is_empty() {
        return Err(bag); // what belongs to another plan would be a gap or an overlap as well
    }
    if programs == Programs::One {
        bag.extend(other_program(parts).map_or_else(Bag::new, Bag::from));
    }
    let ended = ended(parts);
    bag.extend(overlaps(plan, &ended));
    bag.extend(gaps(plan, parts, &ended));
    if bag.is_empty() { Ok(()) } else { Err(bag) }
}

/// Returns what the report of live traffic is that no part has: its plan, which nothing was sent of.
type PlanLive<'a> = &'a dyn Fn(&Job) -> Result<Artifacts, Problem>;

/// Returns how each job of the plan ended, in its order, handing what it left to `keep`. The parts were checked. What is long is copied to
/// files of `scratch` on the way. Live traffic that no part holds is planned.
///
/// # Errors
/// [`Code::MergeDamaged`] for a job whose files are not what their digests say; what `keep` says becomes the job's own failure.
pub fn collect(
    plan: &Plan,
    parts: &[PartialRun],
    keep: &dyn Fn(&Job, &Artifacts) -> io::Result<()>,
    scratch: Option<&Path>,
    live: PlanLive<'_>,
) -> Result<Vec<JobResult>, Bag> {
    let ended = ended(parts);
    let (mut results, mut bag) = (Vec::with_capacity(plan.jobs.len()), Bag::new());
    for job in &plan.jobs {
        let Some((part, told)) = ended.get(job.id.as_str()).map(|parts| parts[0]) else {
            let state = planned(job, keep, live);
            results.push(JobResult { id: job.id.clone(), key: job.key(), state });
            continue;
        };
        match state(job, (part, told), keep, scratch) {
            Ok(state) => results.push(JobResult { id: job.id.clone(), key: told.key, state }),
            Err(why) => {
                let message = format!("job `{}` in `{}`: {why}", job.id, part.folder.display());
                bag.push(Problem::new(Code::MergeDamaged, message));
            }
        }
    }
    if bag.is_empty() { Ok(results) } else { Err(bag) }
}

/// Where each job came to its end: the parts that say so, by the job's id.
type Ended<'a> = BTreeMap<&'a str, Vec<(&'a PartialRun, &'a PartialJob)>>;

/// Returns where each job came to its end.
fn ended(parts: &[PartialRun]) -> Ended<'_> {
    let mut ended = Ended::new();
    for part in parts {
        for job in part.file.jobs.iter().filter(|job| job.is_ended()) {
            ended.entry(job.id.as_str()).or_default().push((part, job));
        }
    }
    ended
}

/// Returns the end of live traffic that was planned and not sent.
fn planned(
    job: &Job,
    keep: &dyn Fn(&Job, &Artifacts) -> io::Result<()>,
    live: PlanLive<'_>,
) -> JobState {
    let artifacts = match live(job) {
        Ok(artifacts) => artifacts,
        Err(problem) => {
            let cause = problem.message().to_owned();
            let help = problem.help_text().unwrap_or("`bench plan FILE --wire` plans it alone");
            let help = help.to_owned();
            return JobState::Unreported(JobError::Traffic { cause, help });
        }
    };
    match keep(job, &artifacts) {
        Ok(()) => {
            let report = Box::new(artifacts.report);
            JobState::Reported { report, measured: None, origin: Origin::Planned }
        }
        Err(error) => JobState::Unreported(JobError::Unwritable { cause: error.to_string() }),
    }
}

/// Returns how a job ended.
fn state(
    job: &Job,
    (part, told): (&PartialRun, &PartialJob),
    keep: &dyn Fn(&Job, &Artifacts) -> io::Result<()>,
    scratch: Option<&Path>,
) -> Result<JobState, String> {
    if told.report.is_none() {
        let end = EndElsewhere::of(&told.outcome)
            .ok_or(format!("it has no report, and `{}` is no end without one", told.outcome))?;
        let text = told.why.clone().ok_or("it has no report, and nothing says why")?;
        return Ok(JobState::Unreported(JobError::Elsewhere { end, text }));
    }
    let artifacts = part.artifacts(told, scratch)?;
    Ok(match keep(job, &artifacts) {
        Ok(()) => {
            let report = Box::new(artifacts.report);
            let measured = artifacts.live.map(|live| Box::new(live.measured));
            JobState::Reported { report, measured, origin: Origin::Merged }
        }
        Err(error) => JobState::Unreported(JobError::Unwritable { cause: error.to_string() }),
    })
}

/// Returns the problem of a part that belongs to another plan.
fn foreign(plan: &Plan, part: &PartialRun) -> Option<Problem> {
    let shown = part.folder.display();
    let problem = |why: String| {
        let message = format!("`{shown}` is a part of another plan: {why}");
        let help = format!(
            "run it again for the plan of today, or merge with the scenario that it was run for; \
             `bench plan {}` lists the jobs and keys",
            plan.file
        );
        Some(Problem::new(Code::MergeOtherPlan, message).help(help))
    };
    let keys: BTreeMap<&str, _> =
        plan.jobs.iter().map(|job| (job.id.as_str(), job.key())).collect();
    for job in &part.file.jobs {
        match keys.get(job.id.as_str()) {
            None => return problem(format!("the plan has no job `{}`", job.id)),
            Some(key) if *key != job.key => {
                let (found, expected) = (job.key.digest().short(), key.digest().short());
                return problem(format!(
                    "job `{}` has key {found} there and {expected} in the plan",
                    job.id
                ));
            }
            Some(_) => {}
        }
    }
    match &part.file.share {
        Share::Partition { plan: of, .. } if *of != plan.digest() => {
            let (found, expected) = (of.short(), plan.digest().short());
            problem(format!("its jobs are in this one, but it is {found} and this one {expected}"))
        }
        Share::Partition { .. } | Share::Batch { .. } => None,
    }
}

/// Returns the problem of parts that different programs computed.
fn other_program(parts: &[PartialRun]) -> Option<Problem> {
    let first = parts.first()?;
    let other = parts.iter().find(|part| part.file.program != first.file.program)?;
    let program = |part: &PartialRun| {
        let digest = part.file.program.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
        format!("{digest}  {}", part.folder.display())
    };
    let message = "different programs computed the parts";
    let both = format!("{}\n{}", program(first), program(other));
    let help = "run the odd one again; `--any-program` merges what builds for several kinds of machines computed";
    Some(Problem::new(Code::MergeOtherProgram, message).help(format!("{both}\n{help}")))
}

/// Returns a problem for each two parts that hold the same job.
fn overlaps(plan: &Plan, ended: &Ended<'_>) -> Bag {
    let mut pairs: BTreeMap<(&Path, &Path), Vec<&Job>> = BTreeMap::new();
    let mut bag = Bag::new();
    for job in &plan.jobs {
        let Some([(first, told), (second, again), ..]) =
            ended.get(job.id.as_str()).map(Vec::as_slice)
        else {
            continue; // it is in one part at the most
        };
        if (told.report, &told.outcome, &told.why) == (again.report, &again.outcome, &again.why) {
            pairs.entry((&first.folder, &second.folder)).or_default().push(job);
        } else {
            bag.push(disagreement(job, (first, told), (second, again)));
        }
    }
    for ((first, second), jobs) in pairs {
        let (first, second) = (first.display(), second.display());
        let message = format!(
            "`{first}` and `{second}` both hold {}, the first is `{}`",
            counted(jobs.len(), "job"),
            jobs[0].id
        );
        bag.push(Problem::new(Code::MergeOverlap, message).help("leave one of them out"));
    }
    bag
}

/// Returns the problem of a job of which two parts say different things.
fn disagreement(
    job: &Job,
    (first, told): (&PartialRun, &PartialJob),
    (second, again): (&PartialRun, &PartialJob),
) -> Problem {
    let said = |part: &PartialRun, job: &PartialJob| {
        let report = job.report.map_or_else(|| "no report".to_owned(), |it| it.to_string());
        format!("{report} ({}) in {}", job.outcome, part.folder.display())
    };
    let message = format!("two parts disagree about job `{}`", job.id);
    let both = format!("{}\n{}", said(first, told), said(second, again));
    let help = "one of them is wrong, or the job is not deterministic: find out before you merge";
    Problem::new(Code::MergeDisagreement, message).help(format!("{both}\n{help}"))
}

/// Returns a problem for each partition, or else each batch, that lacks jobs.
fn gaps(plan: &Plan, parts: &[PartialRun], ended: &Ended<'_>) -> Bag {
    let lacks = |job: &&Job| !ended.contains_key(job.id.as_str());
    let missing: Vec<&Job> = plan.jobs.iter().filter(lacks).collect();
    let mut bag = Bag::new();
    if missing.is_empty() {
        return bag;
    }
    if let Some(deal) = deal(parts) {
        for partition in deal.all() {
            let taken = |job: &&Job| partition.takes(job);
            let lost: Vec<&Job> = missing.iter().copied().filter(taken).collect();
            if !lost.is_empty() {
                let all = plan.jobs.iter().filter(taken).count();
                bag.push(lost_partition(plan, parts, partition, (&lost, all)));
            }
        }
        return bag;
    }
    // Batches hold no live traffic: what they make a run of has its plan.
    for (name, jobs) in planned_batches(plan) {
        let lost: Vec<&Job> = jobs.iter().filter(lacks).collect();
        if let Some(first) = lost.first() {
            let (count, all) = (lost.len(), counted(jobs.len(), "job"));
            let message =
                format!("batch `{name}` lacks {count} of {all}, the first is `{}`", first.id);
            let help = format!(
                "build it again: it is in `bench plan {} --format nix-json`, and `bench exec-batch` runs it",
                plan.file
            );
            bag.push(Problem::new(Code::MergeGap, message).help(help));
        }
    }
    bag
}

/// Returns how the plan was dealt out, where all parts are partitions of one deal.
fn deal(parts: &[PartialRun]) -> Option<Partition> {
    let mut deals = parts.iter().map(|part| match &part.file.share {
        Share::Partition { partition, .. } => Some(*partition),
        Share::Batch { .. } => None,
    });
    let first = deals.next()??;
    deals.all(|deal| deal.is_some_and(|deal| deal.is_of_same_deal(first))).then_some(first)
}

/// Returns the problem of a partition that lacks jobs, with the command that runs it again.
fn lost_partition(
    plan: &Plan,
    parts: &[PartialRun],
    partition: Partition,
    (lost, all): (&[&Job], usize),
) -> Problem {
    let is_here = parts.iter().any(|part| {
        matches!(&part.file.share, Share::Partition { partition: it, .. } if *it == partition)
    });
    let first = &lost[0].id;
    let message = if is_here {
        let (count, all) = (lost.len(), counted(all, "job"));
        format!(
            "partition {partition} is cut: {count} of its {all} did not end, the first is `{first}`"
        )
    } else {
        format!("partition {partition} is missing: {}, the first is `{first}`", counted(all, "job"))
    };
    let command = format!("bench run {} --partition {partition}{}", plan.file, kept(plan, parts));
    Problem::new(Code::MergeGap, message).help(format!("run it, then merge again: {command}"))
}

/// Returns the option that leaves a partition where the first part is: `RUNS/<scenario>/parts/<plan>/<part>`. Nothing where that is
/// the default, or where the part was moved.
fn kept(plan: &Plan, parts: &[PartialRun]) -> String {
    let folder = parts.first().map_or(Path::new(""), |part| &part.folder);
    let is_in_place = folder.ancestors().nth(2).is_some_and(|above| above.ends_with("parts"));
    let Some(runs) = folder.ancestors().nth(4).filter(|_| is_in_place) else {
        return String::new();
    };
    let runs = if runs.as_os_str().is_empty() { Path::new(".") } else { runs };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real(runs) == real(&plan.root.join("runs")) {
        return String::new();
    }
    format!(" --runs {}", runs.display())
}
