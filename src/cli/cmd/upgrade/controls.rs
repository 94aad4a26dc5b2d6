//! Known perturbations planted into the newer version: which jobs see them.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::cli::Context;
use crate::cli::cmd::jobs::Manner;
use crate::exec::{Perturbation, Planted};
use crate::gate::upgrade::{Answer, ControlVerdict, judge_control};
use crate::plan::JobId;

use super::answers::{PinRun, simulation};

/// Plants each perturbation and says which jobs answer otherwise with it. `sound` holds the answers without.
pub(super) fn controls(
    scenario: &str,
    (asked, sound): (&mut PinRun, &BTreeMap<JobId, Answer>),
    manner: &Manner<'_>,
    context: &Context,
) -> Vec<ControlVerdict> {
    let is_sound = |id: &JobId| matches!(sound.get(id), Some(Answer::Reported(_)));
    asked.retain(|job| is_sound(&job.id));
    Perturbation::ALL
        .into_iter()
        .map_while(|perturbation| {
            let mut planted = asked.clone();
            planted.retain(|job| simulation(job).is_some_and(|job| perturbation.touches(job)));
            let executor = Planted { engine: planted.engine(), perturbation };
            let answers = planted.ask_of(&executor, manner, context);
            // Of one that was not asked to its end nobody knows whether a job sees it.
            if manner.stop.load(Ordering::SeqCst) {
                return None;
            }
            let is_caught = |id: &JobId| {
                let pair = sound.get(id).zip(answers.get(id));
                pair.is_some_and(|(sound, planted)| judge_control(sound, planted))
            };
            let ids = planted.jobs().iter().map(|job| &job.id);
            Some(ControlVerdict {
                scenario: scenario.to_owned(),
                perturbation,
                planted: planted.jobs().len(),
                caught_by: ids.filter(|id| is_caught(id)).cloned().collect(),
            })
        })
        .collect()
}
