//! What one version of an engine says of every question of a scenario.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::cli::cmd::jobs::{Manner, run_jobs_by};
use crate::cli::cmd::prepared::Prepared;
use crate::cli::{Context, Failure};
use crate::exec::{Engines, Executor};
use crate::gate::upgrade::Answer;
use crate::pin::Registry;
use crate::plan::{EngineIdentity, Job, JobId, JobKind, Plan, SimulationJob, retarget};
use crate::record::Spool;
use crate::report::Artifacts;

/// The questions of a scenario under one version of an engine.
#[derive(Debug, Clone)]
pub(in crate::cli::cmd) struct PinRun {
    /// Those that the version can be asked, with what they read.
    prepared: Prepared,
    /// Why it cannot be asked the others.
    refused: BTreeMap<JobId, String>,
}

impl PinRun {
    /// Prepares the questions of a plan for one version of an engine.
    ///
    /// # Errors
    /// What is wrong with a trace that they read.
    pub(in crate::cli::cmd) fn new(
        plan: &Plan,
        engine: &EngineIdentity,
        context: &Context,
    ) -> Result<Self, Failure> {
        let mut plan = retarget(plan, engine);
        let engines = Engines::of([engine], &Registry::open(&plan.root)?)?;
        let mut refused = BTreeMap::new();
        for job in &plan.jobs {
            if let Some(why) = simulation(job).and_then(|simulation| refusal(simulation, &engines))
            {
                refused.insert(job.id.clone(), why);
            }
        }
        plan.jobs.retain(|job| !refused.contains_key(&job.id));
        Ok(Self { prepared: Prepared::of_plan(reindexed(plan), context)?, refused })
    }

    /// Returns the questions that can be asked.
    pub(in crate::cli::cmd) fn jobs(&self) -> &[Job] {
        &self.prepared.plan.jobs
    }

    /// Keeps the questions that `keep` takes.
    pub(in crate::cli::cmd) fn retain(&mut self, keep: impl Fn(&Job) -> bool) {
        let mut plan = self.prepared.plan.clone();
        plan.jobs.retain(keep);
        self.prepared.plan = reindexed(plan);
    }

    /// Asks every question once, in this process or by its runner, and returns the answers by question; the cache is not read.
    pub(in crate::cli::cmd) fn ask(
        &self,
        manner: &Manner<'_>,
        context: &Context,
    ) -> BTreeMap<JobId, Answer> {
        self.ask_of(self.engine(), manner, context)
    }

    /// Returns the engine that answers.
    pub(super) fn engine(&self) -> &dyn Executor {
        &self.prepared.engines
    }

    /// Asks every question once of an executor, as [`PinRun::ask`] does.
    pub(super) fn ask_of(
        &self,
        executor: &dyn Executor,
        manner: &Manner<'_>,
        context: &Context,
    ) -> BTreeMap<JobId, Answer> {
        let requests: Mutex<BTreeMap<usize, Spool>> = Mutex::default();
        let keep = |job: &Job, artifacts: &Artifacts| {
            let mut requests = requests.lock().map_err(|_| std::io::Error::other("poisoned"))?;
            requests.insert(job.index, artifacts.requests.clone());
            Ok(())
        };
        let results = run_jobs_by(executor, &self.prepared, manner, &keep, context);
        let mut requests = requests.into_inner().unwrap_or_default();
        let answers = results.iter().enumerate().map(|(index, result)| {
            (result.id.clone(), Answer::of(result, requests.remove(&index)))
        });
        let refused =
            self.refused.iter().map(|(id, why)| (id.clone(), Answer::Refused(why.clone())));
        answers.chain(refused).collect()
    }
}

/// Returns why an engine cannot be asked a question; `None` where it can.
fn refusal(job: &SimulationJob, engine: &dyn Executor) -> Option<String> {
    let unsupported = engine.unsupported(job);
    let reasons: Vec<String> = unsupported.iter().map(ToString::to_string).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Returns the simulation of a job; a retargeted plan has no others.
pub(in crate::cli::cmd) fn simulation(job: &Job) -> Option<&SimulationJob> {
    match &job.kind {
        JobKind::Simulation(simulation) => Some(simulation),
        JobKind::Replay(_) => None,
    }
}

/// Returns a plan whose jobs are counted anew.
fn reindexed(mut plan: Plan) -> Plan {
    for (index, job) in plan.jobs.iter_mut().enumerate() {
        job.index = index;
    }
    plan
}
