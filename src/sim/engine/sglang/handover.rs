//! Prompts that one rank computes and another decodes.
//!
//! A decode rank sets pages apart before the prompt is computed: for one request at a time, in order of acceptance. While one waits
//! for room, or has arrived and finds no place among the running ones, no prompt is computed anew.
//! Source: spec/SIMULATION.md §5, §15.

use std::collections::{BTreeMap, VecDeque};

use crate::plan::Compat;
use crate::record::{Admission, Refusal, Rule};
use crate::sim::engine::{Admitted, Arrival, End, Reserved, Served, Visible};
use crate::sim::kv::NodeId;
use crate::units::{Blocks, SimTime, Tokens};

use super::rank::Rank;
use super::sequence::{Lease, Seat, Sequence};

/// Prompts that a prefill rank computed and keeps, by request: what it would be if it were still seated.
#[derive(Debug, Default)]
pub(super) struct Sources {
    held: BTreeMap<u64, Seat>,
}

/// Requests that a decode rank accepted and whose prompts are not there yet.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    /// Without room, in order of acceptance, each with `room` when it last was tried.
    pending: VecDeque<(Sequence, Option<u64>)>,
    /// With room, by request.
    reserved: BTreeMap<u64, Sequence>,
    /// How often room may have become free.
    room: u64,
}

impl Destinations {
    /// Returns how many requests lack room.
    pub(super) fn without_room(&self) -> usize {
        self.pending.len()
    }

    /// Notes that room may have become free.
    pub(super) fn note_room(&mut self) {
        self.room += 1;
    }

    /// Returns the first request that waits for room.
    pub(super) fn first_without_room(&self) -> Option<&Sequence> {
        self.pending.front().map(|(sequence, _)| sequence)
    }

    /// Takes every request out: first those with room, by number, then the others in order.
    pub(super) fn take_all(&mut self) -> Vec<Sequence> {
        let reserved = std::mem::take(&mut self.reserved).into_values();
        let pending = std::mem::take(&mut self.pending).into_iter();
        reserved.chain(pending.map(|(sequence, _)| sequence)).collect()
    }
}

impl Rank {
    /// Keeps the pages of a prompt that is computed. From nightly 87 on its full pages are cached at once, before only when given up.
    pub(super) fn hold(&mut self, seat: Seat) {
        let computed = self.look(seat).computed;
        if self.config.compat != Compat::V0_13_0 {
            self.publish(seat, computed);
        }
        let sequence = self.sequence(seat);
        let request = sequence.ticket.request;
        let kept = Sequence {
            content: sequence.content.clone(),
            lease: std::mem::take(&mut sequence.lease),
            admissions: Vec::new(),
            visible: Visible::default(),
            ..*sequence
        };
        let kept = self.seat(kept);
        self.sources.held.insert(request, kept);
    }

    /// Gives up the pages of a prompt.
    pub(crate) fn release_source(&mut self, request: u64) {
        if let Some(seat) = self.sources.held.remove(&request) {
            self.finish(seat);
            self.vacate(seat);
        }
    }

    /// Forgets the prompts that are kept: their requests are elsewhere.
    pub(super) fn forget_sources(&mut self) {
        for seat in std::mem::take(&mut self.sources.held).into_values() {
            self.vacate(seat);
        }
    }

    /// Puts a request at the end of those that wait for room.
    ///
    /// # Errors
    /// The request, where its prompt reaches the context limit or exceeds the KV pool.
    pub(crate) fn accept(&mut self, arrival: Arrival) -> Result<(), Box<Served>> {
        let sequence = self.sequence_of(arrival);
        let refusal = self.overlong(&sequence).or_else(|| self.too_large(&sequence));
        if let Some(refusal) = refusal {
            return Err(Box::new(sequence.into_served(Some(End::Failed(refusal)))));
        }
        self.destinations.pending.push_back((sequence, None));
        Ok(())
    }

    /// Returns why a request is refused whose prompt needs more pages than there are.
    fn too_large(&self, sequence: &Sequence) -> Option<Refusal> {
        let (needed, all) = (self.config.pages_for(sequence.prompt), self.config.pages);
        let rule = Rule::KvBlocks { needed: Blocks::new(needed), capacity: Blocks::new(all) };
        (needed > all).then_some(Refusal { role: self.config.role, rule })
    }

