//! What a pool sees of a pass that was formed.

use crate::sim::timing::{DecodeWork, PrefillWork};
use crate::units::SimTime;

/// An admission, for the transcript.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admitted {
    /// The request.
    pub(crate) request: u64,
    /// Tokens served from cache.
    pub(crate) reused: u64,
    /// Tokens it computes in the pass.
    pub(crate) computes: u64,
}

/// What becomes of a worker whose passes change nothing and take no time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It waits for another event.
    #[default]
    Park,
    /// It forms its passes again at once: something inside a rank has moved on.
    Again,
    /// The same, for a restore from a storage tier, which may come to no end.
    Restore,
    /// It can never go on by itself.
    Stuck,
}

/// What the ranks of a worker did in one round, in which each formed a pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// Whether one of them computes prompts.
    pub(crate) extends: bool,
    /// Whether one of them computes anything.
    pub(crate) forwards: bool,
}

/// A pass that was formed: what it holds and when it ends.
#[derive(Debug, Default)]
pub(crate) struct Formed {
    /// When it starts.
    pub(crate) start: SimTime,
    /// When it ends.
    pub(crate) end: SimTime,
    /// Its prompt work.
    pub(crate) prefill: PrefillWork,
    /// Its decode work.
    pub(crate) decode: DecodeWork,
    /// Admissions, in order.
    pub(crate) admitted: Vec<Admitted>,
    /// Preempted requests, in order.
    pub(crate) preempted: Vec<u64>,
    /// How many requests it refuses.
    pub(crate) rejected: u64,
    /// Whether it changes anything of a request, even where it takes no time.
    pub(crate) changes: bool,
    /// Whether every request of it produces a token and none computes prompt: the batch is that of the pass before.
    pub(crate) repeats: bool,
    /// The tokens it produces, where the rank verifies drafts.
    pub(crate) speculated: Option<u64>,
    /// What it adds to the round of its worker.
    pub(crate) round: Round,
    /// What becomes of the rank's worker where the pass changes nothing.
    pub(crate) retry: Retry,
}

impl Formed {
    /// Returns whether the pass does anything at all.
    pub(crate) fn has_effect(&self, now: SimTime) -> bool {
        self.end > now || self.changes
    }

    /// Empties the pass, keeping its memory.
    pub(crate) fn reset(&mut self, start: SimTime) {
        let (admitted, preempted) =
            (std::mem::take(&mut self.admitted), std::mem::take(&mut self.preempted));
        *self = Self { start, admitted, preempted, ..Self::default() };
        self.admitted.clear();
        self.preempted.clear();
    }
}
