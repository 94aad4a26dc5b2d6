//! Which prompts a pass computes.

use crate::record::Admission;
use crate::sim::engine::Admitted;
use crate::units::{SimTime, Tokens};

use super::pass::Chunk;
use super::rank::Rank;
use super::sequence::Seat;

/// What is left of a pass.
#[derive(Debug)]
struct Room {
    /// Tokens of memory, less what is set aside for output.
    memory: f64,
    /// Prompt tokens of the pass.
    input: u64,
    /// Tokens of a chunk.
    chunk: u64,
}

/// What the head of the waiting line would do in the pass.
#[derive(Debug, Clone, Copy)]
struct Plan {
    start: u64,
    tokens: u64,
    /// What it takes of the pass: its tokens in whole pages.
    charge: u64,
    /// What is set aside for its output.
    reserve: u64,
}

impl Rank {
    /// Fills a prefill pass from the head of the waiting line, until one does not fit.
    pub(super) fn admit(&mut self, now: SimTime) {
        let slots = self.config.max_running.saturating_sub(self.running.len() as u64);
        if self.waiting.is_empty() || slots == 0 {
            return;
        }
        let mut room = self.room();
        while (self.pass.chunks.len() as u64) < slots {
            let Some(seat) = self.waiting.front().copied() else { break };
            let Some(plan) = self.plan(seat, &room) else { break };
            if !self.serve(seat, plan, now) {
                break;
            }
            self.waiting.pop_front();
            room.memory -= real(plan.charge + plan.reserve);
            room.input -= plan.charge;
            room.chunk = room.chunk.saturating_sub(plan.charge);
            if room.chunk == 0 {
                break;
            }
        }
    }

    /// Returns what a pass may take.
    fn room(&self) -> Room {
        let promised: f64 = self
            .running
            .iter()
            .map(|seat| real(self.remaining(*seat).min(self.config.clip)) * self.ratio)
            .sum();
        let reachable = self.cache.reachable() * u64::from(self.config.page);
        Room {
            memory: real(reachable) - promised,
            input: self.config.max_prefill_tokens,
            chunk: self.config.chunk,
        }
    }

    /// Returns what the head would do in the pass, or `None` where it does not fit.
    fn plan(&self, seat: Seat, room: &Room) -> Option<Plan> {
        let sequence = self.look(seat);
        let length = sequence.length();
        let start = if sequence.computed > 0 {
            sequence.computed
        } else {
            // Something is left to compute where a token is to come of it.
            self.cached_tokens(seat, length.saturating_sub(u64::from(sequence.output > 0)))
        };
        let extend = length - start;
        if extend == 0 && sequence.computed > 0 {
            return None;
        }
        let tokens = if self.whole_pages(extend) <= room.chunk {
            extend
        } else {
            let chunk = self.config.full_pages(room.chunk) * u64::from(self.config.page);
            if chunk == 0 {
                return None;
            }
            chunk.min(extend)
        };
        let charge = self.whole_pages(tokens);
        let reserve = if tokens < extend { 0 } else { sequence.remaining().min(self.config.clip) };
        let fits =
            real(charge + reserve) < room.memory && charge <= room.input && charge <= room.chunk;
        fits.then_some(Plan { start, tokens, charge, reserve })
    }

    /// Returns the tokens of the pages that hold `tokens` tokens.
    fn whole_pages(&self, tokens: u64) -> u64 {
        self.config.pages_for(tokens) * u64::from(self.config.page)
    }

    /// Lets the head compute what was planned; returns whether there was memory for it.
    fn serve(&mut self, seat: Seat, plan: Plan, now: SimTime) -> bool {
        let end = plan.start + plan.tokens;
        let is_first = self.look(seat).computed == 0;
        let has_room =
            if is_first { self.acquire(seat, plan.start, end) } else { self.grow(seat, end) };
        if !has_room {
            return false;
        }
        let sequence = self.sequence(seat);
        sequence.computed = end;
        let request = sequence.ticket.request;
        if is_first {
            let reused = Tokens::new(plan.start);
            sequence.admissions.push(Admission { at: now, reused, from_host: None });
            let admitted = Admitted { request, reused: plan.start, computes: plan.tokens };
            self.pass.formed.admitted.push(admitted);
        }
        self.pass.chunks.push(Chunk { seat, before: plan.start, tokens: plan.tokens });
        self.pass.computes += plan.tokens;
        true
    }
}

/// Returns a count of tokens as a real number.
#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
pub(super) fn real(tokens: u64) -> f64 {
    tokens as f64
}
