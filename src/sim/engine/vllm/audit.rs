//! The books of a rank, for tests: who holds which block, and what keeps the head of the line out of a pass.
//!
//! Everything is counted from the requests themselves, by other means than the scheduler's own counts.

use std::collections::BTreeMap;

use crate::sim::engine::Standing;
use crate::sim::kv::Copy;
use crate::workload::BlockCursor;

use super::rank::{Policy, Rank, Seat};
use super::sequence::{Phase, Sequence};

impl Rank {
    /// Finds a block that the pool counts otherwise than the requests that hold it.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&self) -> Result<(), String> {
        self.pool.audit(&self.claims())?;
        self.audit_bytes()
    }

    /// Returns how many holders each held block has.
    fn claims(&self) -> BTreeMap<Copy, u32> {
        let mut claims = BTreeMap::new();
        let mut claim = |blocks: &[Copy]| {
            for block in blocks {
                *claims.entry(*block).or_default() += 1;
            }
        };
        for sequence in self.seats.iter() {
            let state = &sequence.state;
            claim(&sequence.blocks);
            claim(&state.working);
            claim(&state.previous);
            if state.owns_snapshot {
                claim(&state.snapshot.iter().map(|(block, _)| *block).collect::<Vec<_>>());
            }
            claim(sequence.host.as_deref().map_or(&[], |host| host.loading()));
        }
        self.held_for_others().for_each(&mut claim);
        let states = self.states.iter().flat_map(|states| states.holds.iter().flatten());
        claim(&states.copied().collect::<Vec<_>>());
        claims
    }

    /// Finds bytes of groups of layers that nobody holds, or that are held twice.
    fn audit_bytes(&self) -> Result<(), String> {
        let Some(used) = self.bytes_used() else { return Ok(()) };
        let held: u64 = self.seats.iter().map(|sequence| sequence.bytes).sum();
        if held == used { Ok(()) } else { Err(format!("{used} bytes used, {held} held")) }
    }

    /// Finds work that could be done in the pass that was formed last, or by a rank that stands still.
    ///
    /// Where a host tier, states or groups of layers decide what may be computed, only a rank that stands still with running
    /// requests is found.
    ///
    /// # Errors
    /// What could be done.
    pub(crate) fn audit_work(&self, standing: Standing) -> Result<(), String> {
        let is_idle = standing == Standing::Idle;
        if is_idle && !self.running.is_empty() {
            return Err(format!("{} requests run and no pass does", self.running.len()));
        }
        if is_idle && self.first_pending().is_some_and(|prompt| self.could_hold(prompt)) {
            return Err("there is room for the first request that waits for it".to_owned());
        }
        let decides = self.host.is_some() || self.states.is_some() || self.grouped.is_some();
        // Who ends without a token leaves before drafts take memory, and after the head was looked at.
        let has_gone = self.config.drafts.is_some() && !self.pass.silent.is_empty();
        let is_settled = is_idle || (self.pass.formed.preempted.is_empty() && !has_gone);
        if decides || !is_settled {
            return Ok(());
        }
        let running = self.running.len() as u64;
        let has_place = running + (self.pass.silent.len() as u64) < self.config.max_running;
        let Some(seat) = self.next_waiting().filter(|_| has_place) else { return Ok(()) };
        let taken: u64 = self.pass.scheduled.iter().map(|work| work.total).sum();
        let taken = if is_idle { 0 } else { taken + self.pass.grouped };
        self.audit_head(seat, self.config.budget - taken, standing)
    }

    /// Returns whether vLLM could set room apart for a prompt, whatever of it is resident.
    fn could_hold(&self, prompt: u64) -> bool {
        let (census, needed) =
            (self.pool.census(), prompt.div_ceil(u64::from(self.config.block_size)));
        let has_place = (self.running.len() as u64) < self.config.max_running;
        has_place
            && self.config.policy == Policy::Optimistic
            && needed <= census.cached + census.free
    }

    /// Finds that the head of the line fits into what is left of a pass.
    fn audit_head(&self, seat: Seat, budget: u64, standing: Standing) -> Result<(), String> {
        let first = self.look(seat);
        let request = first.ticket.request;
        if first.phase == Phase::HandedOver {
            return if budget == 0 { Ok(()) } else { Err(format!("{request} could decode")) };
        }
        let (hit, held) = self.resident(first);
        let known = first.prompt + first.generated;
        let left = known - hit;
        let is_split = first.prompt.saturating_sub(hit) > budget;
        let waits_for_budget = budget == 0 || (is_split && !self.config.chunked_prefill);
        let waits_for_its_pass = standing == Standing::PromptsMayWait && left > 1;
        let (needed, offered) = (self.wanted(first).saturating_sub(held), self.offered());
        if waits_for_budget || waits_for_its_pass || needed > offered {
            return Ok(());
        }
        Err(format!(
            "{request} waits: {left} tokens left for {budget}, {needed} of {offered} blocks needed"
        ))
    }

    /// Returns the tokens of a request that are resident and need not be computed, and how many of their blocks somebody holds.
    fn resident(&self, sequence: &Sequence) -> (u64, u64) {
        let (size, mut cursor) = (self.config.block_size, BlockCursor::default());
        let known = sequence.prompt + sequence.generated;
        let (mut blocks, mut held) = (0, 0);
        if !self.config.prefix_caching {
            return (0, 0);
        }
        for _ in 0..known / u64::from(size) {
            let identity = sequence.content.next_block(&mut cursor, size);
            let Some((_, is_held)) = self.pool.find(identity) else { break };
            blocks += 1;
            held += u64::from(is_held);
        }
        let wants_token = sequence.generated < sequence.requested;
        if self.config.policy == Policy::Optimistic && wants_token {
            blocks = blocks.min(known.saturating_sub(1) / u64::from(size));
            blocks = blocks.saturating_sub(u64::from(self.config.drafts.is_some()));
        }
        (blocks * u64::from(size), held.min(blocks))
    }

    /// Returns the blocks that a request must find.
    fn wanted(&self, sequence: &Sequence) -> u64 {
        let output = match self.config.policy {
            Policy::Optimistic => sequence.generated,
            Policy::GuaranteedNoEvict => sequence.output,
        };
        (sequence.prompt + output).div_ceil(u64::from(self.config.block_size))
    }

    /// Returns the blocks that nobody holds or was promised.
    fn offered(&self) -> u64 {
        let promised = |seat: &Seat| {
            let sequence = self.look(*seat);
            self.wanted(sequence).saturating_sub(sequence.blocks.len() as u64)
        };
        let promised = match self.config.policy {
            Policy::Optimistic => 0,
            Policy::GuaranteedNoEvict => self.running.iter().map(promised).sum(),
        };
        let census = self.pool.census();
        (census.cached + census.free).saturating_sub(promised)
    }
}
