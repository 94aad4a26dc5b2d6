//! The start of a pass: what it holds and how long it takes.

use crate::deployment::{Preemption, WorkerRole};
use crate::record::Admission;
use crate::sim::engine::{Admitted, Cadence};
use crate::sim::error::SimError;
use crate::sim::timing::{DecodeWork, PassTiming, pass_times};
use crate::units::{SimTime, Tokens};

use super::lookup::Hit;
use super::rank::{Policy, Rank, Seat, Work};
use super::sequence::Phase;

/// Whether a pass computes prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompts {
    Computed,
    Deferred,
}

/// What became of one request in the running loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Scheduled,
    Blocked,
    /// What is left of the budget ends before a place where its state is kept; later requests may use it.
    Skipped,
    PreemptedItself,
}

impl Rank {
    /// Forms a pass that starts at `now`; [`Rank::formed`] shows it, [`Rank::complete`] lets it take effect.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(crate) fn form(
        &mut self,
        now: SimTime,
        cadence: Cadence,
        timing: &dyn PassTiming,
    ) -> Result<(), SimError> {
        self.pass.reset(now);
        self.begin_states();
        let epoch = self.epoch();
        let prompts = self.prompts_in(cadence);
        let mut budget = self.config.budget;
        if self.can_advance_as_group(budget) {
            budget -= self.group.members();
            self.pass.grouped = self.group.members();
            if self.pass.grouped > 0 {
                self.schedule_group();
            }
            self.schedule_running(self.running.len() - self.others(), prompts, &mut budget);
        } else {
            self.dissolve_group();
            self.schedule_running(0, prompts, &mut budget);
        }
        if self.pass.formed.preempted.is_empty() {
            if self.host.is_some() {
                self.admit_hosted(now, prompts, &mut budget);
            } else {
                self.admit(now, prompts, &mut budget);
            }
            if prompts == Prompts::Computed && self.pass.formed.preempted.is_empty() {
                self.left_waiting = !self.waiting.is_empty();
            }
        }
        self.within_bytes()?;
        if self.host.is_some() {
            self.prepare_stores(now);
        }
        if self.forecast.is_some() {
            self.pass.scheduled.iter().for_each(|work| self.retire(work.seat));
        }
        self.speculate(now)?;
        self.price(self.computes_from(now), timing)?;
        self.pass.close();
        self.note_step(epoch, now);
        Ok(())
    }

    /// Returns whether this pass computes prompts: a decode pass does not where a decode runs and nobody was left behind.
    fn prompts_in(&self, cadence: Cadence) -> Prompts {
        let has_decode = || {
            self.group.members() > 0
                || self.running.iter().any(|seat| self.look(*seat).has_computed_prompt())
        };
        match cadence {
            Cadence::Decode if !self.left_waiting && has_decode() => Prompts::Deferred,
            Cadence::Decode | Cadence::Open => Prompts::Computed,
        }
    }

    /// Returns how many running requests are not in the group.
    fn others(&self) -> usize {
        self.running.len() - usize::try_from(self.group.members()).unwrap_or(usize::MAX)
    }

    /// Returns whether the group can take its tokens as a whole: there is budget and memory for it and for the prompt work behind
    /// it, and all of the group runs before everything else.
    fn can_advance_as_group(&self, budget: u64) -> bool {
        let members = self.group.members();
        if members > budget {
            return false;
        }
        let others = self.others();
        let (mut left, mut needed) = (budget - members, self.group.blocks_needed());
        for seat in &self.running[self.running.len() - others..] {
            let sequence = self.look(*seat);
            if sequence.phase != Phase::Filling {
                return false;
            }
            let work = (sequence.length() - sequence.computed).min(left);
            left -= work;
            needed += self.blocks_for(sequence.computed + work) - sequence.blocks.len() as u64;
        }
        needed <= self.pool.available()
    }

    /// Returns the blocks that hold `tokens` tokens; none where groups of layers hold bytes instead.
    pub(super) fn blocks_for(&self, tokens: u64) -> u64 {
        if self.grouped.is_some() {
            return 0;
        }
        tokens.div_ceil(u64::from(self.config.block_size))
    }

    /// Schedules running requests in order, from place `first` on, while there is budget.
    fn schedule_running(&mut self, first: usize, prompts: Prompts, budget: &mut u64) {
        let mut index = first;
        while index < self.running.len() && *budget > 0 {
            let is_prompt = !self.look(self.running[index]).has_computed_prompt();
            if prompts == Prompts::Deferred && is_prompt {
                index += 1;
                continue;
            }
            if let Some(refusal) = self.outgrew_state(self.running[index]) {
                let seat = self.running.remove(index);
                self.release_blocks(seat);
                self.pass.rejected.push((seat, refusal));
                continue;
            }
            match self.schedule(self.running[index], budget) {
                Step::Scheduled | Step::Skipped => index += 1,
                Step::Blocked => break,
                // It left the running list, so the next request stands at this place.
                Step::PreemptedItself => {}
            }
        }
    }

    /// Schedules one running request, preempting where memory lacks.
    fn schedule(&mut self, seat: Seat, budget: &mut u64) -> Step {
        let sequence = self.look(seat);
        let before = sequence.computed;
        let known = sequence.length() - before;
        let prompt_left = sequence.prompt.saturating_sub(before);
        if prompt_left > 0 && !self.config.chunked_prefill && prompt_left > *budget {
            return Step::Blocked;
        }
        let work = self.aligned_work(seat, before, known.min(*budget));
        if work == 0 && known > 0 {
            return Step::Skipped;
        }
        if self.overruns(before, before + work) {
            return Step::Blocked;
        }
        self.release_previous_state(seat);
        let drafts = self.drafts_within(seat, work, *budget);
        self.sequence(seat).drafts = drafts;
        let target = self.blocks_for(before + work);
        let held = (self.look(seat).blocks.len() as u64).min(target);
        while self.pool.available() < target - held + self.state_writes(seat, before + work)
            || !self.holds_bytes(seat, before, before + work)
        {
            assert!(
                self.config.policy == Policy::Optimistic,
                "bug: a request outgrew the blocks it was promised"
            );
            let victim = self.preempt(budget);
            if victim == seat {
                return Step::PreemptedItself;
            }
        }
        self.compute(seat, before, work, target);
        *budget -= work + drafts;
        Step::Scheduled
    }

    /// Takes blocks up to `target` and notes the work of a scheduling decision.
    ///
    /// Blocks that the decision completes are published at once: a later request of the same pass can hit them.
    pub(super) fn compute(&mut self, seat: Seat, before: u64, work: u64, target: u64) {
        let sources = self.pin_source(seat, before);
        if self.host.is_some() {
            self.take_fenced(seat, target);
        }
        while (self.look(seat).blocks.len() as u64) < target {
            let block = self.pool.take().expect("the caller counted the blocks");
            self.sequence(seat).blocks.push(block);
        }
        let after = before + work;
        self.prepare_state(seat, before, after, &sources);
        if self.config.prefix_caching {
            self.publish(seat, before, after);
        }
        self.commit_state(seat, after);
        let sequence = self.sequence(seat);
        sequence.computed = after;
        let prefix = before.min(sequence.prompt);
        let prompt = after.min(sequence.prompt) - prefix;
        let (length, generated) = (sequence.length(), sequence.generated);
        let (is_complete, is_finished) = (after >= length, sequence.is_finished());
        let total = work + sequence.drafts;
        self.pass.scheduled.push(Work { seat, total, prompt, prefix });
        if prompt > 0 {
            if self.config.role != WorkerRole::Decode {
                self.pass.formed.prefill.requests += 1;
                self.pass.formed.prefill.new_tokens += prompt;
                self.pass.formed.prefill.prefix_tokens += prefix;
            }
            // Prompt blocks of this request may now be what the waiting head lacks.
            self.head_blocked = false;
        }
        if !is_complete {
            return;
        }
        if is_finished {
            self.pass.silent.push(seat);
            return;
        }
        self.pass.emitting.push(seat);
        if self.costs_a_decode(prompt, generated) {
            self.pass.formed.decode.requests += 1;
            self.pass.formed.decode.context_tokens += length;
        }
    }

    /// Returns whether a token costs decode work: one that a prompt's own forward yields does not, and a prefill rank never decodes.
    ///
    /// A decode rank computes a preempted prompt again for nothing and pays for every token. Source: spec/SIMULATION.md §2.2.4.
    pub(super) fn costs_a_decode(&self, prompt: u64, generated: u64) -> bool {
        match self.config.role {
            WorkerRole::Aggregated => generated > 0 || prompt == 0 || self.first_token_decodes(),
            WorkerRole::Prefill => false,
            WorkerRole::Decode => true,
        }
    }

    /// Publishes the blocks that are complete at `after` tokens and were not at `before`.
    pub(super) fn publish(&mut self, seat: Seat, before: u64, after: u64) {
        let block_size = self.config.block_size;
        let (first, last) = (before / u64::from(block_size), after / u64::from(block_size));
        for index in usize::try_from(first).unwrap_or(0)..usize::try_from(last).unwrap_or(0) {
            let sequence = self.sequence(seat);
            let (block, identity) = (sequence.blocks[index], sequence.identity(index, block_size));
            // A block that was loaded from another tier is computed again without a copy of its own.
            if self.pool.is_private(block) {
                self.pool.publish(block, identity);
                self.note_published(identity);
            } else if self.match_unit().is_some() {
                self.pool.alias(block, identity);
            }
        }
    }

    /// Preempts the newest or the oldest running request and returns it; what this pass had scheduled for it goes back to the budget.
    pub(super) fn preempt(&mut self, budget: &mut u64) -> Seat {
        let victim = self.evict();
        self.undo(victim, budget);
        victim
    }

    /// Takes the newest or the oldest running request off the rank and returns it: it loses all its blocks and keeps its tokens.
    pub(super) fn evict(&mut self) -> Seat {
        let place = match self.config.preemption {
            Preemption::Lifo => self.running.len() - 1,
            Preemption::Fifo => 0,
        };
        // Places behind a removed one move up while the loop above goes on counting: the request after the current one is
        // passed over in this pass, as it is upstream.
        let victim = self.running.remove(place);
        self.fence_preempted(victim);
        self.preempt_state(victim);
        self.release_blocks(victim);
        let sequence = self.sequence(victim);
        sequence.computed = 0;
        (sequence.drafts, sequence.drafts_ready) = (0, false);
        sequence.phase = Phase::Preempted;
        let request = sequence.ticket.request;
        self.waiting.push_front(victim);
        self.head_blocked = false;
        self.destinations.note_room();
        self.preemptions += 1;
        self.pass.formed.preempted.push(request);
        victim
    }

    /// Takes back what this pass had scheduled for a request.
    fn undo(&mut self, seat: Seat, budget: &mut u64) {
        let Some(at) = self.pass.scheduled.iter().position(|work| work.seat == seat) else {
            return;
        };
        let work = self.pass.scheduled.remove(at);
        *budget += work.total;
        if work.prompt > 0 && self.config.role != WorkerRole::Decode {
            self.pass.formed.prefill.requests -= 1;
            self.pass.formed.prefill.new_tokens -= work.prompt;
            self.pass.formed.prefill.prefix_tokens -= work.prefix;
        }
        if let Some(at) = self.pass.emitting.iter().position(|other| *other == seat) {
            self.pass.emitting.remove(at);
            let sequence = self.look(seat);
            let (length, generated) = (sequence.length(), sequence.generated);
            if self.costs_a_decode(work.prompt, generated) {
                self.pass.formed.decode.requests -= 1;
                self.pass.formed.decode.context_tokens -= length;
            }
        }
        self.pass.silent.retain(|other| *other != seat);
    }

    /// Admits waiting requests in order until one does not fit: nobody skips the head.
    fn admit(&mut self, now: SimTime, prompts: Prompts, budget: &mut u64) {
        if self.config.role == WorkerRole::Decode {
            self.head_blocked = false;
        }
        while (self.running.len() as u64) < self.config.max_running
            && !self.head_blocked
            && self.pass.formed.preempted.is_empty()
        {
            let Some(seat) = self.next_waiting() else { break };
            if self.look(seat).phase == Phase::HandedOver {
                self.admit_handed_over(seat, now);
                if *budget == 0 {
                    break;
                }
                continue;
            }
            if let Some(refusal) = self.refusal(seat) {
                self.waiting.pop_front();
                self.retire(seat);
                self.pass.rejected.push((seat, refusal));
                continue;
            }
            let wants_tokens = self.wants_logits(seat);
            if *budget == 0 && wants_tokens && self.states.is_none() {
                break;
            }
            let hit = self.lookup(seat);
            if let Some(refusal) = self.exceeds_pool_with_state(seat, hit) {
                self.waiting.pop_front();
                self.pass.rejected.push((seat, refusal));
                continue;
            }
            if (*budget == 0 && wants_tokens) || self.waits_for_bytes(seat, *budget) {
                break;
            }
            if self.blocks_to_admit(seat, hit) + self.state_to_admit(seat, hit)
                > self.blocks_on_offer()
            {
                self.refuse_head(seat);
                break;
            }
            let uncached = self.look(seat).length() - hit.tokens(self.config.block_size);
            if prompts == Prompts::Deferred && uncached > 1 {
                break;
            }
            match self.admit_head(seat, hit, now, budget) {
                Some(0) if *budget == 0 => break,
                Some(_) => {}
                None => break,
            }
        }
    }

    /// Returns the blocks that a request must find free to be admitted: those of what is known of it, or of its whole life, less
    /// what others hold of its prefix.
    fn blocks_to_admit(&self, seat: Seat, hit: Hit) -> u64 {
        let sequence = self.look(seat);
        let tokens = match self.config.policy {
            Policy::Optimistic => sequence.length(),
            Policy::GuaranteedNoEvict => sequence.prompt + sequence.output,
        };
        self.blocks_for(tokens).saturating_sub(hit.held)
    }

    /// Returns the blocks that an admission may count on: those nobody holds, less what running requests were promised.
    fn blocks_on_offer(&self) -> u64 {
        let promised = match self.config.policy {
            Policy::Optimistic => 0,
            Policy::GuaranteedNoEvict => self.running.iter().map(|seat| self.promised(*seat)).sum(),
        };
        self.pool.available().saturating_sub(promised)
    }

    /// Returns the blocks that a running request was promised and does not hold yet.
    pub(super) fn promised(&self, seat: Seat) -> u64 {
        let sequence = self.look(seat);
        let whole = self.blocks_for(sequence.prompt + sequence.output);
        whole.saturating_sub(sequence.blocks.len() as u64)
    }

    /// Admits the head and returns the tokens it computes, or `None` where it stays for lack of budget.
    pub(super) fn admit_head(
        &mut self,
        seat: Seat,
        hit: Hit,
        now: SimTime,
        budget: &mut u64,
    ) -> Option<u64> {
        let sequence = self.look(seat);
        let cached = hit.tokens(self.config.block_size);
        let (request, known) = (sequence.ticket.request, sequence.length() - cached);
        let prompt_left = sequence.prompt.saturating_sub(cached);
        if prompt_left > 0 && !self.config.chunked_prefill && prompt_left > *budget {
            return None;
        }
        let work = self.aligned_work(seat, cached, known.min(*budget));
        if work == 0 && known > 0 {
            return None;
        }
        if !self.make_room(seat, hit, work, budget)
            || self.overruns(cached, cached + work)
            || !self.holds_bytes(seat, cached, cached + work)
        {
            return None;
        }
        self.pin_prefix(seat, hit.blocks);
        self.leave_line(seat);
        let from_host = self.attribute(seat, hit.blocks);
        self.running.push(seat);
        let order = self.next_order;
        self.next_order += 1;
        let block_size = self.config.block_size;
        let sequence = self.sequence(seat);
        sequence.phase = Phase::Filling;
        sequence.order = order;
        let from_host = from_host.map(|blocks| Tokens::new(blocks * u64::from(block_size)));
        sequence.admissions.push(Admission { at: now, reused: Tokens::new(cached), from_host });
        self.pass.formed.admitted.push(Admitted { request, reused: cached, computes: work });
        self.compute(seat, cached, work, self.blocks_for(cached + work));
        *budget -= work;
        Some(work)
    }

    /// Sets the end of the pass: start, then prefill part, then decode part, added in this order.
    fn price(&mut self, now: SimTime, timing: &dyn PassTiming) -> Result<(), SimError> {
        if self.pass.grouped > 0 {
            self.pass.formed.decode.requests += self.pass.grouped;
            self.pass.formed.decode.context_tokens += self.group.context;
        }
        // Groups of layers have no capacity in tokens that would bound a context.
        let capacity_tokens = match self.grouped {
            Some(_) => self.pass.formed.decode.context_tokens,
            None => self.config.blocks * u64::from(self.config.block_size),
        };
        let decode = DecodeWork { capacity_tokens, ..self.pass.formed.decode };
        let (prefill_time, decode_time) = pass_times(timing, self.pass.formed.prefill, decode)?;
        self.pass.formed.end = now + prefill_time + decode_time;
        Ok(())
    }
}
