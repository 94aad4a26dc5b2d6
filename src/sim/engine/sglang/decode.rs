//! A decode pass: one token for every running request.

use crate::sim::error::SimError;
use crate::sim::timing::{DecodeWork, PassTiming, PrefillWork, pass_times};
use crate::units::SimDuration;

use super::rank::Rank;
use super::sequence::Seat;

impl Rank {
    /// Gives every running request a token and returns how long that takes.
    ///
    /// Who does not fit is retracted; where the last one does not fit, nothing happens.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(super) fn decode(&mut self, timing: &dyn PassTiming) -> Result<SimDuration, SimError> {
        self.end_those_without_output();
        if self.running.is_empty() {
            if self.closed_rounds == 0 {
                self.ratio = self.config.decayed(self.ratio);
            }
            self.finish_all();
            return Ok(SimDuration::ZERO);
        }
        let estimate = if self.can_advance_as_group() {
            None
        } else {
            self.dissolve_group();
            self.retract()
        };
        self.ratio = estimate.unwrap_or_else(|| self.config.decayed(self.ratio));
        let (needed, context) = self.demand();
        self.cache.make_room(needed);
        self.pass.formed.decode = DecodeWork {
            requests: self.running.len() as u64,
            context_tokens: context,
            capacity_tokens: self.config.pages * u64::from(self.config.page),
        };
        let (_, time) = pass_times(timing, PrefillWork::default(), self.pass.formed.decode)?;
        if needed > self.cache.free() {
            self.finish_all();
            return Ok(SimDuration::ZERO);
        }
        if self.group.members() > 0 {
            self.cache.take(needed);
            self.advance_group();
        } else {
            self.advance_each();
        }
        self.finish_all();
        Ok(time)
    }

    /// Returns the pages that the running requests need, and the sum of their lengths.
    fn demand(&self) -> (u64, u64) {
        if self.group.members() > 0 {
            return (self.group.pages_needed(self.config.page), self.group.context);
        }
        self.running.iter().fold((0, 0), |(pages, context), seat| {
            (pages + self.most_growth(*seat), context + self.look(*seat).length())
        })
    }

    /// Returns whether all running requests are in the group and the pages they need are there.
    fn can_advance_as_group(&self) -> bool {
        self.group.members() == self.running.len() as u64
            && self.group.pages_needed(self.config.page) <= self.cache.reachable()
    }

    /// Returns the pages that a request needs where all its drafts are accepted.
    pub(super) fn most_growth(&self, seat: Seat) -> u64 {
        self.growth(seat, self.config.burst().min(self.look(seat).remaining()))
    }

    /// Gives every running request a token and its accepted drafts, one by one.
    fn advance_each(&mut self) {
        let running = std::mem::take(&mut self.running);
        for seat in &running {
            if self.look(*seat).is_ghost {
                self.place_last_token(*seat);
                self.running.push(*seat);
                continue;
            }
            self.advance_one(*seat);
            let ends = self.look(*seat).remaining() == 0;
            if ends {
                self.pass.finishing.push(*seat);
            }
            if !ends || self.host.is_some() {
                self.running.push(*seat);
            }
        }
        self.pass.formed.speculated =
            self.acceptance.is_some().then_some(self.pass.emitting.len() as u64);
        for index in 0..self.running.len() {
            let seat = self.running[index];
            self.join_group(seat);
        }
    }

    /// Gives a request a token and its accepted drafts, as far as it has output left; the pages are free.
    fn advance_one(&mut self, seat: Seat) {
        let drafts = self.config.burst() - 1;
        let accepted = self.acceptance.as_mut().map_or(0, |draws| draws.accepted(drafts));
        for _ in 0..(1 + accepted).min(self.look(seat).remaining()) {
            self.cache.take(self.growth(seat, 1));
            self.append(seat);
            self.pass.emitting.push(seat);
            if self.config.caches_output_at_once() && self.look(seat).remaining() > 0 {
                self.publish(seat, self.look(seat).computed);
            }
        }
    }

    /// Returns how many tokens a request is still to produce.
    pub(super) fn remaining(&self, seat: Seat) -> u64 {
        let sequence = self.look(seat);
        if sequence.is_member {
            sequence.last_pass - self.group.completed
        } else {
            sequence.remaining()
        }
    }
}
