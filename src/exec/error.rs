//! Why a job has no report.

use crate::sim::SimError;

use super::runner::RunnerError;

/// Why a job has no report.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JobError {
    /// The simulation did not come to an end.
    #[error(transparent)]
    Simulation(SimError),
    /// The runner of an upstream engine has no usable answer.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// Live traffic cannot be sent at all.
    #[error("{cause}")]
    Traffic {
        /// What is in the way.
        cause: String,
        /// What to do about it.
        help: String,
    },
    /// The run was interrupted before the job ended, or before it started.
    #[error("interrupted")]
    Interrupted,
    /// The job panicked: a bug of this program.
    #[error("a bug: the job panicked: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
    },
    /// What the job left could not be written.
    #[error("cannot write the results of the job: {cause}")]
    Unwritable {
        /// What the system said.
        cause: String,
    },
    /// The job ended without a report in another process, which wrote down why.
    #[error("{text}")]
    Elsewhere {
        /// How.
        end: EndElsewhere,
        /// What that process said.
        text: String,
    },
}

/// How a job of another process ended without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndElsewhere {
    /// It failed.
    Failed,
    /// It panicked: a bug of the program.
    Panicked,
}

impl EndElsewhere {
    /// Returns the end that a word of `run.json` stands for; `None` for one that leaves a report, or is no end.
    pub fn of(outcome: &str) -> Option<Self> {
        [Self::Failed, Self::Panicked].into_iter().find(|end| end.name() == outcome)
    }

    /// Returns the word of `run.json`.
    const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Panicked => "panicked",
        }
    }
}

impl From<SimError> for JobError {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Interrupted => Self::Interrupted,
            other @ (SimError::Unsupported(_)
            | SimError::DeadEnd { .. }
            | SimError::ClockOverflow { .. }
            | SimError::BadWorkload { .. }
            | SimError::Spill { .. }
            | SimError::ForwardExceedsCache { .. }
            | SimError::BadTime { .. }) => Self::Simulation(other),
        }
    }
}

impl JobError {
    /// Returns the word of `run.json`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Simulation(_)
            | Self::Runner(_)
            | Self::Traffic { .. }
            | Self::Unwritable { .. } => "failed",
            Self::Interrupted => "interrupted",
            Self::Panicked { .. } => "panicked",
            Self::Elsewhere { end, .. } => end.name(),
        }
    }
}
