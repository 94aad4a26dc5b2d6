//! Prompts that one rank computes and another decodes.
//!
//! A prefill rank keeps the blocks of a computed prompt until they are copied. A decode rank accepts requests in order and sets
//! blocks apart for one at a time: the first that waits for room keeps all others from it, and from any admission that needs KV.
//! Source: spec/SIMULATION.md §5.

use std::collections::{BTreeMap, VecDeque};

use crate::record::Admission;
use crate::sim::engine::{Admitted, Arrival, End, Reserved, Served};
use crate::sim::kv::Copy;
use crate::units::{SimTime, Tokens};

use super::rank::{Policy, Rank, Seat};
use super::sequence::{Phase, Sequence};

/// Prompts that a prefill rank computed and keeps, by request.
#[derive(Debug, Default)]
pub(super) struct Sources {
    held: BTreeMap<u64, Vec<Copy>>,
}

/// Requests that a decode rank accepted and whose prompts are not there yet.
#[derive(Debug, Default)]
pub(super) struct Destinations {
    /// Without room, in order of acceptance.
    pending: VecDeque<Pending>,
    /// With room, by request.
    reserved: BTreeMap<u64, Destination>,
    /// How often room may have become free.
    room: u64,
    /// How many were accepted.
    accepted: u64,
}

/// A request without room.
#[derive(Debug)]
struct Pending {
    sequence: Sequence,
    /// `room` when it last was tried.
    tried: Option<u64>,
}

/// A request with room.
#[derive(Debug)]
struct Destination {
    sequence: Sequence,
    /// How many of its blocks were resident.
    resident: usize,
}

impl Destinations {
    /// Returns how many requests lack room.
    pub(super) fn without_room(&self) -> usize {
        self.pending.len()
    }

    /// Notes that a request left or gave up its blocks.
    pub(super) fn note_room(&mut self) {
        self.room += 1;
    }

    /// Returns the first request that waits for room.
    pub(super) fn first_without_room(&self) -> Option<&Sequence> {
        self.pending.front().map(|pending| &pending.sequence)
    }

    /// Takes every request out: first those with room, by number, then the others in order.
    pub(super) fn take_all(&mut self) -> Vec<Sequence> {
        let reserved = std::mem::take(&mut self.reserved).into_values();
        let pending = std::mem::take(&mut self.pending).into_iter();
        reserved.map(|one| one.sequence).chain(pending.map(|one| one.sequence)).collect()
    }
}

impl Rank {
    /// Keeps the blocks of a request that leaves.
    pub(super) fn hold_blocks(&mut self, seat: Seat) {
        let sequence = self.sequence(seat);
        let (request, blocks) = (sequence.ticket.request, std::mem::take(&mut sequence.blocks));
        self.sources.held.insert(request, blocks);
    }

    /// Gives up the blocks of a prompt, tail first.
    pub(crate) fn release_source(&mut self, request: u64) {
        let blocks = self.sources.held.remove(&request).unwrap_or_default();
        for block in blocks.iter().rev() {
            self.pool.release(*block);
        }
        self.head_blocked = false;
        self.destinations.note_room();
    }

    /// Puts a request at the end of those that wait for room.
    ///
    /// # Errors
    /// The request, where its prompt reaches the context limit or exceeds the KV pool.
    pub(crate) fn accept(&mut self, arrival: Arrival) -> Result<(), Box<Served>> {
        let mut sequence = self.sequence_of(arrival);
        self.destinations.accepted += 1;
        sequence.accepted = self.destinations.accepted;
        let refusal = self.exceeds_context(&sequence).or_else(|| self.exceeds_pool(&sequence));
        if let Some(refusal) = refusal {
            return Err(Box::new(sequence.into_served(Some(End::Failed(refusal)))));
        }
        self.destinations.pending.push_back(Pending { sequence, tried: None });
        Ok(())
    }

    /// Sets blocks apart for the first request that waits for room, unless nothing has become free since it last was tried.
    pub(crate) fn reserve_next(&mut self) -> Option<Reserved> {
        let room = self.destinations.room;
        let head = self.destinations.pending.front_mut()?;
        let is_full = self.running.len() as u64 >= self.config.max_running;
        if head.tried.replace(room) == Some(room) || is_full {
            return None;
        }
        let mut pending = self.destinations.pending.pop_front()?;
        let Some(resident) = self.take_prompt_blocks(&mut pending.sequence) else {
            self.destinations.pending.push_front(pending);
            return None;
        };
        let sequence = pending.sequence;
        let request = sequence.ticket.request;
        let fresh = (sequence.blocks.len() - resident) as u64;
        self.destinations.reserved.insert(request, Destination { sequence, resident });
        Some(Reserved { request, missing: fresh * u64::from(self.config.block_size) })
    }

    /// Takes the blocks of a prompt and returns how many of them were resident, or takes none where there is no room.
    fn take_prompt_blocks(&mut self, sequence: &mut Sequence) -> Option<usize> {
        let needed = self.blocks_for(sequence.prompt);
        let resident = match self.config.policy {
            Policy::Optimistic => self.resident_prefix(sequence),
            Policy::GuaranteedNoEvict => {
                let whole = self.blocks_for(sequence.prompt + sequence.output);
                if whole > self.unpromised() {
                    return None;
                }
                Vec::new()
            }
        };
        let unused = resident.iter().filter(|(_, is_held)| !is_held).count() as u64;
        let fresh = needed - resident.len() as u64;
        if fresh > self.pool.available() - unused {
            return None;
        }
        for (copy, _) in &resident {
            self.pool.pin(*copy);
            sequence.blocks.push(*copy);
        }
        for _ in 0..fresh {
            sequence.blocks.push(self.pool.take().expect("the blocks were counted"));
        }
        Some(resident.len())
    }

