//! The start of a pass: what it holds and how long it takes.

use crate::deployment::WorkerRole;
use crate::plan::Compat;
use crate::sim::engine::{Retry, Round};
use crate::sim::error::SimError;
use crate::sim::timing::{DecodeWork, PassTiming, PrefillWork, pass_times};
use crate::units::SimTime;

use super::pass::Chunk;
use super::rank::Rank;
use super::sequence::Seat;

impl Rank {
    /// Forms a pass that starts at `now`; [`Rank::formed`] shows it, [`Rank::complete`] lets it take effect.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(crate) fn form(&mut self, now: SimTime, timing: &dyn PassTiming) -> Result<(), SimError> {
        self.pass.reset(now);
        let is_closed = self.closed_rounds > 0;
        let before = self.ratio;
        self.receive();
        self.refuse_overlong();
        self.admit_handed_over(now);
        self.order_waiting();
        if !is_closed && self.may_admit() {
            self.admit(now);
        }
        let work = self.prefill_work();
        let (prefill_time, _) = pass_times(timing, work, DecodeWork::default())?;
        self.pass.formed.prefill = work;
        let first = self.running.len();
        let has_batch = first > 0 || self.pass.is_prefill();
        self.seat_prompts();
        let decode_time = if self.pass.is_prefill() {
            self.first_tokens(first);
            crate::units::SimDuration::ZERO
        } else {
            self.decode(timing)?
        };
        self.pass.formed.end = now + prefill_time + decode_time;
        let moves_on = is_closed || self.ratio.to_bits() != before.to_bits();
        let retry = if moves_on { Retry::Again } else { Retry::Stuck };
        self.pass.close(retry);
        self.observe(has_batch);
        Ok(())
    }

    /// Ends the round of a worker, in which its ranks formed one pass each.
    pub(crate) fn end_round(&mut self, round: Round) {
        let is_idle = self.closed_rounds > 0 && self.pass.formed.decode.requests == 0;
        if is_idle && !round.forwards {
            self.ratio = self.config.first_ratio;
        }
        self.closed_rounds =
            if round.extends { self.config.interval } else { self.closed_rounds.saturating_sub(1) };
    }

    /// Refuses the waiting requests whose prompts reach the context limit, in order.
    fn refuse_overlong(&mut self) {
        if self.overlong == 0 {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        for seat in waiting {
            match self.overlong(self.look(seat)) {
                Some(refusal) => self.pass.rejected.push((seat, refusal)),
                None => self.waiting.push_back(seat),
            }
        }
        self.overlong = 0;
    }

    /// Returns the prompt work of the pass. In 0.13.0 requests that compute nothing count in the batch.
    ///
    /// A decode rank computes a retracted prompt again for nothing.
    fn prefill_work(&self) -> PrefillWork {
        if self.config.role == WorkerRole::Decode {
            return PrefillWork::default();
        }
        let counts_all = self.config.compat == Compat::V0_13_0;
        let mut work = PrefillWork::default();
        for chunk in self.pass.chunks.iter().filter(|chunk| counts_all || chunk.tokens > 0) {
            work.requests += 1;
            work.new_tokens += chunk.tokens;
            work.prefix_tokens += chunk.before;
        }
        work
    }

    /// Moves requests whose prompts are complete to the running ones, and others back to the head of the waiting line.
    fn seat_prompts(&mut self) {
        for index in 0..self.pass.chunks.len() {
            let Chunk { seat, before, tokens } = self.pass.chunks[index];
            let end = before + tokens;
            if end < self.look(seat).length() {
                self.publish(seat, end);
                self.waiting.push_front(seat);
            } else {
                self.running.push(seat);
            }
        }
    }

    /// Gives the requests from place `first` on, whose prompts the pass completes, the token that comes of the prompt.
    ///
    /// Where memory lacks for the places of their tokens they run without, and get it from the next decode pass.
    fn first_tokens(&mut self, first: usize) {
        let new: Vec<Seat> = self.running.drain(first..).collect();
        let mut going = Vec::with_capacity(new.len());
        for seat in &new {
            match self.look(*seat).remaining() {
                0 => self.pass.silent.push(*seat),
                1 => {
                    // The last token needs no place: nothing is computed from it.
                    self.sequence(*seat).generated += 1;
                    self.pass.emitting.push(*seat);
                    self.pass.finishing.push(*seat);
                }
                _ => going.push(*seat),
            }
        }
        self.place_first_tokens(&going, &new);
        self.running.extend(if self.host.is_some() { &new } else { &going });
        for seat in &going {
            self.join_group(*seat);
        }
        self.finish_all();
    }

    /// Gives requests their first tokens where there is room for all of them.
    ///
    /// `all` are the requests whose prompts are complete, in order.
    fn place_first_tokens(&mut self, going: &[Seat], all: &[Seat]) {
        let needed = going.iter().map(|seat| self.growth(*seat, 1)).sum();
        self.cache.make_room(needed);
        if self.host.is_some() {
            self.note_commits(all);
        } else if self.config.compat != Compat::V0_13_0 {
            let finishing = std::mem::take(&mut self.pass.finishing);
            for seat in going.iter().chain(&finishing) {
                self.publish(*seat, self.look(*seat).computed);
            }
            self.pass.finishing = finishing;
        }
        if needed > self.cache.free() {
            return;
        }
        self.cache.take(needed);
        for seat in going {
            self.append(*seat);
            if self.config.caches_output_at_once() {
                self.publish(*seat, self.look(*seat).computed);
            }
            self.pass.emitting.push(*seat);
        }
    }

    /// Returns the pages that a request needs for `tokens` more tokens.
    pub(super) fn growth(&self, seat: Seat, tokens: u64) -> u64 {
        let sequence = self.look(seat);
        let target = self.config.pages_for(sequence.length() + tokens);
        target.saturating_sub(sequence.lease.pages)
    }

    /// Gives a request a token and, where its last page is full, a page that the caller has taken.
    pub(super) fn append(&mut self, seat: Seat) {
        let pages = self.growth(seat, 1);
        let sequence = self.sequence(seat);
        sequence.lease.pages += pages;
        sequence.generated += 1;
        sequence.computed += 1;
    }

    /// Lets go of the memory of all requests that end with the pass.
    pub(super) fn finish_all(&mut self) {
        if self.host.is_some() {
            self.mark_ghosts();
            return;
        }
        let (silent, finishing) =
            (std::mem::take(&mut self.pass.silent), std::mem::take(&mut self.pass.finishing));
        for seat in silent.iter().chain(&finishing) {
            if self.config.role == WorkerRole::Prefill {
                self.hold(*seat);
            } else {
                self.finish(*seat);
                self.destinations.note_room();
            }
        }
        (self.pass.silent, self.pass.finishing) = (silent, finishing);
    }
}
