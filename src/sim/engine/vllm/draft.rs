//! Speculative decoding: what a pass adds where drafts are verified.
//!
//! A forward yields a token and the drafts that verification accepts. The blocks that all of them could need are taken before
//! the draws, preempting where memory lacks; what acceptance did not use is given back. All of it happens when the pass is formed;
//! the tokens become visible at its end, all at one instant. Source: spec/SIMULATION.md §2.6.

use crate::deployment::WorkerRole;
use crate::sim::engine::Cause;
use crate::sim::engine::acceptance::DraftRule;
use crate::sim::error::SimError;
use crate::sim::kv::Copy;
use crate::units::SimTime;

use super::rank::{Policy, Rank, Seat};

impl Rank {
    /// Returns the drafts that a running request brings into a pass beside `work` known tokens, of a budget of `budget`.
    pub(super) fn drafts_within(&self, seat: Seat, work: u64, budget: u64) -> u64 {
        let sequence = self.look(seat);
        match self.config.drafts {
            Some(drafts) if drafts.rule == DraftRule::Budgeted && sequence.drafts_ready => {
                let limit = self.config.context_limit.unwrap_or(u64::MAX);
                // One place of the context is that of the token which the forward samples.
                let room = limit.saturating_sub(sequence.length()).saturating_sub(1);
                drafts.count().min(room).min(budget - work)
            }
            Some(_) | None => 0,
        }
    }

    /// Returns the drafts that the pass verifies for a request which samples.
    fn verified(&self, seat: Seat) -> u64 {
        match self.config.drafts {
            // A prefill rank hands over after one token.
            Some(_) if self.config.role == WorkerRole::Prefill => 0,
            Some(drafts) if drafts.rule == DraftRule::EveryForward => drafts.count(),
            Some(_) | None => self.look(seat).drafts,
        }
    }

    /// Returns whether the forward that ends a prompt verifies drafts, and so costs a decode.
    pub(super) fn first_token_decodes(&self) -> bool {
        self.config.drafts.is_some_and(|drafts| drafts.rule == DraftRule::EveryForward)
    }

    /// Decides how many tokens each sampling request of the pass yields, and gives them the blocks they fill.
    ///
    /// # Errors
    /// [`SimError::DeadEnd`] where the only request left outgrows the whole pool with the drafts of each forward.
    pub(super) fn speculate(&mut self, now: SimTime) -> Result<(), SimError> {
        if self.config.drafts.is_none() || self.pass.emitting.is_empty() {
            return Ok(());
        }
        self.let_silent_go();
        self.check_progress(now)?;
        let mut reserved = self.reserve_drafts();
        self.count_decodes();
        for index in 0..self.pass.emitting.len() {
            let seat = self.pass.emitting[index];
            let burst = self.burst(seat);
            self.pass.bursts.push(burst);
            self.fill(seat, burst, &mut reserved);
        }
        for block in reserved {
            self.pool.release(block);
        }
        Ok(())
    }

    /// Refuses a request that stands alone and can never be given the blocks of its next forward: it would be preempted and
    /// prefilled for ever. A cut ends that, where prefilling takes time.
    fn check_progress(&self, now: SimTime) -> Result<(), SimError> {
        let ([seat], 1) = (self.pass.emitting.as_slice(), self.running.len()) else {
            return Ok(());
        };
        let least = match self.config.drafts.map(|drafts| drafts.rule) {
            Some(DraftRule::EveryForward) => self.longest(*seat),
            // After a preemption there are no drafts.
            Some(DraftRule::Budgeted) | None => self.look(*seat).length() + 1,
        };
        let is_cut = self.config.keeps_gaps && self.config.role != WorkerRole::Decode;
        if is_cut || self.blocks_for(least) <= self.pool.capacity() {
            return Ok(());
        }
        let capacity = self.pool.capacity();
        let needed = self.blocks_for(least);
        let cause = Cause::Blocks { needed, free: self.pool.available(), capacity };
        let reason = format!(
            "request {} with the {} tokens that a forward may yield {}",
            self.look(*seat).ticket.request,
            least - self.look(*seat).length(),
            cause.told()
        );
        Err(SimError::DeadEnd {
            at_ms: now.as_ms(),
            unfinished: 1 + self.waiting.len() as u64,
            reason,
            advice: Some(cause.advice(self.config.role)),
        })
    }