    /// Returns the resident blocks with which a prompt begins, and whether a request holds each.
    fn resident_prefix(&self, sequence: &mut Sequence) -> Vec<(Copy, bool)> {
        let mut resident = Vec::new();
        if !self.config.prefix_caching {
            return resident;
        }
        let block_size = self.config.block_size;
        let whole = usize::try_from(sequence.prompt / u64::from(block_size)).unwrap_or(0);
        for index in 0..whole {
            let Some(found) = self.pool.find(sequence.identity(index, block_size)) else { break };
            resident.push(found);
        }
        resident
    }

    /// Returns the blocks that nobody holds and nobody was promised: running requests, requests with room, and those that wait for
    /// their first decode will need theirs to the end.
    fn unpromised(&self) -> u64 {
        let handed_over =
            self.waiting.iter().filter(|seat| self.look(**seat).phase == Phase::HandedOver);
        let seated = self.running.iter().chain(handed_over).map(|seat| self.promised(*seat));
        let reserved = self.destinations.reserved.values().map(|one| self.tail(&one.sequence));
        self.pool.available().saturating_sub(seated.chain(reserved).sum())
    }

    /// Returns the blocks that a request needs to its end and does not hold.
    fn tail(&self, sequence: &Sequence) -> u64 {
        let whole = self.blocks_for(sequence.prompt + sequence.output);
        whole.saturating_sub(sequence.blocks.len() as u64)
    }

    /// Lets a request whose prompt has arrived wait, before every one accepted later; its blocks can be hit from here on.
    pub(crate) fn activate(&mut self, request: u64) {
        let destination = self.destinations.reserved.remove(&request);
        let Destination { mut sequence, resident } =
            destination.expect("a prompt arrives where room was set apart");
        if self.config.prefix_caching {
            let block_size = self.config.block_size;
            let whole = usize::try_from(sequence.prompt / u64::from(block_size)).unwrap_or(0);
            for index in resident..whole {
                let identity = sequence.identity(index, block_size);
                self.pool.publish(sequence.blocks[index], identity);
            }
        }
        sequence.computed = sequence.prompt;
        sequence.phase = Phase::HandedOver;
        let accepted = sequence.accepted;
        let seat = self.seat(sequence);
        let later = self.waiting.iter().position(|other| self.look(*other).accepted > accepted);
        self.waiting.insert(later.unwrap_or(self.waiting.len()), seat);
    }

    /// Returns whom to admit next: the head of the line, or the first accepted of those with their prompt in place while another
    /// waits for room.
    pub(super) fn next_waiting(&self) -> Option<Seat> {
        if self.destinations.pending.is_empty() {
            return self.waiting.front().copied();
        }
        let handed_over =
            self.waiting.iter().filter(|seat| self.look(**seat).phase == Phase::HandedOver);
        handed_over.min_by_key(|seat| self.look(**seat).accepted).copied()
    }

    /// Admits a request whose prompt is in place: it computes nothing and produces its first token in this pass.
    pub(super) fn admit_handed_over(&mut self, seat: Seat, now: SimTime) {
        if self.waiting.front() == Some(&seat) {
            self.waiting.pop_front();
        } else {
            self.waiting.retain(|other| *other != seat);
        }
        self.running.push(seat);
        let order = self.next_order;
        self.next_order += 1;
        let sequence = self.sequence(seat);
        sequence.phase = Phase::Filling;
        sequence.order = order;
        sequence.admissions.push(Admission { at: now, reused: Tokens::ZERO, from_host: None });
        let (request, prompt, held) =
            (sequence.ticket.request, sequence.prompt, sequence.blocks.len() as u64);
        self.pass.formed.admitted.push(Admitted { request, reused: 0, computes: 0 });
        self.compute(seat, prompt, 0, held);
    }

    /// Returns the blocks of prompts that are kept for others and of those that others compute.
    #[cfg(test)]
    pub(super) fn held_for_others(&self) -> impl Iterator<Item = &[Copy]> {
        let destinations = self.destinations.reserved.values().map(|one| &*one.sequence.blocks);
        self.sources.held.values().map(|blocks| &**blocks).chain(destinations)
    }

    /// Returns the prompt of the first request that waits for room, where no other is on its way: its activation is the next occasion.
    #[cfg(test)]
    pub(super) fn first_pending(&self) -> Option<u64> {
        let is_next = self.destinations.reserved.is_empty();
        self.destinations.pending.front().filter(|_| is_next).map(|one| one.sequence.prompt)
    }

    /// Returns the requests at each station of a hand-off.
    #[cfg(test)]
    pub(crate) fn stations(&self) -> crate::sim::engine::Stations {
        let request = |sequence: &Sequence| sequence.ticket.request;
        crate::sim::engine::Stations {
            held: self.sources.held.keys().copied().collect(),
            pending: self.destinations.pending.iter().map(|one| request(&one.sequence)).collect(),
            reserved: self.destinations.reserved.keys().copied().collect(),
        }
    }

    /// Returns whether the rank has nothing at all.
    pub(crate) fn is_drained(&self) -> bool {
        !self.has_work()
            && self.has_idle_host()
            && self.sources.held.is_empty()
            && self.destinations.pending.is_empty()
            && self.destinations.reserved.is_empty()
    }
}
