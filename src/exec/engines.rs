//! Sends each job to the engine that it names: the simulator of this program, or an upstream engine.

use crate::diag::Bag;
use crate::digest::Sha256;
use crate::pin::{EnginePin, Registry};
use crate::plan::{EngineIdentity, JobKind, Part, Plan, SimulationJob};
use crate::record::RunRecord;
use crate::sim::{Options, SimError, Unsupported};
use crate::workload::Corpus;

use super::capability::lacking;
use super::runner::{RunnerStore, Upstream};
use super::{Executor, JobError, Native};

/// The engines of a plan.
#[derive(Debug, Clone, Default)]
pub struct Engines {
    pins: Vec<EnginePin>,
    upstream: Vec<Upstream>,
}

impl Engines {
    /// Returns the engines that the jobs of a plan name, upstream ones without their runners: enough to say what cannot be run.
    ///
    /// # Errors
    /// `pin::unknown` for an engine that is not pinned any more, and everything wrong with its pin.
    pub fn of_plan(plan: &Plan, registry: &Registry) -> Result<Self, Bag> {
        let engines = plan.jobs.iter().filter_map(|job| match &job.kind {
            JobKind::Simulation(job) => Some(&job.engine),
            JobKind::Replay(_) => None,
        });
        Self::of(engines, registry)
    }

    /// Returns some engines, as [`Engines::of_plan`] does.
    ///
    /// # Errors
    /// As [`Engines::of_plan`].
    pub fn of<'e>(
        engines: impl IntoIterator<Item = &'e EngineIdentity>,
        registry: &Registry,
    ) -> Result<Self, Bag> {
        let mut found = Self::default();
        for engine in engines {
            if !engine.is_native() && found.pin(engine).is_none() {
                found.pins.push(registry.engine_at(&engine.name, &engine.version)?);
            }
        }
        Ok(found)
    }

    /// Returns whether every job runs in this program.
    pub const fn are_native(&self) -> bool {
        self.pins.is_empty()
    }

    /// Returns the engines with their runners, each of which is built where it is not there; `tell` hears the compiler.
    ///
    /// # Errors
    /// As [`RunnerStore::upstream`].
    pub fn with_runners(self, store: &RunnerStore, tell: &dyn Fn(&str)) -> Result<Self, Bag> {
        let upstream =
            self.pins.iter().map(|pin| store.upstream(pin, tell)).collect::<Result<_, _>>();
        Ok(Self { upstream: upstream?, ..self })
    }

    /// Returns the pin of an upstream engine.
    fn pin(&self, engine: &EngineIdentity) -> Option<&EnginePin> {
        self.pins.iter().find(|pin| EngineIdentity::upstream(pin) == *engine)
    }

    /// Returns the upstream engine of a job, where its runner is there.
    fn upstream(&self, job: &SimulationJob) -> Option<&Upstream> {
        self.upstream.iter().find(|it| EngineIdentity::upstream(&it.pin) == job.engine)
    }
}

impl Executor for Engines {
    fn unsupported(&self, job: &SimulationJob) -> Vec<Unsupported> {
        if job.engine.is_native() {
            return Native.unsupported(job);
        }
        self.pin(&job.engine).map_or_else(|| vec![absent(job)], |pin| lacking(job, pin))
    }

    fn runner(&self, job: &SimulationJob) -> Option<Sha256> {
        self.upstream(job).map(|upstream| upstream.digest)
    }

    fn run(
        &self,
        job: &SimulationJob,
        corpus: Option<&Corpus>,
        options: &Options<'_>,
    ) -> Result<RunRecord, JobError> {
        if job.engine.is_native() {
            return Native.run(job, corpus, options);
        }
        if let Some(lacking) = self.unsupported(job).into_iter().next() {
            return Err(SimError::from(lacking).into());
        }
        match self.upstream(job) {
            Some(upstream) => upstream.run(job, corpus, options),
            None => Err(SimError::from(absent(job)).into()),
        }
    }
}

/// Returns that an engine is not there.
fn absent(job: &SimulationJob) -> Unsupported {
    let what = format!("engine `{}` {}", job.engine.name, job.engine.version);
    Unsupported::new(what, Part::Engine)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::{Compat, Job, load_plan};

    fn project() -> Registry {
        Registry::open(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project")
    }

    fn smoke() -> Plan {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/smoke.kdl");
        load_plan(&file, None).expect("it plans").0
    }

    fn simulation(job: &Job) -> &SimulationJob {
        let JobKind::Simulation(simulation) = &job.kind else { panic!("it simulates") };
        simulation
    }

    #[test]
    fn a_job_under_another_engine_keeps_its_name_and_gets_another_key() {
        let plan = smoke();
        let engine = EngineIdentity::find(&project(), "aisimulate", "0.13.0-dev.86");
        let engine = engine.expect("pinned");
        let moved = plan.under(&engine);
        for (job, moved) in plan.jobs.iter().zip(&moved.jobs) {
            assert_eq!((&job.id, job.index), (&moved.id, moved.index));
            assert_ne!(job.key(), moved.key());
            assert_eq!(moved.under(&EngineIdentity::native(Compat::NEWEST)).key(), job.key());
        }
        assert_ne!(plan.digest(), moved.digest());
    }

    #[test]
    fn the_versions_of_native_are_the_behaviours_that_it_imitates() {
        let find = |version: &str| EngineIdentity::find(&project(), "native", version);
        assert_eq!(find("0.13.0").expect("known"), EngineIdentity::native(Compat::V0_13_0));
        let unknown = find("0.14.0").expect_err("unknown").into_sorted().remove(0);
        assert_eq!(unknown.message(), "engine `native` does not behave as `0.14.0`");
    }

    #[test]
    fn what_a_pin_does_not_list_is_refused_with_the_reason() {
        let engine = EngineIdentity::find(&project(), "aisimulate", "0.13.0").expect("pinned");
        let plan = smoke().under(&engine);
        let engines = Engines::of_plan(&plan, &project()).expect("pinned");
        let mut job = simulation(&plan.jobs[0]).clone();
        job.deployment.router = crate::deployment::Router::Kv {
            overlap_score_credit: 1.0,
            prefill_load_scale: 1.0,
            temperature: 0.0,
            prefill_load_model: "none".to_owned(),
        };
        let refused: Vec<String> =
            engines.unsupported(&job).iter().map(ToString::to_string).collect();
        let reason = "this build cannot run router `kv-router` on engine `aisimulate` 0.13.0";
        assert!(refused.iter().any(|refusal| refusal == reason), "{refused:?}");
        job.engine = EngineIdentity::native(Compat::NEWEST);
        assert_eq!(engines.unsupported(&job), Native.unsupported(&job));
    }
}
