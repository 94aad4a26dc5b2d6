//! Who takes part in a pass.

use crate::deployment::{Backend, Preemption};
use crate::units::SimTime;

use super::rank::{Rank, Work};

/// What of a request is there already.
#[derive(Debug, Clone, Copy)]
struct Found {
    blocks: u64,
    held: u64,
}

impl Rank {
    /// Returns the blocks of so many tokens.
    pub(super) fn blocks_of(&self, tokens: u64) -> u64 {
        tokens.div_ceil(self.rules.block)
    }

    /// Lets running requests go on, in order.
    pub(super) fn run_on(&mut self, budget: &mut u64) {
        let mut place = 0;
        while place < self.running.len() && *budget > 0 {
            let one = self.running[place];
            let request = &self.requests[one];
            let (known, left) = (request.length(), request.length() - request.computed);
            let prompt_left = request.prompt.saturating_sub(request.computed);
            if prompt_left > *budget && !self.rules.chunked {
                break;
            }
            let work = left.min(*budget);
            let drafts = if request.drafts_ready && !self.verifies_always() {
                let room =
                    self.rules.context.map_or(u64::MAX, |limit| (limit - known).saturating_sub(1));
                self.rules.drafts.min(room).min(*budget - work)
            } else {
                0
            };
            let target = self.blocks_of(request.computed + work);
            let mut gave_way = false;
            while !gave_way && self.lacks(one, target) {
                gave_way = self.preempt(budget) == one;
            }
            if !gave_way {
                self.compute(one, work, drafts);
                *budget -= work + drafts;
                place += 1;
            }
        }
    }

    /// Returns whether there are too few blocks for a request to hold `target` of them.
    fn lacks(&self, request: usize, target: u64) -> bool {
        let held = self.requests[request].blocks.len() as u64;
        self.memory.available() < target.saturating_sub(held)
    }

    /// Lets a request compute so many tokens, and charges it for drafts.
    fn compute(&mut self, request: usize, work: u64, drafts: u64) {
        let before = self.requests[request].computed;
        let after = before + work;
        self.extend(request, self.blocks_of(after));
        self.publish(request, before, after);
        let sequence = &mut self.requests[request];
        sequence.computed = after;
        let prefix = before.min(sequence.prompt);
        let prompt = after.min(sequence.prompt) - prefix;
        self.pass.scheduled.push(Work { request, charged: work + drafts, prompt, prefix });
    }

    /// Gives a request blocks up to `target`.
    fn extend(&mut self, request: usize, target: u64) {
        while (self.requests[request].blocks.len() as u64) < target {
            let block = self.memory.take();
            self.requests[request].blocks.push(block);
        }
    }

    /// Lets the blocks be found that fill between `before` and `after` tokens.
    pub(super) fn publish(&mut self, request: usize, before: u64, after: u64) {
        if !self.rules.caching {
            return;
        }
        for end in (before + 1..=after).filter(|tokens| tokens.is_multiple_of(self.rules.block)) {
            let place = usize::try_from(end / self.rules.block - 1).expect("small");
            let end = usize::try_from(end).expect("small");
            let sequence = &self.requests[request];
            self.memory.publish(sequence.blocks[place], &sequence.tokens[..end]);
        }
    }

    /// Takes a running request's place and memory, and what the pass had for it.
    pub(super) fn preempt(&mut self, budget: &mut u64) -> usize {
        let victim = self.evict();
        if let Some(at) = self.pass.scheduled.iter().position(|work| work.request == victim) {
            *budget += self.pass.scheduled.remove(at).charged;
        }
        victim
    }

    /// Takes a running request's place and memory.
    pub(super) fn evict(&mut self) -> usize {
        let place = match self.rules.preemption {
            Preemption::Lifo => self.running.len() - 1,
            Preemption::Fifo => 0,
        };
        let victim = self.running.remove(place);
        self.give_all_back(victim);
        self.requests[victim].computed = 0;
        self.requests[victim].drafts_ready = false;
        self.waiting.insert(0, victim);
        self.pass.preempted += 1;
        self.preemptions += 1;
        victim
    }

    /// Admits from the head of the line while there is room.
    pub(super) fn admit(&mut self, now: SimTime, budget: &mut u64) {
        while self.pass.preempted == 0 && (self.running.len() as u64) < self.rules.sequences {
            let Some(head) = self.waiting.first().copied() else { return };
            if self.can_never_be_served(head) {
                self.waiting.remove(0);
                self.pass.rejected.push(head);
            } else if !self.admit_one(head, now, budget) {
                return;
            }
        }
    }

