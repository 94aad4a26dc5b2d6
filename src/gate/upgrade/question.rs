//! What a job asks, in the words that declarations select by.

use crate::plan::{JobId, SimulationJob};

/// What a job asks, in the words that declarations select by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The scenario.
    pub scenario: String,
    /// The job's id without its engine: `simulate/workload/deployment[/axes]`.
    pub id: JobId,
    /// The workload's name.
    pub workload: String,
    /// The deployment's name.
    pub deployment: String,
    /// The backend's word.
    pub backend: &'static str,
    /// `aggregated` or `disaggregated`.
    pub topology: &'static str,
    /// The axes with their values, as the id shows them.
    pub axes: Vec<(String, String)>,
}

impl Question {
    /// Returns the question of a retargeted job.
    pub fn of(scenario: &str, id: &JobId, job: &SimulationJob) -> Self {
        let mut parts = id.as_str().splitn(4, '/').skip(1);
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (workload, deployment, axes) = (part(), part(), part());
        Self {
            scenario: scenario.to_owned(),
            id: id.clone(),
            workload,
            deployment,
            backend: job.deployment.backend.name(),
            topology: job.deployment.mode().name(),
            axes: axes_of(&axes),
        }
    }
}

/// Returns the axes of an id's last part; a comma without a name behind it belongs to the value before.
fn axes_of(text: &str) -> Vec<(String, String)> {
    let mut axes: Vec<(String, String)> = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        match (piece.split_once('='), axes.last_mut()) {
            (Some((name, value)), _) => axes.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(piece);
            }
            (None, None) => {}
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_read_as_ids_show_them() {
        let axes = |text: &str| {
            let axes = axes_of(text).into_iter();
            axes.map(|(name, value)| format!("{name}:{value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            axes("block-size=16,rates=0.8,0.6,router=a=b"),
            "block-size:16 rates:0.8,0.6 router:a=b"
        );
        assert_eq!(axes(""), "");
    }
}
