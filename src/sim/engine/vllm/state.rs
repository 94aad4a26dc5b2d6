//! The state of recurrent layers: each running request writes one of a fixed size, and what it was at the end of a block can be
//! cached beside the KV of the prefix.
//!
//! A state takes as many blocks as hold it. When a pass ends at the end of a block the working state answers for that prefix; before
//! the next write it is copied, so that the cached one stays. A prefix is of use only where both its KV and its state are there, and
//! what a pass publishes is of use from the next one on. Source: spec/SIMULATION.md §3.6.

use std::collections::BTreeSet;

use crate::sim::kv::Copy;
use crate::workload::BlockIdentity;

use super::lookup::Hit;
use super::rank::{Rank, Seat};

/// The states of a rank.
#[derive(Debug)]
pub(super) struct RankStates {
    /// Blocks that one state takes.
    blocks: u32,
    /// Passes formed.
    step: u64,
    /// Prefixes whose state this pass publishes.
    published: BTreeSet<BlockIdentity>,
    /// Blocks that this pass copies from or to, until it has been computed.
    pub(super) holds: Vec<Option<Copy>>,
}

/// The state of one request.
#[derive(Debug, Default)]
pub(super) struct RequestState {
    /// The blocks that it writes.
    pub(super) working: Vec<Copy>,
    /// Tokens up to which it is computed.
    pub(super) computed: u64,
    /// The last state that it published, by block and the owner's number of it.
    pub(super) snapshot: Vec<(Copy, u32)>,
    /// The prefix of that.
    prefix: Option<BlockIdentity>,
    /// The pass that published it.
    step: u64,
    /// Whether the request holds it apart from its working state.
    pub(super) owns_snapshot: bool,
    /// The block of the sequence in which the working state stands, on a match grid.
    pub(super) slot: Option<u64>,
    /// What the pass in `previous_step` read the state from, on a match grid.
    pub(super) previous: Vec<Copy>,
    pub(super) previous_step: u64,
    /// Its places in the rank's `holds` of the pass in `holds_step`.
    pub(super) holds: Vec<usize>,
    pub(super) holds_step: u64,
}

impl RankStates {
    /// Returns the states of a rank each of which takes `blocks` blocks; `None` where there are none.
    pub(super) fn new(blocks: u32) -> Option<Self> {
        (blocks > 0).then(|| Self {
            blocks,
            step: 0,
            published: BTreeSet::new(),
            holds: Vec::new(),
        })
    }

    /// Returns the names of the blocks of a prefix's state.
    fn names(&self, prefix: BlockIdentity) -> impl Iterator<Item = BlockIdentity> + use<> {
        (0..self.blocks).map(move |slot| prefix.of_state(slot))
    }
}

impl Rank {
    /// Begins a pass.
    pub(super) fn begin_states(&mut self) {
        if let Some(states) = &mut self.states {
            for block in states.holds.drain(..).flatten() {
                self.pool.release(block);
            }
            states.step += 1;
            states.published.clear();
            // A decode may have published or given back a state: the head is looked at anew.
            self.head_blocked = false;
        }
    }

    /// Returns the blocks of one state; 0 without states.
    pub(super) fn state_blocks(&self) -> u64 {
        self.states.as_ref().map_or(0, |states| u64::from(states.blocks))
    }

    /// Shortens a hit to the longest prefix whose state is there too.
    pub(super) fn with_state(&mut self, seat: Seat, mut hit: Hit) -> Hit {
        if self.states.is_none() {
            return hit;
        }
        let block_size = self.config.block_size;
        let place = |blocks: u64| usize::try_from(blocks).unwrap_or(usize::MAX);
        while hit.blocks > 0 {
            let prefix = self.sequence(seat).identity(place(hit.blocks - 1), block_size);
            if self.has_state(prefix) {
                break;
            }
            hit.blocks -= 1;
        }
        let is_held = |rank: &mut Self, index| {
            let identity = rank.sequence(seat).identity(index, block_size);
            rank.pool.find(identity).is_some_and(|(_, is_held)| is_held)
        };
        hit.held = (0..place(hit.blocks)).map(|index| u64::from(is_held(self, index))).sum();
        hit
    }

