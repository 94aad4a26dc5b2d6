//! A grid of match units: where the state of a prompt is kept and matched, inside a block too.
//!
//! A prompt stops at the end of its last block and at its last unit, and only there is its state kept, with the part of a block that
//! leads to it. A request that starts inside a block copies that block. The working state moves with the block that it stands in; what
//! a pass reads from is held until the next pass of that request, what it copies until the pass is over. Source: spec/SIMULATION.md
//! §3.6.

use crate::sim::kv::Copy;
use crate::workload::BlockIdentity;

use super::lookup::Hit;
use super::rank::{LastStop, Rank, Seat};

/// Returns a count as a place.
fn place(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl Rank {
    /// Returns the tokens of a match unit, where there is a grid.
    pub(super) fn match_unit(&self) -> Option<u32> {
        self.config.match_grid.map(|grid| grid.unit)
    }

    /// Returns the name of the first `tokens` tokens of a request, where a state can stand behind them.
    pub(super) fn prefix_of(&mut self, seat: Seat, tokens: u64) -> Option<BlockIdentity> {
        let block_size = self.config.block_size;
        let Some(unit) = self.match_unit() else {
            let index = (tokens / u64::from(block_size)).checked_sub(1)?;
            return Some(self.sequence(seat).identity(place(index), block_size));
        };
        let sequence = self.sequence(seat);
        let is_on_grid = tokens.is_multiple_of(u64::from(unit)) && tokens <= sequence.prompt;
        let index = (tokens / u64::from(unit)).checked_sub(1).filter(|_| is_on_grid)?;
        Some(sequence.unit_identity(place(index), unit))
    }

    /// Returns the longest prefix on the grid whose KV and state are there, behind `blocks` resident blocks.
    pub(super) fn finest_hit(&mut self, seat: Seat, blocks: u64, unit: u32) -> Hit {
        let mut hit = Hit { blocks: 0, held: 0, part: 0 };
        if !self.config.prefix_caching {
            return hit;
        }
        let (size, unit) = (u64::from(self.config.block_size), u64::from(unit));
        let known = self.look(seat).length();
        let limit = if self.wants_logits(seat) { known.saturating_sub(1) } else { known };
        let limit = limit.min((blocks + 1) * size - 1).min(self.look(seat).prompt);
        for tokens in (1..=limit / unit).rev().map(|count| count * unit) {
            if self.is_resident_with_state(seat, tokens) {
                (hit.blocks, hit.part) = (tokens / size, tokens % size);
                break;
            }
        }
        let block_size = self.config.block_size;
        for index in 0..place(hit.blocks) {
            let identity = self.sequence(seat).identity(index, block_size);
            hit.held += u64::from(self.pool.find(identity).is_some_and(|(_, is_held)| is_held));
        }
        hit
    }

    /// Returns whether a prefix has its state, and the part of a block that leads to it.
    fn is_resident_with_state(&mut self, seat: Seat, tokens: u64) -> bool {
        let Some(prefix) = self.prefix_of(seat, tokens) else { return false };
        let is_whole = tokens.is_multiple_of(u64::from(self.config.block_size));
        self.has_state(prefix) && (is_whole || self.pool.find(prefix.of_part()).is_some())
    }

    /// Returns how many of `desired` tokens behind the first `before` a pass computes: a prompt stops where its state is kept.
    pub(super) fn aligned_work(&self, seat: Seat, before: u64, desired: u64) -> u64 {
        let Some(grid) = self.config.match_grid else { return desired };
        let (size, unit) = (u64::from(self.config.block_size), u64::from(grid.unit));
        let sequence = self.look(seat);
        let (prompt, known) = (sequence.prompt, sequence.length());
        let filled = prompt.max(known.saturating_sub(1));
        if before >= filled {
            return desired;
        }
        let mut end = before + desired;
        if end < filled {
            let aligned = end / size * size;
            // A block that exceeds a whole pass is computed in parts.
            if aligned > before || size <= self.config.budget {
                end = aligned;
            }
        }
        let last_block = size
            * match grid.stop {
                LastStop::BelowPrompt => prompt.saturating_sub(1) / size,
                LastStop::WithinKnown => known / size,
            };
        let tail = prompt / unit * unit;
        let block_end = (!before.is_multiple_of(size)).then(|| before.next_multiple_of(size));
        let part_end = (last_block < tail && tail < prompt).then_some(tail);
        for stop in block_end.into_iter().chain([last_block]).chain(part_end) {
            if before < stop && stop < end {
                end = stop;
            }
        }
        end.saturating_sub(before)
    }

    /// Lets go of what an earlier pass of a request read its state from.
    pub(super) fn release_previous_state(&mut self, seat: Seat) {
        if self.match_unit().is_some() && self.look(seat).state.previous_step < self.step() {
            for block in std::mem::take(&mut self.sequence(seat).state.previous) {
                self.pool.release(block);
            }
        }
    }

    /// Returns the block of the sequence in which its token `tokens` stands.
    fn slot_of(&self, tokens: u64) -> u64 {
        tokens.saturating_sub(1) / u64::from(self.config.block_size)
    }

    /// Returns whether the working state has to move for a write up to `target` tokens.
    pub(super) fn changes_slot(&self, seat: Seat, target: u64) -> bool {
        let slot = self.slot_of(target);
        self.match_unit().is_some() && self.look(seat).state.slot != Some(slot)
    }

    /// Notes where a working state stands that is written up to `after` tokens.
    pub(super) fn enter_slot(&mut self, seat: Seat, after: u64) {
        let slot = self.slot_of(after);
        self.sequence(seat).state.slot = Some(slot);
    }

    /// Makes a state that was published, or that stands in another block, writable up to `after` tokens.
    pub(super) fn move_state(&mut self, seat: Seat, after: u64) {
        if self.changes_slot(seat, after) {
            let working = (0..self.state_blocks()).map(|_| self.take_counted()).collect();
            let step = self.step();
            let state = &mut self.sequence(seat).state;
            let previous = std::mem::replace(&mut state.working, working);
            state.previous.extend(previous);
            state.previous_step = step;
            self.enter_slot(seat, after);
            return;
        }
        self.preserve_state(seat);
        for (block, _) in self.look(seat).state.snapshot.clone() {
            self.hold(seat, block);
        }
    }

    /// Keeps what a request starts from: a state it reads until its next pass, what it copies until this one is over.
    pub(super) fn hold_sources(&mut self, seat: Seat, before: u64, sources: &[Copy]) {
        if sources.is_empty() {
            return;
        }
        if before.is_multiple_of(u64::from(self.config.block_size)) {
            let step = self.step();
            let state = &mut self.sequence(seat).state;
            state.previous.extend(sources);
            state.previous_step = step;
            return;
        }
        for block in sources {
            self.hold(seat, *block);
        }
    }

    /// Keeps a block until the pass is over.
    fn hold(&mut self, seat: Seat, block: Copy) {
        let step = self.step();
        let Some(states) = &mut self.states else { return };
        let held = states.holds.len();
        states.holds.push(Some(block));
        let state = &mut self.sequence(seat).state;
        if state.holds_step != step {
            state.holds.clear();
            state.holds_step = step;
        }
        state.holds.push(held);
    }

    /// Notes that a pass computes the state up to `after` tokens: it is kept behind the last whole block below the prompt's end, and
    /// behind the last unit of the prompt.
    pub(super) fn commit_on_grid(&mut self, seat: Seat, after: u64) {
        let Some(grid) = self.config.match_grid else { return };
        let (size, unit) = (u64::from(self.config.block_size), u64::from(grid.unit));
        let prompt = self.look(seat).prompt;
        let is_part = !after.is_multiple_of(size) && after == prompt / unit * unit;
        let is_kept = after > 0 && (is_part || after == prompt.saturating_sub(1) / size * size);
        let prefix = if is_kept { self.prefix_of(seat, after) } else { None };
        if let Some(prefix) = prefix.filter(|_| is_part) {
            let block = self.look(seat).blocks[place(after / size)];
            self.pool.alias(block, prefix.of_part());
        }
        let state = &mut self.sequence(seat).state;
        if state.computed == after || state.working.is_empty() {
            return;
        }
        state.computed = after;
        if let Some(prefix) = prefix {
            self.publish_state(seat, prefix);
        }
    }
}
