//! Decodes that advance together.
//!
//! Every member produces one token a decode pass, so it is known at joining when it next fills a page and when it finishes.
//! Members are touched at no other time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::units::SimTime;

use super::rank::Rank;
use super::sequence::Seat;

/// Decodes that advance together: all running requests, or none.
#[derive(Debug, Default)]
pub(super) struct Group {
    members: u64,
    /// The sum of the members' sequence lengths.
    pub(super) context: u64,
    /// Group passes so far.
    pub(super) completed: u64,
    /// How many members need a page in a pass, by the pass's number modulo the page.
    needing: BTreeMap<u64, u64>,
    /// Members by the pass that produces their last token, then by the order in which they joined.
    finishing: BinaryHeap<Reverse<(u64, u64, Seat)>>,
    joined: u64,
    /// Members whose next token is recorded for each: those that have fewer than two, or joined since the last group pass.
    newcomers: Vec<Seat>,
    /// When the last group pass ended.
    last_end: SimTime,
}

impl Group {
    /// Returns how many members there are.
    pub(super) fn members(&self) -> u64 {
        self.members
    }

    /// Returns how many pages the members need in the next pass.
    pub(super) fn pages_needed(&self, page: u32) -> u64 {
        self.needing.get(&(self.completed % u64::from(page))).copied().unwrap_or(0)
    }
}

impl Rank {
    /// Makes a running request a member, where members are kept.
    pub(super) fn join_group(&mut self, seat: Seat) {
        if !self.config.may_group() {
            return;
        }
        let completed = self.group.completed;
        let sequence = self.sequence(seat);
        sequence.is_member = true;
        sequence.as_of = completed;
        sequence.last_pass = completed + sequence.remaining();
        let (length, last) = (sequence.length(), sequence.last_pass);
        *self.group.needing.entry(self.residue(completed, length)).or_default() += 1;
        self.group.finishing.push(Reverse((last, self.group.joined, seat)));
        self.group.joined += 1;
        self.group.newcomers.push(seat);
        self.group.members += 1;
        self.group.context += length;
    }

    /// Returns which passes, modulo the page, need a page for a member of `length` tokens after `completed` passes.
    fn residue(&self, completed: u64, length: u64) -> u64 {
        let page = u64::from(self.config.page);
        (completed + (page - length % page)) % page
    }

    /// Gives every member a token; the caller has taken the pages. Members that finish are taken out.
    pub(super) fn advance_group(&mut self) {
        self.pass.grouped = self.group.members;
        self.group.completed += 1;
        self.group.context += self.group.members;
        let before = self.pass.finishing.len();
        while let Some(Reverse((number, _, seat))) = self.group.finishing.peek().copied() {
            if number > self.group.completed {
                break;
            }
            self.group.finishing.pop();
            self.leave_group(seat);
            self.pass.finishing.push(seat);
        }
        if self.pass.finishing.len() > before {
            let seats = &self.seats;
            self.running
                .retain(|seat| seats.find(*seat).is_some_and(|sequence| sequence.is_member));
        }
    }

    /// Takes a member that produces its last token out of the group.
    fn leave_group(&mut self, seat: Seat) {
        self.catch_up(seat);
        let length = self.look(seat).length();
        let residue = self.residue(self.group.completed, length);
        if let Some(count) = self.group.needing.get_mut(&residue) {
            *count -= 1;
        }
        self.sequence(seat).is_member = false;
        self.group.members -= 1;
        self.group.context -= length;
    }

    /// Brings a member up to date with the passes since `as_of`.
    fn catch_up(&mut self, seat: Seat) {
        let completed = self.group.completed;
        let config = self.config;
        let sequence = self.sequence(seat);
        let passes = completed - sequence.as_of;
        sequence.as_of = completed;
        sequence.generated += passes;
        sequence.computed += passes;
        sequence.lease.pages = config.pages_for(sequence.computed);
    }

    /// Records the token that `members` members got at `end`.
    pub(super) fn emit_group(&mut self, end: SimTime, members: u64) {
        let newcomers = std::mem::take(&mut self.group.newcomers);
        let settled = members - newcomers.len() as u64;
        for seat in newcomers {
            let before = self.sequence(seat).emit(end);
            self.note_gap(seat, before, end);
            let sequence = self.look(seat);
            if sequence.emitted < 2 && sequence.is_member {
                self.group.newcomers.push(seat);
            }
        }
        if settled > 0 {
            self.note_group_gaps(self.group.last_end, end, settled);
        }
        self.group.last_end = end;
    }

    /// Ends the group: every member is brought up to date and stands for itself.
    pub(super) fn dissolve_group(&mut self) {
        if self.group.members == 0 {
            return;
        }
        let (completed, last_end) = (self.group.completed, self.group.last_end);
        for index in 0..self.running.len() {
            let seat = self.running[index];
            let has_run = self.look(seat).as_of < completed;
            self.catch_up(seat);
            let sequence = self.sequence(seat);
            sequence.is_member = false;
            sequence.emitted = sequence.generated;
            if has_run {
                sequence.visible.last = Some(last_end);
            }
        }
        let group = &mut self.group;
        (group.members, group.context) = (0, 0);
        group.needing.clear();
        group.finishing.clear();
        group.newcomers.clear();
    }
}
