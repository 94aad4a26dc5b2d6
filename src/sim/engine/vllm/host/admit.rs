//! Admission with a host tier: deferred requests first, and a request whose prefix must be loaded leaves the line.

use crate::record::Refusal;
use crate::units::SimTime;

use super::super::form::Prompts;
use super::super::lookup::Hit;
use super::super::rank::{Rank, Seat};
use super::load::{Found, Started};

/// Whether the loop over waiting requests goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoesOn,
    Ends,
}

impl Rank {
    /// Admits waiting requests in order until one does not fit; those that wait for a copy are passed over.
    ///
    /// Each lookup makes the prompt's blocks the newest of the tier, so nothing is looked up once the budget is spent.
    pub(in super::super) fn admit_hosted(
        &mut self,
        now: SimTime,
        prompts: Prompts,
        budget: &mut u64,
    ) {
        while (self.running.len() as u64) < self.config.max_running
            && *budget > 0
            && self.pass.formed.preempted.is_empty()
        {
            let Some(seat) = self.next_in_line() else { break };
            if self.try_admit(seat, now, prompts, budget) == Next::Ends {
                break;
            }
        }
    }

    /// Returns the request to try next: the first deferred one that is awake, else the first that waits.
    ///
    /// With a storage tier, one whose load has its blocks goes before all: a restored one might need those it gives back.
    fn next_in_line(&self) -> Option<Seat> {
        let host = self.host.as_deref()?;
        let mut awake = host.line.iter().copied().filter(|seat| !self.is_asleep(*seat));
        let has_blocks = |seat: &Seat| {
            self.look(*seat).host.as_deref().is_some_and(|hosted| hosted.reserved() > 0)
        };
        let owner = host.storage.is_some().then(|| awake.clone().find(has_blocks)).flatten();
        owner.or_else(|| awake.next()).or_else(|| self.waiting.front().copied())
    }

    /// Tries one request.
    fn try_admit(&mut self, seat: Seat, now: SimTime, prompts: Prompts, budget: &mut u64) -> Next {
        if let Some(refusal) = self.exceeds_context(self.look(seat)) {
            return self.refuse(seat, refusal);
        }
        let resident = self.resident_or_loaded(seat);
        let found = match self.find_in_host(seat, resident.blocks, now) {
            Found::Later => return self.defer(seat),
            Found::Nothing => None,
            Found::Blocks(blocks) => Some(blocks),
        };
        if let Some(refusal) = self.exceeds_pool(self.look(seat)) {
            return self.refuse(seat, refusal);
        }
        let hit = self.capped(seat, resident);
        let reserved = self.hosted(seat).reserved();
        let sequence = self.look(seat);
        let needed = self.blocks_for(sequence.length()).saturating_sub(hit.held.max(reserved));
        let promised = if found.is_some() { self.reserved_for_prompts() } else { 0 };
        if needed > self.pool.available().saturating_sub(promised) {
            return Next::Ends;
        }
        if let Some(found) = found {
            return match self.start_load(seat, resident.blocks, found, now) {
                Started::Queued | Started::Later => self.defer(seat),
                Started::NoRoom => Next::Ends,
            };
        }
        let length = self.look(seat).length();
        let uncached = length - hit.tokens(self.config.block_size);
        if prompts == Prompts::Deferred && uncached > 1 {
            return Next::Ends;
        }
        match self.admit_head(seat, hit, now, budget) {
            Some(0) if *budget == 0 => Next::Ends,
            Some(_) => Next::GoesOn,
            None => Next::Ends,
        }
    }

    /// Returns the blocks of a request's prefix that are on the GPU; those of a load that has ended, no more.
    fn resident_or_loaded(&mut self, seat: Seat) -> Hit {
        match self.hosted(seat).loaded() {
            Some(prefix) => Hit { blocks: prefix.blocks, held: prefix.blocks, part: 0 },
            None => self.cached_prefix(seat),
        }
    }

    /// Refuses a request.
    fn refuse(&mut self, seat: Seat, refusal: Refusal) -> Next {
        self.leave_line(seat);
        let request = self.look(seat).ticket.request;
        if let Some(storage) = self.host.as_deref_mut().and_then(|host| host.storage.as_mut()) {
            storage.forget(request);
        }
        self.pass.rejected.push((seat, refusal));
        Next::GoesOn
    }

    /// Puts a request to sleep in the connector's line, at its end unless it stands there already.
    fn defer(&mut self, seat: Seat) -> Next {
        if !self.hosted(seat).is_deferred {
            self.leave_line(seat);
            self.hosted(seat).is_deferred = true;
            if let Some(host) = self.host.as_deref_mut() {
                host.line.push_back(seat);
            }
        }
        self.hosted(seat).is_asleep = true;
        Next::GoesOn
    }

    /// Takes a request out of the line it stands in.
    pub(in super::super) fn leave_line(&mut self, seat: Seat) {
        let is_deferred = self.sequence(seat).host.as_deref_mut().is_some_and(|hosted| {
            hosted.is_asleep = false;
            std::mem::take(&mut hosted.is_deferred)
        });
        match self.host.as_deref_mut().filter(|_| is_deferred) {
            Some(host) => host.line.retain(|other| *other != seat),
            // A request that its own admission preempted may stand before it.
            None if self.waiting.front() == Some(&seat) => {
                self.waiting.pop_front();
            }
            None => self.waiting.retain(|other| *other != seat),
        }
    }
}
