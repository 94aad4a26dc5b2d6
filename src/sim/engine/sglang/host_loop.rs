//! The overlap loop: a pass is chosen while the one before it computes, so its tokens are seen one pass later.
//!
//! A pass ends when the forward before it has ended; its own forward goes on behind that. Until the tokens of a forward are seen, a
//! request that ended in it keeps its place and is computed once more, and what the forward computed is not cached.
//! Source: spec/SIMULATION.md §2.7 and the reference's nightly 87.

use crate::deployment::WorkerRole;
use crate::units::{SimDuration, SimTime};

use super::rank::Rank;
use super::sequence::Seat;

/// What the scheduler has not seen.
#[derive(Debug, Default)]
pub(super) struct HostLoop {
    /// Requests that have arrived since the last pass was chosen.
    pub(super) inbox: Vec<Seat>,
    /// The forward of the last pass.
    flight: Option<Flight>,
    /// When the device is free.
    free_at: SimTime,
    /// Prompts that the pass being formed completes, and how far each is computed.
    commits: Vec<(Seat, u64)>,
}

/// A forward whose tokens the scheduler has not seen.
#[derive(Debug, Default)]
struct Flight {
    ends: SimTime,
    emitting: Vec<Seat>,
    silent: Vec<Seat>,
    finishing: Vec<Seat>,
    commits: Vec<(Seat, u64)>,
}

impl HostLoop {
    /// Returns whether nothing has arrived and nothing is unseen.
    pub(super) fn is_idle(&self) -> bool {
        self.inbox.is_empty() && self.flight.is_none()
    }
}

impl Rank {
    /// Lets what has arrived wait.
    pub(super) fn receive(&mut self) {
        if let Some(host) = &mut self.host {
            self.waiting.extend(host.inbox.drain(..));
        }
    }

    /// Notes prompts that are to be cached once the forward of the pass is seen.
    pub(super) fn note_commits(&mut self, seats: &[Seat]) {
        for seat in seats {
            let sequence = self.look(*seat);
            let computed = sequence.computed;
            let is_more = self.config.full_pages(computed) > sequence.lease.cached;
            if let Some(host) = &mut self.host
                && self.config.prefix_caching
                && is_more
            {
                host.commits.push((*seat, computed));
            }
        }
    }

    /// Lets requests that end with the pass keep their places until that is seen. A prefill rank takes them out of the batch.
    pub(super) fn mark_ghosts(&mut self) {
        for index in 0..self.pass.silent.len() + self.pass.finishing.len() {
            let ended = self.pass.silent.iter().chain(&self.pass.finishing);
            if let Some(seat) = ended.copied().nth(index) {
                self.sequence(seat).is_ghost = true;
            }
        }
        if self.config.role == WorkerRole::Prefill {
            let seats = &self.seats;
            self.running
                .retain(|seat| seats.find(*seat).is_some_and(|sequence| !sequence.is_ghost));
        }
    }

    /// Gives a request that has ended unseen the place of its last token, which is computed for nothing.
    pub(super) fn place_last_token(&mut self, seat: Seat) {
        if self.look(seat).computed >= self.look(seat).length() {
            return;
        }
        let pages = self.growth(seat, 0);
        self.cache.take(pages);
        let sequence = self.sequence(seat);
        sequence.lease.pages += pages;
        sequence.computed += 1;
    }

    /// Forgets what the unseen forward produced for a request that is retracted.
    pub(super) fn discard(&mut self, seat: Seat) {
        let Some(flight) = self.host.as_mut().and_then(|host| host.flight.as_mut()) else { return };
        let before = flight.emitting.len();
        flight.emitting.retain(|other| *other != seat);
        flight.commits.retain(|(other, _)| *other != seat);
        let dropped = (before - flight.emitting.len()) as u64;
        self.sequence(seat).generated -= dropped;
    }

    /// Sends the forward of the formed pass behind the one before it, whose tokens are seen at the end of the pass.
    pub(super) fn observe(&mut self, has_batch: bool) {
        let Some(mut host) = self.host.take() else { return };
        let (now, end) = (self.pass.formed.start, self.pass.formed.end);
        let seen = host.flight.take();
        self.pass.formed.end = seen.as_ref().map_or(now, |seen| now.max(seen.ends));
        let seen = seen.unwrap_or_default();
        let pass = &mut self.pass;
        let made = Flight {
            ends: now,
            emitting: std::mem::replace(&mut pass.emitting, seen.emitting),
            silent: std::mem::replace(&mut pass.silent, seen.silent),
            finishing: std::mem::replace(&mut pass.finishing, seen.finishing),
            commits: std::mem::take(&mut host.commits),
        };
        if has_batch {
            let takes = SimDuration::from_ms(end.ms_since(now)).unwrap_or(SimDuration::ZERO);
            host.free_at = host.free_at.max(now) + takes;
            host.flight = Some(Flight { ends: host.free_at, ..made });
        }
        self.host = Some(host);
        let formed = &mut self.pass.formed;
        formed.repeats = false;
        formed.changes |= formed.decode.requests > 0
            || !self.pass.emitting.is_empty()
            || !self.pass.silent.is_empty();
        self.settle_seen(&seen.commits);
    }

    /// Caches what the seen forward computed, and lets go of the requests that ended in it.
    fn settle_seen(&mut self, commits: &[(Seat, u64)]) {
        for (seat, computed) in commits {
            let sequence = self.look(*seat);
            let is_away = self.config.role == WorkerRole::Prefill && sequence.is_ghost;
            if !is_away {
                self.publish(*seat, (*computed).min(sequence.computed));
            }
        }
        let ended: Vec<Seat> =
            self.pass.silent.iter().chain(&self.pass.finishing).copied().collect();
        if self.config.role == WorkerRole::Prefill {
            for seat in ended {
                self.hold(seat);
            }
            return;
        }
        for seat in std::mem::take(&mut self.running) {
            if ended.contains(&seat) {
                self.finish(seat);
            } else {
                self.running.push(seat);
            }
        }
    }
}