    /// Returns whether a request is too long for the context or the pool.
    fn can_never_be_served(&self, request: usize) -> bool {
        let sequence = &self.requests[request];
        let is_long = self.rules.context.is_some_and(|limit| sequence.prompt >= limit);
        is_long || (!sequence.was_admitted && self.wanted(request) > self.memory.count())
    }

    /// Returns the blocks that a request must find: TensorRT-LLM wants those of its whole life.
    fn wanted(&self, request: usize) -> u64 {
        let sequence = &self.requests[request];
        let is_whole = self.rules.backend == Backend::Trtllm;
        self.blocks_of(
            sequence.prompt + if is_whole { sequence.output } else { sequence.generated },
        )
    }

    /// Admits the head; returns whether the line moves on.
    fn admit_one(&mut self, head: usize, now: SimTime, budget: &mut u64) -> bool {
        let wants_token = self.requests[head].generated < self.requests[head].asked;
        let samples = wants_token && self.rules.backend == Backend::Vllm;
        if *budget == 0 && samples {
            return false;
        }
        let found = self.look_up(head, samples);
        if self.wanted(head) - found.held > self.on_offer() {
            return false;
        }
        let cached = found.blocks * self.rules.block;
        let sequence = &self.requests[head];
        let left = sequence.length() - cached;
        if sequence.prompt.saturating_sub(cached) > *budget && !self.rules.chunked {
            return false;
        }
        let work = left.min(*budget);
        if (work == 0 && left > 0) || !self.make_room(head, found, cached + work, budget) {
            return false;
        }
        let place = self.waiting.iter().position(|other| *other == head);
        self.waiting.remove(place.expect("it waits"));
        for block in 1..=found.blocks {
            let tokens = usize::try_from(block * self.rules.block).expect("small");
            let known = &self.requests[head].tokens[..tokens];
            let (block, _) = self.memory.find(known).expect("it was found");
            self.memory.hold(block);
            self.requests[head].blocks.push(block);
        }
        self.running.push(head);
        self.requests[head].computed = cached;
        self.requests[head].was_admitted = true;
        self.requests[head].admissions.push((now, cached));
        self.pass.admitted += 1;
        self.compute(head, work, 0);
        *budget -= work;
        work > 0 || *budget > 0
    }

    /// Finds the blocks of a request that are there; one that samples computes its last token, and a drafter's the block before.
    fn look_up(&self, request: usize, samples: bool) -> Found {
        let sequence = &self.requests[request];
        let mut found = Found { blocks: 0, held: 0 };
        let whole = if self.rules.caching { sequence.length() / self.rules.block } else { 0 };
        for block in 1..=whole {
            let tokens = usize::try_from(block * self.rules.block).expect("small");
            let Some((_, is_held)) = self.memory.find(&sequence.tokens[..tokens]) else { break };
            found.blocks += 1;
            found.held += u64::from(is_held);
        }
        if samples {
            found.blocks = found.blocks.min((sequence.length() - 1) / self.rules.block);
            if self.rules.drafts > 0 {
                found.blocks = found.blocks.saturating_sub(1);
            }
            found.held = found.held.min(found.blocks);
        }
        found
    }

    /// Returns the blocks that an admission may count on.
    fn on_offer(&self) -> u64 {
        let promised =
            |request: &usize| self.wanted(*request) - self.requests[*request].blocks.len() as u64;
        let promised = match self.rules.backend {
            Backend::Trtllm => self.running.iter().map(promised).sum(),
            Backend::Vllm | Backend::Sglang => 0,
        };
        self.memory.available().saturating_sub(promised)
    }

    /// Preempts until an admission finds all its blocks: where the lookup's count of held ones was too high it does not.
    fn make_room(&mut self, head: usize, found: Found, tokens: u64, budget: &mut u64) -> bool {
        loop {
            let known = |block: u64| {
                let tokens = usize::try_from(block * self.rules.block).expect("small");
                self.memory.find(&self.requests[head].tokens[..tokens])
            };
            let is_idle = |block: &u64| known(*block).is_some_and(|(_, is_held)| !is_held);
            let idle = (1..=found.blocks).filter(is_idle).count() as u64;
            if self.memory.available() >= idle + self.blocks_of(tokens).saturating_sub(found.blocks)
            {
                return true;
            }
            if self.running.is_empty() || self.rules.backend == Backend::Trtllm {
                return false;
            }
            self.preempt(budget);
        }
    }
}
