//! Decodes that advance together.
//!
//! Every member produces one token a pass, so what a member needs is known when it joins: when it next fills a block, when it
//! next needs one, and when it finishes. Members are kept by those pass numbers and touched at no other time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::sim::engine::End;
use crate::units::SimTime;

use super::rank::{Rank, Seat};
use super::sequence::Phase;

/// Decodes that advance together.
#[derive(Debug)]
pub(super) struct Group {
    /// Members.
    members: u64,
    /// The sum of the members' sequence lengths.
    pub(super) context: u64,
    /// Group passes formed so far.
    formed: u64,
    /// Group passes completed so far.
    pub(super) completed: u64,
    /// Members that need a block in the next pass.
    needing: Vec<Seat>,
    /// Members by the pass in which they next fill a block, then by running order. A member that left is passed over.
    filling: BinaryHeap<Reverse<(u64, u64, Seat)>>,
    /// Members by the pass that produces their last token, then by running order.
    finishing: BinaryHeap<Reverse<(u64, u64, Seat)>>,
    /// Members that have not produced a token in the group yet.
    newcomers: Vec<Seat>,
}

impl Group {
    /// Returns an empty group.
    pub(super) fn new() -> Self {
        Self {
            members: 0,
            context: 0,
            formed: 0,
            completed: 0,
            needing: Vec::new(),
            filling: BinaryHeap::new(),
            finishing: BinaryHeap::new(),
            newcomers: Vec::new(),
        }
    }

    /// Returns how many members there are.
    pub(super) fn members(&self) -> u64 {
        self.members
    }

    /// Returns how many blocks the members need in the next pass.
    pub(super) fn blocks_needed(&self) -> u64 {
        self.needing.len() as u64
    }
}

impl Rank {
    /// Makes a request that has just produced a token, and will produce more, a member.
    pub(super) fn join_group(&mut self, seat: Seat) {
        let completed = self.group.completed;
        let block_size = u64::from(self.config.block_size);
        let sequence = self.sequence(seat);
        sequence.phase = Phase::Decoding;
        sequence.as_of = completed;
        let (computed, order) = (sequence.computed, sequence.order);
        let (left, length) = (sequence.output - sequence.generated, sequence.length());
        if computed.is_multiple_of(block_size) {
            self.group.needing.push(seat);
        }
        let fills_at = completed + block_size - computed % block_size;
        self.group.filling.push(Reverse((fills_at, order, seat)));
        self.group.finishing.push(Reverse((completed + left, order, seat)));
        self.group.newcomers.push(seat);
        self.group.members += 1;
        self.group.context += length;
    }

    /// Schedules one token of every member: takes the blocks they need and publishes those they fill.
    ///
    /// The caller has made sure that the blocks are there.
    pub(super) fn schedule_group(&mut self) {
        self.group.formed += 1;
        let number = self.group.formed;
        let mut needing = std::mem::take(&mut self.group.needing);
        for seat in needing.drain(..) {
            let block = self.pool.take().expect("the caller counted the blocks");
            self.sequence(seat).blocks.push(block);
        }
        self.group.needing = needing;
        while let Some(Reverse((fills_at, order, seat))) = self.group.filling.peek().copied() {
            if fills_at > number {
                break;
            }
            self.group.filling.pop();
            if self.is_member(seat, order) {
                self.fill_block(seat);
                let next = fills_at + u64::from(self.config.block_size);
                self.group.filling.push(Reverse((next, order, seat)));
                self.group.needing.push(seat);
            }
        }
    }

    /// Returns whether a seat still holds the member that was given this place in the running order.
    fn is_member(&self, seat: Seat, order: u64) -> bool {
        self.holder(seat)
            .is_some_and(|sequence| sequence.order == order && sequence.phase == Phase::Decoding)
    }

    /// Publishes the block that a member fills in the pass that is scheduled.
    fn fill_block(&mut self, seat: Seat) {
        if !self.config.prefix_caching {
            return;
        }
        let block_size = self.config.block_size;
        let sequence = self.sequence(seat);
        let index = sequence.blocks.len() - 1;
        let (block, identity) = (sequence.blocks[index], sequence.identity(index, block_size));
        self.pool.publish(block, identity);
        self.note_published(identity);
    }

    /// Gives every member its token at `end`; `before` is the end of the rank's pass before. Finished members go to `leaving`.
    pub(super) fn advance_group(
        &mut self,
        before: SimTime,
        end: SimTime,
        leaving: &mut Vec<(Seat, End)>,
    ) {
        let newcomers = std::mem::take(&mut self.group.newcomers);
        for seat in &newcomers {
            let last = self.sequence(*seat).emit(end);
            self.sequence(*seat).generated -= 1;
            self.note_gap(*seat, last, end);
        }
        let settled_members = self.group.members - newcomers.len() as u64;
        if settled_members > 0 {
            self.note_group_gaps(before, end, settled_members);
        }
        self.group.completed += 1;
        self.group.context += self.group.members;
        self.group.newcomers = newcomers;
        self.group.newcomers.clear();
        while let Some(Reverse((number, _, seat))) = self.group.finishing.peek().copied() {
            if number > self.group.completed {
                break;
            }
            self.group.finishing.pop();
            self.leave_group(seat);
            leaving.push((seat, End::Completed));
        }
    }

    /// Takes a finished member out of the group.
    fn leave_group(&mut self, seat: Seat) {
        self.catch_up(seat);
        let length = self.look(seat).length();
        self.group.needing.retain(|other| *other != seat);
        self.group.members -= 1;
        self.group.context -= length;
    }

    /// Brings a member up to date with the passes completed since `as_of`.
    fn catch_up(&mut self, seat: Seat) {
        let (completed, last_end) = (self.group.completed, self.last_end);
        let sequence = self.sequence(seat);
        let passes = completed - sequence.as_of;
        if passes > 0 {
            sequence.generated += passes;
            sequence.computed += passes;
            sequence.as_of = completed;
            sequence.visible.last = Some(last_end);
        }
    }

    /// Ends the group: every member is brought up to date and stands for itself.
    pub(super) fn dissolve_group(&mut self) {
        if self.group.members == 0 {
            return;
        }
        for index in 0..self.running.len() {
            let seat = self.running[index];
            if self.look(seat).phase == Phase::Decoding {
                self.catch_up(seat);
                self.sequence(seat).phase = Phase::Filling;
            }
        }
        self.group.members = 0;
        self.group.context = 0;
        self.group.formed = self.group.completed;
        self.group.newcomers.clear();
        self.group.finishing.clear();
        self.group.filling.clear();
        self.group.needing.clear();
    }
}