    /// Takes those that end without a token off the running list, and their blocks: they are gone before drafts look for memory. What a
    /// prefill rank computed stays until it is copied.
    fn let_silent_go(&mut self) {
        if self.pass.silent.is_empty() {
            return;
        }
        let silent = std::mem::take(&mut self.pass.silent);
        self.running.retain(|seat| !silent.contains(seat));
        if self.config.role != WorkerRole::Prefill {
            for seat in &silent {
                self.release_blocks(*seat);
            }
        }
        self.pass.silent = silent;
    }

    /// Takes the blocks that all drafts could need; who is preempted for them does not sample.
    fn reserve_drafts(&mut self) -> Vec<Copy> {
        loop {
            let ready = &self.pass.emitting;
            let needed: u64 = ready.iter().map(|seat| self.lookahead(*seat)).sum();
            if needed <= self.pool.available() {
                let take = |_| self.pool.take().expect("the blocks were counted");
                return (0..needed).map(take).collect();
            }
            assert!(
                self.config.policy == Policy::Optimistic,
                "bug: drafts outgrew the blocks their request was promised"
            );
            let victim = self.evict();
            self.pass.emitting.retain(|seat| *seat != victim);
        }
    }

    /// Returns the blocks that a request needs beyond those of its known sequence, were all its drafts accepted.
    fn lookahead(&self, seat: Seat) -> u64 {
        self.blocks_for(self.longest(seat)) - self.blocks_for(self.look(seat).length())
    }

    /// Returns the tokens that a request has after the pass, were all its drafts accepted.
    fn longest(&self, seat: Seat) -> u64 {
        let sequence = self.look(seat);
        let left = sequence.output - sequence.generated;
        sequence.length() + (1 + self.verified(seat)).min(left)
    }

    /// Counts the decode work of those that sample, now that nobody else leaves the pass.
    fn count_decodes(&mut self) {
        let (mut requests, mut context) = (0, 0);
        let mut scheduled = self.pass.scheduled.iter();
        for seat in &self.pass.emitting {
            let work = scheduled.find(|work| work.seat == *seat);
            let prompt = work.expect("who samples was scheduled, in the same order").prompt;
            let sequence = self.look(*seat);
            if self.costs_a_decode(prompt, sequence.generated) {
                requests += 1;
                context += sequence.length();
            }
        }
        (self.pass.formed.decode.requests, self.pass.formed.decode.context_tokens) =
            (requests, context);
    }

    /// Draws how many tokens a request yields.
    fn burst(&mut self, seat: Seat) -> u64 {
        let (drafts, sequence) = (self.verified(seat), self.look(seat));
        let left = sequence.output - sequence.generated;
        let accepted = self.acceptance.as_mut().map_or(0, |draws| draws.accepted(drafts));
        (1 + accepted).min(left)
    }

    /// Gives a request the blocks of `burst` more tokens and publishes those that the tokens fill.
    ///
    /// The last token is sampled and not computed: the block it completes is published by the pass that computes it.
    fn fill(&mut self, seat: Seat, burst: u64, reserved: &mut Vec<Copy>) {
        let length = self.look(seat).length();
        let (target, computed) = (self.blocks_for(length + burst), length + burst - 1);
        while (self.look(seat).blocks.len() as u64) < target {
            let block = reserved.pop().expect("drafts reserved what they could need");
            self.sequence(seat).blocks.push(block);
        }
        if self.config.prefix_caching {
            self.publish(seat, length, computed);
        }
        let sequence = self.sequence(seat);
        sequence.computed = computed;
        sequence.drafts_ready = true;
    }
}