    /// Sets pages apart for the first request that waits for room, unless nothing has become free since it last was tried.
    pub(crate) fn reserve_next(&mut self) -> Option<Reserved> {
        let room = self.destinations.room;
        let (_, tried) = self.destinations.pending.front_mut()?;
        if tried.replace(room) == Some(room) {
            return None;
        }
        let (mut sequence, tried) = self.destinations.pending.pop_front()?;
        let full = self.config.full_pages(sequence.prompt);
        let (found, node) = if self.config.prefix_caching {
            self.cache.lock_prefix(&sequence.content, full)
        } else {
            (0, NodeId::ROOT)
        };
        let pages = self.config.pages_for(sequence.prompt);
        if !self.take_pages(pages - found) {
            self.cache.unlock(node);
            self.destinations.pending.push_front((sequence, tried));
            return None;
        }
        sequence.lease = Lease { pages, cached: found, node: Some(node) };
        sequence.computed = sequence.prompt;
        let request = sequence.ticket.request;
        self.destinations.reserved.insert(request, sequence);
        Some(Reserved { request, missing: (pages - found) * u64::from(self.config.page) })
    }

    /// Lets a request whose prompt has arrived wait for a place among the running ones. In 0.13.0 its prompt is cached from here on.
    pub(crate) fn activate(&mut self, request: u64) {
        let sequence = self.destinations.reserved.remove(&request);
        let sequence = sequence.expect("a prompt arrives where room was set apart");
        let prompt = sequence.prompt;
        let seat = self.seat(sequence);
        if self.config.compat == Compat::V0_13_0 {
            let before = self.cache.free();
            self.publish(seat, prompt);
            if self.cache.free() > before {
                self.destinations.note_room();
            }
        }
        self.ready.push_back(seat);
    }

    /// Lets requests whose prompts have arrived run, while there are places; from nightly 87 on their prompts are cached then.
    pub(super) fn admit_handed_over(&mut self, now: SimTime) {
        while (self.running.len() as u64) < self.config.max_running {
            let Some(seat) = self.ready.pop_front() else { break };
            let cached = self.look(seat).lease.cached;
            self.publish(seat, self.look(seat).prompt);
            if self.look(seat).lease.cached > cached {
                self.destinations.note_room();
            }
            let sequence = self.sequence(seat);
            sequence.admissions.push(Admission { at: now, reused: Tokens::ZERO, from_host: None });
            let (request, is_done) = (sequence.ticket.request, sequence.remaining() == 0);
            self.pass.formed.admitted.push(Admitted { request, reused: 0, computes: 0 });
            self.running.push(seat);
            if is_done {
                self.done += 1;
            } else {
                self.join_group(seat);
            }
        }
    }

    /// Returns whether prompts may be computed: nobody who was handed over waits for a place or for room.
    pub(super) fn may_admit(&self) -> bool {
        self.ready.is_empty() && self.destinations.pending.is_empty()
    }

    /// Ends the running requests that have no token to come.
    pub(super) fn end_those_without_output(&mut self) {
        if self.done == 0 {
            return;
        }
        self.done = 0;
        for seat in std::mem::take(&mut self.running) {
            if self.remaining(seat) == 0 {
                self.pass.silent.push(seat);
            } else {
                self.running.push(seat);
            }
        }
    }

    /// Returns the prompt of the first request that waits for room, where no other is on its way: its activation is the next occasion.
    #[cfg(test)]
    pub(super) fn first_pending(&self) -> Option<u64> {
        let is_next = self.destinations.reserved.is_empty();
        self.destinations.pending.front().filter(|_| is_next).map(|(sequence, _)| sequence.prompt)
    }

    /// Returns the requests at each station of a hand-off.
    #[cfg(test)]
    pub(crate) fn stations(&self) -> crate::sim::engine::Stations {
        let request = |(sequence, _): &(Sequence, Option<u64>)| sequence.ticket.request;
        crate::sim::engine::Stations {
            held: self.sources.held.keys().copied().collect(),
            pending: self.destinations.pending.iter().map(request).collect(),
            reserved: self.destinations.reserved.keys().copied().collect(),
        }
    }

    /// Returns what requests with room hold.
    #[cfg(test)]
    pub(super) fn reserved_leases(&self) -> impl Iterator<Item = Lease> {
        self.destinations.reserved.values().map(|sequence| sequence.lease)
    }

    /// Returns whether the rank has nothing at all.
    pub(crate) fn is_drained(&self) -> bool {
        !self.has_work()
            && self.sources.held.is_empty()
            && self.destinations.pending.is_empty()
            && self.destinations.reserved.is_empty()
    }
}
