//! A pass that was formed, with what only the rank needs of it.

use crate::record::Refusal;
use crate::sim::engine::{Formed, Retry, Round};
use crate::units::SimTime;

use super::sequence::Seat;

/// One request of a prefill pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) seat: Seat,
    /// Tokens before the chunk: cached, or computed by earlier passes.
    pub(super) before: u64,
    /// Tokens of the chunk.
    pub(super) tokens: u64,
}

/// A pass that was formed, with what only the rank needs of it.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// What the pool sees.
    pub(super) formed: Formed,
    /// The requests whose prompts it computes, in order.
    pub(super) chunks: Vec<Chunk>,
    /// Members of the group that produce a token.
    pub(super) grouped: u64,
    /// Requests outside the group that produce a token, in running order.
    pub(super) emitting: Vec<Seat>,
    /// Requests that end without a token, in running order.
    pub(super) silent: Vec<Seat>,
    /// Requests that end with a token of this pass, in running order.
    pub(super) finishing: Vec<Seat>,
    /// Requests refused, and why.
    pub(super) rejected: Vec<(Seat, Refusal)>,
    /// Prompt tokens it computes.
    pub(super) computes: u64,
}

impl Pass {
    /// Returns whether the pass computes prompts, as far as choosing its kind goes.
    pub(super) fn is_prefill(&self) -> bool {
        !self.chunks.is_empty()
    }

    /// Returns whether a token comes out of the pass.
    pub(super) fn has_tokens(&self) -> bool {
        self.grouped > 0 || !self.emitting.is_empty()
    }

    /// Says what the pass comes to, once it is formed.
    pub(super) fn close(&mut self, retry: Retry) {
        self.formed.retry = retry;
        self.formed.rejected = self.rejected.len() as u64;
        let extends = self.computes > 0;
        let forwards = extends || (!self.is_prefill() && self.has_tokens());
        self.formed.round = Round { extends, forwards };
        let formed = &mut self.formed;
        let stays = formed.admitted.is_empty() && formed.preempted.is_empty();
        let leaves = !self.silent.is_empty() || !self.rejected.is_empty();
        let has_tokens = self.grouped > 0 || !self.emitting.is_empty();
        formed.changes = !stays || leaves || has_tokens || self.computes > 0;
        formed.repeats =
            formed.speculated.is_none() && has_tokens && stays && !leaves && self.chunks.is_empty();
    }

    /// Empties the pass, keeping its memory.
    pub(super) fn reset(&mut self, start: SimTime) {
        self.formed.reset(start);
        self.chunks.clear();
        self.grouped = 0;
        self.emitting.clear();
        self.silent.clear();
        self.finishing.clear();
        self.rejected.clear();
        self.computes = 0;
    }
}
