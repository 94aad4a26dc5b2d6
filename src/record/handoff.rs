//! How a request got from the worker that computed its prompt to the one that produced its tokens.

use crate::units::{SimTime, Tokens};

/// How a request got from a prefill to a decode worker. Times are on the job's clock, absent where the thing did not happen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Handoff {
    /// The prefill rank, counted over the prefill workers.
    pub prefill_rank: Option<u32>,
    /// How many of the request's admissions, the first ones, were to the prefill rank.
    pub prefill_admissions: usize,
    /// When the prompt was computed; the prefill rank keeps its KV from then on.
    pub held: Option<SimTime>,
    /// When the decode rank had set room apart.
    pub reserved: Option<SimTime>,
    /// Prompt tokens, in whole blocks or pages, that the decode rank lacked then, where that was seen.
    pub missing: Option<Tokens>,
    /// Tokens whose KV the transfer is charged for.
    pub charged: Tokens,
    /// What the transfer took of the links of its ranks, where transfers share them.
    pub link: Option<LinkUse>,
    /// When the transfer began.
    pub transfer_began: Option<SimTime>,
    /// When it ended.
    pub transfer_ended: Option<SimTime>,
    /// When the decode rank took the request up: the end of the transfer, or of the pass that was in flight then.
    pub activated: Option<SimTime>,
    /// When the prefill rank gave up the KV.
    pub released: Option<SimTime>,
}

impl Handoff {
    /// Returns its times, to count them from another instant.
    pub(super) fn times(&mut self) -> [&mut Option<SimTime>; 6] {
        [
            &mut self.held,
            &mut self.reserved,
            &mut self.transfer_began,
            &mut self.transfer_ended,
            &mut self.activated,
            &mut self.released,
        ]
    }
}

/// What a transfer takes of the links of its two ranks: the milliseconds that it would keep each of them busy alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkUse {
    /// Of the prefill rank's.
    pub sending_ms: f64,
    /// Of the decode rank's; 0 where that has no limit.
    pub receiving_ms: f64,
}
