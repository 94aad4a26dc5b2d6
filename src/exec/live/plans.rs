//! The wire plans of a plan's replay jobs.

use std::sync::Arc;

use crate::diag::Bag;
use crate::plan::{Job, JobKey, JobKind, Plan, ReplayJob};
use crate::replay::wire::WirePlan;

/// The wire plans of a plan's replay jobs, by the keys of the jobs.
#[derive(Debug, Default, Clone)]
pub struct WirePlans {
    planned: Vec<(JobKey, Arc<WirePlan>)>,
}

impl WirePlans {
    /// Plans every request of every replay job, before any job starts.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn load(
        plan: &Plan,
        mut wire: impl FnMut(&ReplayJob) -> Result<WirePlan, Bag>,
    ) -> Result<Self, Bag> {
        let (mut planned, mut bag) = (Vec::new(), Bag::new());
        for job in &plan.jobs {
            let JobKind::Replay(replay) = &job.kind else { continue };
            match wire(replay) {
                Ok(wire) => planned.push((job.key(), Arc::new(wire))),
                Err(problems) => {
                    for problem in problems.into_sorted() {
                        let at = job.places.declaration;
                        let label = format!("planned for job `{}`", job.id);
                        let is_placed = problem.place().is_some();
                        bag.push(if is_placed {
                            problem
                        } else {
                            problem.label(&plan.source, at, label)
                        });
                    }
                }
            }
        }
        if bag.has_errors() { Err(bag) } else { Ok(Self { planned }) }
    }

    /// Returns the wire plan of a job.
    pub fn of(&self, job: &Job) -> Option<&WirePlan> {
        let key = job.key();
        self.planned.iter().find(|(known, _)| *known == key).map(|(_, wire)| wire.as_ref())
    }
}