    /// Returns whether the state of a prefix is there.
    pub(super) fn has_state(&self, prefix: BlockIdentity) -> bool {
        self.states.as_ref().is_some_and(|states| {
            !states.published.contains(&prefix)
                && states.names(prefix).all(|name| self.pool.find(name).is_some())
        })
    }

    /// Returns the blocks that an admission needs for its state: its own, and those of the cached one that nobody holds.
    pub(super) fn state_to_admit(&mut self, seat: Seat, hit: Hit) -> u64 {
        self.state_blocks() + self.idle_source(seat, hit)
    }

    /// Returns how many blocks of the state behind a hit nobody holds.
    fn idle_source(&mut self, seat: Seat, hit: Hit) -> u64 {
        let Some(names) = self.source(seat, hit.tokens(self.config.block_size)) else { return 0 };
        let idle = |name: &BlockIdentity| self.pool.find(*name).is_some_and(|(_, held)| !held);
        names.iter().filter(|name| idle(name)).count() as u64
    }

    /// Returns the names of the state behind a hit of `tokens` tokens, after that of the part of a block in it.
    fn source(&mut self, seat: Seat, tokens: u64) -> Option<Vec<BlockIdentity>> {
        let prefix = self.prefix_of(seat, tokens)?;
        let is_part = !tokens.is_multiple_of(u64::from(self.config.block_size));
        let part = is_part.then(|| prefix.of_part());
        self.states.as_ref().map(|states| part.into_iter().chain(states.names(prefix)).collect())
    }

    /// Returns the blocks that a request needs at once to be admitted behind a hit, with its state; `None` without states.
    pub(super) fn blocks_with_state(&self, seat: Seat, hit: Hit) -> Option<u64> {
        self.states.as_ref()?;
        let copies = if hit.blocks + hit.part > 0 { 2 } else { 1 };
        let tokens = self.blocks_for(self.look(seat).length());
        Some(tokens + self.state_blocks() * copies + u64::from(hit.part > 0))
    }

    /// Returns the blocks that a running request needs at once to compute its known sequence; `None` without states.
    pub(super) fn blocks_with_written_state(&self, seat: Seat) -> Option<u64> {
        self.states.as_ref()?;
        let length = self.look(seat).length();
        Some(self.blocks_for(length) + self.state_blocks() + self.state_writes(seat, length))
    }

    /// Returns the blocks that computing up to `target` tokens takes for the state: a new one, or a copy of a published one.
    pub(super) fn state_writes(&self, seat: Seat, target: u64) -> u64 {
        let state = &self.look(seat).state;
        let is_published = || state.working.iter().any(|block| !self.pool.is_private(*block));
        if state.working.is_empty() || target <= state.computed {
            return 0;
        }
        if self.changes_slot(seat, target) || is_published() { self.state_blocks() } else { 0 }
    }

    /// Takes hold of the state that an admission starts from.
    pub(super) fn pin_source(&mut self, seat: Seat, before: u64) -> Vec<Copy> {
        if self.states.is_none() || !self.look(seat).state.working.is_empty() {
            return Vec::new();
        }
        let names = self.source(seat, before).unwrap_or_default();
        let mut sources = Vec::with_capacity(names.len());
        for name in names {
            let (block, _) = self.pool.find(name).expect("the lookup found the state");
            self.pool.pin(block);
            sources.push(block);
        }
        sources
    }

    /// Gives a request the blocks that writing its state up to `after` tokens takes, and lets go of what it started from.
    pub(super) fn prepare_state(&mut self, seat: Seat, before: u64, after: u64, sources: &[Copy]) {
        let Some(states) = &self.states else { return };
        let count = states.blocks;
        if self.look(seat).state.working.is_empty() {
            let working = (0..count).map(|_| self.take_counted()).collect();
            let state = &mut self.sequence(seat).state;
            (state.working, state.computed) = (working, before);
            self.enter_slot(seat, after);
        } else if self.match_unit().is_some() {
            if self.state_writes(seat, after) > 0 {
                self.move_state(seat, after);
            }
        } else if self.state_writes(seat, after) > 0 {
            self.preserve_state(seat);
            self.sequence(seat).state.owns_snapshot = true;
        }
        if self.match_unit().is_some() {
            self.hold_sources(seat, before, sources);
            return;
        }
        for block in sources {
            self.pool.release(*block);
        }
    }

