//! Why a table could not be made.

use super::Pass;

/// Why a table could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// The interpreter could not be started.
    #[error("cannot start `{python}`: {cause}")]
    NoInterpreter {
        /// What was started.
        python: String,
        /// What the system said.
        cause: String,
    },
    /// The child said why it cannot go on.
    #[error("the estimator says: {0}")]
    Refused(String),
    /// The child ended, or answered something else than was asked.
    #[error("the estimator broke the protocol: {found}")]
    Protocol {
        /// What it did.
        found: String,
    },
    /// The table differs from the estimator too much between its points.
    #[error(
        "the table is off by {median:.3} % at the median and {p99:.3} % at p99 of the {phase} passes between its points, most at {worst:?}; 1 % and 3 % are allowed"
    )]
    Inaccurate {
        /// `prefill` or `decode`.
        phase: &'static str,
        /// The median in percent.
        median: f64,
        /// The 99th percentile in percent.
        p99: f64,
        /// The pass that is off most.
        worst: Pass,
    },
}

impl ExportError {
    /// Returns a breach of the protocol.
    pub(super) fn protocol(found: impl Into<String>) -> Self {
        Self::Protocol { found: found.into() }
    }
}
