//! Requests as they reach a rank and as they leave it.

use crate::record::{Admission, Gap, Outcome, Refusal};
use crate::sim::ticket::Ticket;
use crate::units::{SimTime, Tokens};
use crate::workload::Content;

/// A request as it reaches a rank.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What it is called.
    pub(crate) ticket: Ticket,
    /// Its prompt, and what its output will be.
    pub(crate) content: Content,
    /// Output tokens asked for.
    pub(crate) output: u64,
}

/// How a request leaves a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// All that the rank does for it is done.
    Completed,
    /// The scheduler refused it.
    Rejected(Refusal),
    /// It was to be handed over to a rank that can never take it.
    Failed(Refusal),
}

impl End {
    /// Returns the outcome.
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Completed => Outcome::Completed,
            Self::Rejected(_) => Outcome::Rejected,
            Self::Failed(_) => Outcome::Failed,
        }
    }

    /// Returns why the request was not served.
    pub(crate) const fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Completed => None,
            Self::Rejected(refusal) | Self::Failed(refusal) => Some(refusal),
        }
    }
}

/// What is known of a request when it leaves a rank, or when the run is cut.
#[derive(Debug)]
pub(crate) struct Served {
    /// What it is called.
    pub(crate) ticket: Ticket,
    /// Its prompt, and what its output is.
    pub(crate) content: Content,
    /// Output tokens asked for.
    pub(crate) requested: u64,
    /// How it ended; `None` where the run was cut.
    pub(crate) outcome: Option<Outcome>,
    /// Why it was not served, where the engine refused it.
    pub(crate) refusal: Option<Refusal>,
    /// Tokens produced.
    pub(crate) output: u64,
    /// Admissions in order.
    pub(crate) admissions: Vec<Admission>,
    /// When tokens became visible.
    pub(crate) first_token: Option<SimTime>,
    /// The second.
    pub(crate) second_token: Option<SimTime>,
    /// The last.
    pub(crate) last_token: Option<SimTime>,
    /// Its gaps, where they were kept by request.
    pub(crate) gaps: Vec<(Gap, u64)>,
}

/// What the end of a pass settled.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Requests that left, in order.
    pub(crate) terminals: Vec<Served>,
    /// Requests whose prompt a prefill rank has computed and whose KV it keeps, in order.
    pub(crate) held: Vec<Served>,
    /// Prompt tokens that the pass computed.
    pub(crate) committed_prefill: Tokens,
}

/// Room that a decode rank has set apart for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reserved {
    /// The request.
    pub(crate) request: u64,
    /// Prompt tokens that are not there: whole blocks or pages.
    pub(crate) missing: u64,
}
