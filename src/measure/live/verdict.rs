//! Has a live job failed?

use std::fmt;

use crate::record::{LiveOutcome, LiveRun};

use super::errors::LiveErrors;
use super::laws::{LiveLaw, LiveViolation};

/// Why a live job has failed although its run came to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveFailure {
    /// A request of a warm-up went wrong: nothing was measured.
    Warmup {
        /// The call, by trace and name.
        call: String,
        /// What went wrong.
        error: String,
    },
    /// Not one request completed.
    NothingCompleted {
        /// How many were sent.
        sent: usize,
        /// Failures by kind.
        errors: LiveErrors,
    },
    /// A law of every live run is broken: a bug in this program.
    BrokenLaw(LiveViolation),
}

impl LiveFailure {
    /// Returns why the job of a run has failed; nothing where it has not.
    pub fn of(run: &LiveRun) -> Vec<Self> {
        let mut failures = Vec::new();
        let spoilt = run.aborted.and_then(|index| run.requests.get(index));
        if let Some(request) = spoilt {
            let trace = run.traces.get(request.trace).map_or("", |trace| trace.id.as_str());
            let call = run.recorded(request).map_or("", |call| call.id.as_str());
            let error = request.exchange.outcome.as_ref().err();
            failures.push(Self::Warmup {
                call: format!("{trace} {call}"),
                error: error.map(ToString::to_string).unwrap_or_default(),
            });
        } else if run.measured().all(|request| request.outcome() != LiveOutcome::Completed) {
            let (sent, errors) = (run.measured().count(), LiveErrors::of(run));
            failures.push(Self::NothingCompleted { sent, errors });
        }
        failures.extend(LiveLaw::violations(run).into_iter().map(Self::BrokenLaw));
        failures
    }

    /// Returns the word of reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Warmup { .. } => "warmup-failed",
            Self::NothingCompleted { .. } => "nothing-completed",
            Self::BrokenLaw(_) => "broken-invariant",
        }
    }
}

impl fmt::Display for LiveFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warmup { call, error } => {
                write!(f, "the warm-up failed, so nothing was measured: `{call}`: {error}")
            }
            Self::NothingCompleted { sent: 0, .. } => {
                write!(f, "no request was sent before the run ended")
            }
            Self::NothingCompleted { sent, errors } => {
                let ending = if *sent == 1 { "" } else { "s" };
                write!(f, "none of {sent} request{ending} completed")?;
                for (index, (kind, error)) in errors.kinds().enumerate() {
                    let sign = if index == 0 { ":" } else { ";" };
                    let (count, first) = (error.count, &error.message);
                    write!(f, "{sign} {count} {kind}, the first: {first}")?;
                }
                Ok(())
            }
            Self::BrokenLaw(violation) => {
                let (id, request) = (violation.law.id(), violation.request);
                write!(f, "{id} is broken, which is a bug: request {request}")
            }
        }
    }
}
