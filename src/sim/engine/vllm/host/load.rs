//! Loads: blocks of the host tier become a waiting request's prefix on the GPU.

use std::collections::BTreeSet;

use crate::sim::kv::Copy;
use crate::sim::kv::host::{CopyId, HostKey, Presence};
use crate::units::SimTime;

use super::super::rank::{Rank, Seat};
use super::request::{Load, Loading, Prefix};
use super::storage::Asked;

/// What the tier has of a prompt, behind what the GPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing that is of use now.
    Nothing,
    /// So many blocks that follow.
    Blocks(usize),
    /// Something that is still being copied: the request waits.
    Later,
}

/// What became of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Started {
    /// It is in flight.
    Queued,
    /// Another request loads one of the blocks.
    Later,
    /// The GPU lacks blocks.
    NoRoom,
}

impl Rank {
    /// Looks up what the tier has of a prompt behind its first `resident` blocks.
    pub(super) fn find_in_host(&mut self, seat: Seat, resident: u64, now: SimTime) -> Found {
        let hosted = self.look(seat).host.as_deref().expect("every request of a rank with a host");
        match &hosted.load {
            Some(Load::Loaded(_)) => return Found::Nothing,
            Some(Load::Loading(_)) => return Found::Later,
            None => {}
        }
        let host = self.host.as_deref().expect("the rank has a host");
        if hosted.last_store.is_some_and(|store| host.tier.borrow().is_copying(store)) {
            return Found::Later;
        }
        let resident = usize::try_from(resident).unwrap_or(usize::MAX).min(hosted.keys.len());
        self.hosted(seat).last_store = None;
        let found = if self.restores(seat, resident, now) {
            Found::Later
        } else {
            self.find_resident(seat, resident)
        };
        self.touch_prompt(seat);
        found
    }

    /// Restores what the storage tier has of a prompt behind its first `resident` blocks; returns whether the request has
    /// something to wait for.
    fn restores(&mut self, seat: Seat, resident: usize, now: SimTime) -> bool {
        let request = self.look(seat).ticket.request;
        let host = self.host.as_deref_mut().expect("the rank has a host");
        let Some(storage) = &mut host.storage else { return false };
        let hosted = self.seats.find_mut(seat).and_then(|seated| seated.host.as_deref_mut());
        let hosted = hosted.expect("every request of a rank with a host");
        if resident >= hosted.keys.len() {
            storage.forget(request);
            return false;
        }
        let keys = &hosted.keys[resident..];
        let asked = Asked { client: host.client, owner: request, keys };
        !hosted.rounds.is_bypassed()
            && storage.restore(&mut host.tier.borrow_mut(), asked, &mut hosted.rounds, now)
    }

    /// Returns the blocks that the host tier has behind the first `resident`.
    fn find_resident(&self, seat: Seat, resident: usize) -> Found {
        let host = self.host.as_deref().expect("the rank has a host");
        let hosted = self.look(seat).host.as_deref().expect("every request of a rank with a host");
        let tier = host.tier.borrow();
        let (mut blocks, mut is_later) = (0, false);
        for key in &hosted.keys[resident..] {
            match tier.presence(*key) {
                Presence::Missing => break,
                Presence::Pending => is_later = true,
                Presence::Resident => is_later |= host.loading.contains_key(key),
            }
            blocks += 1;
        }
        match (blocks, is_later) {
            (0, _) => Found::Nothing,
            (_, true) => Found::Later,
            (blocks, false) => Found::Blocks(blocks),
        }
    }

