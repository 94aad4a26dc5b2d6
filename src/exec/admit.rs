//! Refuses what this build cannot run before any job starts.

use crate::diag::{Bag, Code, Problem};
use crate::plan::{Job, JobKind, Part, Plan};
use crate::sim::Unsupported;

use super::Executor;

/// Returns what this build cannot run of a plan; each place of the scenario once.
pub fn refusals(plan: &Plan, executor: &dyn Executor) -> Bag {
    let mut bag = Bag::new();
    let mut told = Vec::new();
    for job in &plan.jobs {
        for unsupported in lacking(job, executor) {
            let told_before = (unsupported.what.clone(), job.places.of(unsupported.part));
            if !told.contains(&told_before) {
                told.push(told_before);
                bag.push(problem(plan, job, &unsupported));
            }
        }
    }
    bag
}

/// Returns everything that a job lacks to be run.
fn lacking(job: &Job, executor: &dyn Executor) -> Vec<Unsupported> {
    match &job.kind {
        JobKind::Simulation(simulation) => executor.unsupported(simulation),
        JobKind::Replay(_) => {
            vec![Unsupported { what: "`replay` jobs".to_owned(), part: Part::Declaration }]
        }
    }
}

/// Returns the finding, at the part of the scenario that asks for it.
fn problem(plan: &Plan, job: &Job, unsupported: &Unsupported) -> Problem {
    Problem::new(Code::PlanUnsupported, unsupported.to_string())
        .label(&plan.source, job.places.of(unsupported.part), format!("needed by job `{}`", job.id))
        .help("`bench plan` lists the jobs; leave out what cannot be run, or use a build that can")
}
