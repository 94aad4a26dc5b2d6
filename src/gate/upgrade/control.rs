//! Whether a scenario would see a known perturbation: a comparison that sees nothing is always green.

use crate::exec::Perturbation;
use crate::plan::JobId;

use super::Answer;

/// Whether a scenario sees a known perturbation of the newer pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlVerdict {
    /// The scenario.
    pub scenario: String,
    /// What was planted.
    pub perturbation: Perturbation,
    /// How many jobs it was planted into.
    pub planted: usize,
    /// The jobs that answer otherwise with it.
    pub caught_by: Vec<JobId>,
}

impl ControlVerdict {
    /// Returns whether the scenario sees nothing of it.
    pub fn is_blind(&self) -> bool {
        self.caught_by.is_empty()
    }
}

/// Returns whether a job sees a perturbation: a request is answered otherwise, or a law of reports catches it.
///
/// Figures alone do not count: a summary that states how many blocks there are would see a block less in every job. A job without a
/// sound answer, and one that was interrupted, catches nothing.
pub fn judge_control(sound: &Answer, planted: &Answer) -> bool {
    match (sound, planted) {
        (Answer::Reported(sound), Answer::Reported(planted)) => {
            sound.report.requests_digest() != planted.report.requests_digest()
        }
        (Answer::Reported(_), Answer::Failed(_)) => true,
        (Answer::Reported(_), Answer::Refused(_) | Answer::Broken(_) | Answer::Interrupted)
        | (Answer::Failed(_) | Answer::Refused(_) | Answer::Broken(_) | Answer::Interrupted, _) => {
            false
        }
    }
}