    /// Reserves GPU blocks for the first `resident + found` blocks of a prompt and starts to load the latter.
    pub(super) fn start_load(
        &mut self,
        seat: Seat,
        resident: u64,
        found: usize,
        now: SimTime,
    ) -> Started {
        let first = usize::try_from(resident).unwrap_or(usize::MAX);
        let keys: Vec<HostKey> = self.hosted(seat).keys[first..first + found].to_vec();
        let host = self.host.as_deref().expect("the rank has a host");
        if keys.iter().any(|key| host.loading.contains_key(key)) {
            return Started::Later;
        }
        let Some(blocks) = self.reserve(seat, first, found) else { return Started::NoRoom };
        let (request, length) = (self.look(seat).ticket.request, self.look(seat).length());
        let footprint = self.blocks_for(length);
        let host = self.host.as_deref_mut().expect("the rank has a host");
        let mut tier = host.tier.borrow_mut();
        let fresh = &blocks[first..];
        let readers = fresh.iter().filter_map(|block| self.pool.reader(*block));
        let fence = readers.filter_map(|reader| tier.end_of(CopyId(reader))).max();
        let not_before = fence.map_or(now, |fence| fence.max(now));
        let copy = tier.load((host.client, seat.0), &keys, now, not_before);
        drop(tier);
        host.loading.extend(keys.iter().map(|key| (*key, copy)));
        host.load_epoch += 1;
        if let Some(storage) = &mut host.storage {
            storage.forget(request);
        }
        let prefix = Prefix { resident, blocks: resident + found as u64, footprint };
        self.hosted(seat).load = Some(Load::Loading(Loading { copy, blocks, prefix }));
        Started::Queued
    }

    /// Reserves the GPU blocks of a load: all, or none.
    fn reserve(&mut self, seat: Seat, resident: usize, found: usize) -> Option<Vec<Copy>> {
        let block_size = self.config.block_size;
        let mut blocks = Vec::with_capacity(resident + found);
        let mut idle = BTreeSet::new();
        for index in 0..resident {
            let identity = self.sequence(seat).identity(index, block_size);
            let (copy, is_held) = self.pool.find(identity).expect("the lookup found it resident");
            if !is_held {
                idle.insert(index);
            }
            blocks.push(copy);
        }
        if self.pool.available() < (idle.len() + found) as u64 {
            return None;
        }
        for block in &blocks {
            self.pool.pin(*block);
        }
        blocks.extend(self.pool.take_in_order(found as u64));
        Some(blocks)
    }

    /// Gives a request the blocks that its load has filled.
    pub(super) fn take_loaded(&mut self, seat: Seat, id: CopyId) {
        let block_size = self.config.block_size;
        let load = self.hosted(seat).load.take();
        let Some(Load::Loading(loading)) = load else { panic!("bug: a load without a request") };
        assert_eq!(loading.copy, id, "bug: a request has one load");
        let first = usize::try_from(loading.prefix.resident).unwrap_or(usize::MAX);
        for (index, block) in loading.blocks.iter().enumerate().skip(first) {
            let identity = self.sequence(seat).identity(index, block_size);
            self.pool.publish(*block, identity);
        }
        self.sequence(seat).blocks = loading.blocks;
        self.hosted(seat).load = Some(Load::Loaded(loading.prefix));
    }

    /// Returns the blocks that running prompts and loads will still need: an admission that loads leaves them alone.
    pub(super) fn reserved_for_prompts(&self) -> u64 {
        let unfinished = |seat: &Seat| {
            let sequence = self.look(*seat);
            if sequence.has_computed_prompt() {
                return 0;
            }
            let known = self.blocks_for(sequence.length());
            known.saturating_sub(sequence.blocks.len() as u64)
        };
        let running: u64 = self.running.iter().map(unfinished).sum();
        let tails = self.seats.iter().filter_map(|sequence| sequence.host.as_deref());
        running + tails.map(super::HostRequest::tail).sum::<u64>()
    }

    /// Notes an admission that reuses `reused` blocks, and returns how many of them the host tier gave; `None` for a
    /// readmission.
    pub(in super::super) fn attribute(&mut self, seat: Seat, reused: u64) -> Option<u64> {
        let hosted = self.sequence(seat).host.as_deref_mut()?;
        hosted.rounds.reset();
        let from_host = match hosted.load.take() {
            Some(Load::Loaded(prefix)) => {
                hosted.next_store = usize::try_from(reused).unwrap_or(usize::MAX);
                reused.saturating_sub(prefix.resident)
            }
            Some(Load::Loading(_)) => panic!("bug: a loading request is admitted"),
            None => 0,
        };
        (!std::mem::replace(&mut hosted.is_attributed, true)).then_some(from_host)
    }
}