    /// Notes that a pass computes the state up to `after` tokens: at the end of a block it answers for that prefix.
    pub(super) fn commit_state(&mut self, seat: Seat, after: u64) {
        if self.match_unit().is_some() {
            return self.commit_on_grid(seat, after);
        }
        let block_size = u64::from(self.config.block_size);
        if self.states.is_none() || self.look(seat).state.computed == after {
            return;
        }
        let state = &mut self.sequence(seat).state;
        state.computed = after;
        if std::mem::take(&mut state.owns_snapshot) {
            for (block, _) in state.snapshot.clone() {
                self.pool.release(block);
            }
        }
        if !self.config.prefix_caching || !after.is_multiple_of(block_size) {
            return;
        }
        for (block, owner) in std::mem::take(&mut self.sequence(seat).state.snapshot) {
            self.pool.discard(block, owner);
        }
        if let Some(prefix) = self.prefix_of(seat, after) {
            self.publish_state(seat, prefix);
        }
    }

    /// Makes the working state of a request answer for a prefix from the next pass on.
    pub(super) fn publish_state(&mut self, seat: Seat, prefix: BlockIdentity) {
        let Some(states) = &mut self.states else { return };
        states.published.insert(prefix);
        let step = states.step;
        let names: Vec<BlockIdentity> = states.names(prefix).collect();
        let working = self.look(seat).state.working.clone();
        for (block, name) in working.iter().zip(names) {
            self.pool.publish(*block, name);
        }
        let snapshot = working.iter().map(|block| (*block, self.pool.owner(*block))).collect();
        let state = &mut self.sequence(seat).state;
        (state.snapshot, state.prefix, state.step) = (snapshot, Some(prefix), step);
    }

    /// Gives the state of a request up. Published ones stay cached.
    pub(super) fn release_state(&mut self, seat: Seat) {
        let RequestState { working, snapshot, owns_snapshot, previous, holds, holds_step, .. } =
            std::mem::take(&mut self.sequence(seat).state);
        for block in previous {
            self.pool.release(block);
        }
        if let Some(states) = self.states.as_mut().filter(|states| states.step == holds_step) {
            for block in holds.into_iter().filter_map(|place| states.holds[place].take()) {
                self.pool.release(block);
            }
        }
        for (block, _) in snapshot.into_iter().filter(|_| owns_snapshot) {
            self.pool.release(block);
        }
        for block in working {
            self.pool.release(block);
        }
    }

    /// Gives the state of a preempted request up; one that the pass in formation published was never computed.
    pub(super) fn preempt_state(&mut self, seat: Seat) {
        let Some(step) = self.states.as_ref().map(|states| states.step) else { return };
        let state = &self.look(seat).state;
        let undone = if state.step == step { state.snapshot.clone() } else { Vec::new() };
        self.release_state(seat);
        for (block, owner) in undone {
            self.pool.discard(block, owner);
        }
    }

    /// Copies the published state of a request, so that it can write on: the copy answers for the prefix.
    pub(super) fn preserve_state(&mut self, seat: Seat) {
        let prefix = self.look(seat).state.prefix.expect("a published state has a prefix");
        let Some(states) = &mut self.states else { return };
        states.published.insert(prefix);
        let (step, names) = (states.step, states.names(prefix).collect::<Vec<_>>());
        let mut snapshot = Vec::with_capacity(names.len());
        for name in names {
            let block = self.take_counted();
            self.pool.publish(block, name);
            snapshot.push((block, self.pool.owner(block)));
        }
        for block in self.look(seat).state.working.clone() {
            self.pool.unpublish(block);
        }
        let state = &mut self.sequence(seat).state;
        (state.snapshot, state.step) = (snapshot, step);
    }

    /// Returns the pass in formation.
    pub(super) fn step(&self) -> u64 {
        self.states.as_ref().map_or(0, |states| states.step)
    }

    /// Takes a block that was counted.
    pub(super) fn take_counted(&mut self) -> Copy {
        self.pool.take().expect("the caller counted the blocks")
    }
}
