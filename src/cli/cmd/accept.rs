//! `bench accept`: run what changed three times in fresh processes, show the difference, write the golden.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::args::{AcceptArgs, Format};
use crate::cli::{Context, Exit, Failure, date, print, stop_on_signal, user};
use crate::diag::{Bag, Code, Problem};
use crate::gate::{
    Acceptance, Finding, Golden, GoldenFile, GoldenJob, Kept, Side, changed_jobs, diff_json,
    diff_table, differences, write_golden,
};
use crate::measure::DEFINITION;
use crate::report::{EventLines, JobResult};

use super::check::compare_fresh;
use super::forbid::forbid_pins_write;
use super::fresh::{RUNS, agree, refuse_interrupted};
use super::jobs::{Manner, Sending};
use super::judged::{Ended, judge, ungated};
use super::prepared::{Prepared, golden_path};

/// Runs the command.
pub(super) fn run(args: &AcceptArgs, context: &Context) -> Result<Exit, Failure> {
    let prepared = Prepared::new(&args.file, context)?;
    let (path, name) = golden_path(&prepared.plan).ok_or_else(|| no_gate(&prepared))?;
    forbid_pins_write(Code::AcceptForbidden, &path, context)?;
    refuse_other_scenario(&prepared)?;
    let stop = stop_on_signal();
    let (cache, events, scratch) = (None, EventLines::Digest, None);
    let sending = Sending::Planned;
    let manner = Manner { threads: args.jobs, cache, events, sending, stop, scratch };
    let (results, comparison) = compare_fresh(&prepared, &manner, context);
    if let Some(exit) = refuse_failed(&prepared, &results, (stop.load(Ordering::SeqCst), context)) {
        return Ok(exit);
    }
    refuse_interrupted(stop)?;
    let changed = changed_jobs(&comparison);
    if changed.is_empty() && comparison.verdicts.gone.is_empty() {
        context.note(&format!("{name} says so already: nothing is changed"));
        return Ok(Exit::Success);
    }
    agree(args, context, (&prepared.plan, &changed, &results), &manner)?;
    for result in &results {
        // A golden of a job that loses requests is allowed, and not without a word.
        let notes = result.notes();
        for note in &notes {
            context.note(&format!("{}: {note}", result.id));
        }
    }
    let golden = accepted(args, &prepared, &results);
    show(args.format, (&prepared.golden, &golden), &name)?;
    write((&path, &name), &golden, stop)?;
    context.note(&told((&prepared.golden, &golden), &changed, &name));
    Ok(Exit::Success)
}

/// Writes the golden, unless someone asked to stop meanwhile.
fn write((path, name): (&Path, &str), golden: &Golden, stop: &AtomicBool) -> Result<(), Failure> {
    refuse_interrupted(stop)?;
    write_golden(path, golden).map_err(|error| {
        let message = format!("cannot write `{name}`: {error}");
        Failure::new(Exit::JobFailed, Problem::new(Code::RunUnwritable, message))
    })
}

/// Returns the failure of a scenario without a golden.
fn no_gate(prepared: &Prepared) -> Failure {
    let message = format!("scenario `{}` names no golden", prepared.plan.scenario);
    Problem::new(Code::AcceptNoGate, message)
        .help("add `gate { golden \"pins/goldens/NAME.kdl\" }`")
        .into()
}

/// Refuses to write over the golden of another scenario, which would lose its jobs.
fn refuse_other_scenario(prepared: &Prepared) -> Result<(), Failure> {
    match &prepared.golden {
        GoldenFile::Present(golden) if golden.scenario != prepared.plan.scenario => {
            let finding = Finding::OtherScenario { found: golden.scenario.clone() };
            Err(Failure::new(Exit::Drift, finding.problem(&prepared.plan, Kept::Nothing)))
        }
        GoldenFile::Present(_) | GoldenFile::Missing | GoldenFile::Unnamed => Ok(()),
    }
}

/// Refuses where a job failed or the run was interrupted; `None` where every job completed.
fn refuse_failed(
    prepared: &Prepared,
    results: &[JobResult],
    (interrupted, context): (bool, &Context),
) -> Option<Exit> {
    if results.iter().all(|result| result.outcome() == "completed") {
        return None;
    }
    let ended = if interrupted { Ended::Interrupted } else { Ended::Whole };
    let exit =
        judge(&prepared.plan, results, &ungated(results.len()), (ended, Kept::Nothing, context));
    let problem = Problem::new(Code::AcceptFailed, "not every job completed: nothing is accepted");
    context.report(Bag::from(problem));
    Some(exit)
}

/// Returns the golden that says what the results are.
fn accepted(args: &AcceptArgs, prepared: &Prepared, results: &[JobResult]) -> Golden {
    Golden {
        scenario: prepared.plan.scenario.clone(),
        accepted: Acceptance {
            reason: args.reason.clone(),
            by: args.by.clone().unwrap_or_else(user),
            on: date(),
            equal_runs: RUNS,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        },
        definition: DEFINITION.to_owned(),
        jobs: results.iter().filter_map(GoldenJob::of).collect(),
    }
}

/// Prints what changes, from the old golden to the new one.
fn show(format: Format, (old, new): (&GoldenFile, &Golden), name: &str) -> Result<(), Failure> {
    let new = Side::of_golden("new".to_owned(), new.clone());
    let old = match old {
        GoldenFile::Present(old) => Side::of_golden(name.to_owned(), old.clone()),
        GoldenFile::Unnamed | GoldenFile::Missing => Side::empty(name),
    };
    let changes = differences(&old, &new);
    match format {
        Format::Table => print(diff_table(&old, &new, &changes)),
        Format::Json => print(diff_json(&old, &new, &changes)),
    }
}

/// Returns what was accepted, in one line.
fn told((old, new): (&GoldenFile, &Golden), changed: &[usize], name: &str) -> String {
    let kept = new.by_id();
    let gone = match old {
        GoldenFile::Present(old) => {
            old.jobs.iter().filter(|job| !kept.contains_key(&job.id)).count()
        }
        GoldenFile::Unnamed | GoldenFile::Missing => 0,
    };
    format!(
        "{name}: accepted {} after {RUNS} equal runs each, removed {gone}, left {} unchanged",
        changed.len(),
        new.jobs.len() - changed.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_once_someone_asked_to_stop() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("golden.kdl");
        let golden = Golden {
            scenario: "small".to_owned(),
            accepted: Acceptance {
                reason: "because".to_owned(),
                by: "ada".to_owned(),
                on: "2026-01-01".to_owned(),
                equal_runs: RUNS,
                tool: "0.1.0".to_owned(),
            },
            definition: DEFINITION.to_owned(),
            jobs: Vec::new(),
        };
        let stopped = write((&path, "golden.kdl"), &golden, &AtomicBool::new(true));
        let refused = stopped.expect_err("it was interrupted");
        assert_eq!(refused.exit(), Exit::Interrupted);
        assert_eq!(refused.into_bag().into_sorted()[0].code(), Code::AcceptInterrupted);
        assert!(!path.exists());
        write((&path, "golden.kdl"), &golden, &AtomicBool::new(false)).expect("written");
        assert!(path.exists());
    }
}
