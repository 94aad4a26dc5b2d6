//! Refuses what this build cannot run before any job starts.

use std::collections::BTreeSet;

use crate::diag::{Advice, Bag, Code, Problem};
use crate::plan::{Job, JobKind, Plan};
use crate::sim::Unsupported;

use super::Executor;

/// Returns what this build cannot run of a plan; each place of the scenario once.
pub fn refusals(plan: &Plan, executor: &dyn Executor) -> Bag {
    told(plan, executor, Code::PlanUnsupported)
}

/// Returns as warnings what this build will refuse to run of a plan; each place of the scenario once.
pub fn cautions(plan: &Plan, executor: &dyn Executor) -> Bag {
    told(plan, executor, Code::PlanNotRunnable)
}

/// Returns what this build cannot run of a plan, under a code.
fn told(plan: &Plan, executor: &dyn Executor, code: Code) -> Bag {
    let (mut bag, mut told) = (Bag::new(), BTreeSet::new());
    for job in &plan.jobs {
        for unsupported in lacking(job, executor) {
            let problem = problem((plan, job), &unsupported, code);
            // Jobs of a sweep lack the same thing at the same place.
            if told.insert((unsupported.what, problem.place())) {
                bag.push(problem);
            }
        }
    }
    bag
}

/// Returns everything that a job lacks to be run.
fn lacking(job: &Job, executor: &dyn Executor) -> Vec<Unsupported> {
    match &job.kind {
        JobKind::Simulation(simulation) => executor.unsupported(simulation),
        JobKind::Replay(replay) => {
            replay.served_by.as_ref().map_or_else(Vec::new, |job| executor.unsupported(job))
        }
    }
}

/// Returns the finding, at the setting or the part of the scenario that asks for it.
fn problem((plan, job): (&Plan, &Job), unsupported: &Unsupported, code: Code) -> Problem {
    let needed = format!("needed by job `{}`", job.id);
    let problem = Problem::new(code, unsupported.to_string());
    let again = format!("`bench lint {}` says whether anything is left", plan.source.name());
    match &unsupported.advice {
        Some(Advice { setting, help }) => {
            job.label(problem, &plan.source, setting, &needed).help(format!("{help}; {again}"))
        }
        None => problem
            .label(&plan.source, job.places.of(unsupported.part), needed)
            .help(format!("leave out what cannot be run, or use a build that can; {again}")),
    }
}
