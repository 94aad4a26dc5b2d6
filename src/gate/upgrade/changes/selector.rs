//! Which jobs a change speaks of.

use super::glob::Glob;
use crate::gate::upgrade::Question;

/// Which jobs a change speaks of: each kind of selector that is stated must match, by any of its patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::gate::upgrade) struct Selector {
    /// Names of scenarios.
    pub(super) scenarios: Vec<Glob>,
    /// Ids of jobs, without their engine.
    pub(super) jobs: Vec<Glob>,
    /// Ids of jobs that it does not speak of.
    pub(super) excepted: Vec<Glob>,
    /// Names of workloads.
    pub(super) workloads: Vec<Glob>,
    /// Names of deployments.
    pub(super) deployments: Vec<Glob>,
    /// Words of backends.
    pub(super) backends: Vec<String>,
    /// Words of topologies.
    pub(super) topologies: Vec<String>,
    /// Values of axes, as ids show them.
    pub(super) axes: Vec<(String, Vec<String>)>,
}

impl Selector {
    /// Returns whether the change speaks of a job.
    pub(super) fn matches(&self, question: &Question) -> bool {
        let any = |globs: &[Glob], text: &str| {
            globs.is_empty() || globs.iter().any(|glob| glob.matches(text))
        };
        let one = |words: &[String], word: &str| {
            words.is_empty() || words.iter().any(|known| known == word)
        };
        let id = question.id.as_str();
        any(&self.scenarios, &question.scenario)
            && any(&self.jobs, id)
            && !self.excepted.iter().any(|glob| glob.matches(id))
            && any(&self.workloads, &question.workload)
            && any(&self.deployments, &question.deployment)
            && one(&self.backends, question.backend)
            && one(&self.topologies, question.topology)
            && self.axes.iter().all(|(name, values)| has_value(question, name, values))
    }

    /// Returns whether the change names this scenario: it must then speak of one of its jobs.
    pub(super) fn is_owed_to(&self, scenario: &str) -> bool {
        self.scenarios.iter().any(|glob| glob.matches(scenario))
    }
}

/// Returns whether an axis of a job has one of these values.
fn has_value(question: &Question, name: &str, values: &[String]) -> bool {
    let is_it = |(axis, value): &(String, String)| axis == name && values.contains(value);
    question.axes.iter().any(is_it)
}
