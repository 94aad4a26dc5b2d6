//! The verdict on an upgrade: all scenarios, all jobs, and declarations that spoke of none.

use super::changes::{Change, Changes};
use super::{Class, ControlVerdict, Judged, Question};

/// The verdict on an upgrade.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether someone asked to stop before every job was judged.
    pub is_interrupted: bool,
    /// The engine's name.
    pub engine: String,
    /// The older version.
    pub from: String,
    /// The newer version.
    pub to: String,
    /// The changes that are declared of the newer version against the older one, where there are any.
    pub changes: Option<Changes>,
    /// The scenarios, in the order given.
    pub scenarios: Vec<ScenarioVerdict>,
    /// Declared changes that speak of no job that was judged.
    pub idle: Vec<Idle>,
    /// Whether known perturbations would be seen, where that was asked.
    pub controls: Vec<ControlVerdict>,
}

/// The verdict on one scenario.
#[derive(Debug, Clone)]
pub struct ScenarioVerdict {
    /// Its name.
    pub scenario: String,
    /// Its file, relative to the project root.
    pub file: String,
    /// Its jobs, in the plan's order.
    pub jobs: Vec<Judged>,
}

/// A declared change that speaks of no job that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idle {
    /// The change.
    pub change: String,
    /// The scenario that it names, and that has no such job; `None` where it names none of those judged.
    pub owed_to: Option<String>,
}

impl Verdict {
    /// Returns how many jobs are of a class.
    pub fn count(&self, class: Class) -> usize {
        self.jobs().filter(|job| job.class == class).count()
    }

    /// Returns all jobs.
    pub fn jobs(&self) -> impl Iterator<Item = &Judged> {
        self.scenarios.iter().flat_map(|scenario| &scenario.jobs)
    }

    /// Returns whether any two answers were compared.
    pub fn is_about_anything(&self) -> bool {
        self.jobs().any(|job| job.class.is_compared())
    }

    /// Returns whether nothing speaks against the upgrade.
    pub fn is_green(&self) -> bool {
        !self.is_interrupted
            && self.is_about_anything()
            && self.jobs().all(|job| job.class.is_green())
            && self.idle.iter().all(|idle| idle.owed_to.is_none())
            && self.controls.iter().all(|control| !control.is_blind())
    }

    /// Returns a declared change by its name.
    pub fn change(&self, name: &str) -> Option<&Change> {
        self.changes.as_ref()?.changes.iter().find(|change| change.name == name)
    }
}

impl Idle {
    /// Returns the changes that speak of none of `questions`. One that names a scenario is owed to it.
    pub fn all(changes: Option<&Changes>, questions: &[Question]) -> Vec<Self> {
        let is_idle = |change: &&Change| !questions.iter().any(|question| change.applies(question));
        let owed = |change: &Change| {
            let names = questions.iter().map(|question| &question.scenario);
            names.into_iter().find(|name| change.is_owed_to(name)).cloned()
        };
        let all = changes.iter().flat_map(|changes| &changes.changes).filter(is_idle);
        all.map(|change| Self { change: change.name.clone(), owed_to: owed(change) }).collect()
    }
}
