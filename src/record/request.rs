//! One request as it was served.

use crate::units::{SimTime, Tokens};
use crate::workload::SessionName;

use super::{Handoff, Outcome, Refusal};

/// One request as it was served. Times are on the job's clock.
#[derive(Debug, Clone)]
pub struct RequestRecord {
    /// Its place in the workload, from 0: the request's name in a job.
    ///
    /// Sessions in the order in which the source names them, turns within. It says nothing of the order of arrival: sessions
    /// overlap, and where the run was cut, places are missing.
    pub index: u64,
    /// The session it belongs to.
    pub session: SessionName,
    /// Its position in the session, from 0.
    pub turn: u32,
    /// The line of the trace it comes from, where it does.
    pub line: Option<u64>,
    /// The request's own name, where the trace gives one.
    pub request_id: Option<String>,
    /// When it should start: its arrival. Latencies start here.
    pub arrival: SimTime,
    /// Prompt tokens.
    pub input: Tokens,
    /// Output tokens asked for.
    pub requested_output: Tokens,
    /// Output tokens produced.
    pub output: Tokens,
    /// The rank that served it (scheduler id), where one was chosen: the decode rank where prefill and decode are apart.
    pub rank: Option<u32>,
    /// Each admission to an engine's running set, in order: those to a prefill rank before those to a decode rank.
    pub admissions: Vec<Admission>,
    /// How it got from a prefill to a decode worker, where those are apart.
    pub handoff: Option<Box<Handoff>>,
    /// When the first output token was visible.
    pub first_token: Option<SimTime>,
    /// When the second was.
    pub second_token: Option<SimTime>,
    /// When the last was.
    pub last_token: Option<SimTime>,
    /// When it ended; `None` where the run was cut before.
    pub terminal: Option<SimTime>,
    /// How it ended; `None` where the run was cut before.
    pub outcome: Option<Outcome>,
    /// Why the engine did not serve it, where it was refused by a rule that is known.
    pub refusal: Option<Box<Refusal>>,
}

/// One admission to an engine's running set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// The start of the pass that admitted it.
    pub at: SimTime,
    /// Prompt tokens served from cache.
    pub reused: Tokens,
    /// Those of them that the host tier gave back; `None` without one, and at a readmission.
    pub from_host: Option<Tokens>,
}

impl RequestRecord {
    /// Returns the tokens reused at the first admission; none before it.
    pub fn reused_first(&self) -> Tokens {
        self.admissions.first().map_or(Tokens::ZERO, |admission| admission.reused)
    }

    /// Returns the largest reuse over all admissions.
    pub fn reused_max(&self) -> Tokens {
        self.admissions.iter().map(|admission| admission.reused).max().unwrap_or(Tokens::ZERO)
    }

    /// Returns the tokens that the host tier gave back at the first admission; none without one.
    pub fn reused_from_host(&self) -> Tokens {
        let first = self.admissions.first();
        first.and_then(|admission| admission.from_host).unwrap_or(Tokens::ZERO)
    }

    /// Counts all its times from `epoch`.
    pub(crate) fn count_from(&mut self, epoch: SimTime) {
        let later = |at: &mut SimTime| *at = at.since(epoch);
        later(&mut self.arrival);
        self.admissions.iter_mut().for_each(|admission| later(&mut admission.at));
        let own = [
            &mut self.first_token,
            &mut self.second_token,
            &mut self.last_token,
            &mut self.terminal,
        ];
        own.into_iter().flatten().for_each(later);
        if let Some(handoff) = &mut self.handoff {
            handoff.times().into_iter().flatten().for_each(later);
        }
    }

    /// Returns whether the request completed.
    pub fn is_completed(&self) -> bool {
        self.outcome == Some(Outcome::Completed)
    }
}
