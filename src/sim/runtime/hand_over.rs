//! Prefill and decode apart: carries out the actions of hand-offs on the two pools.

use crate::deployment::WorkerRole;
use crate::record::RequestRecord;
use crate::sim::engine::{Arrival, Reserved, Served};
use crate::sim::error::SimError;
use crate::sim::handoff::{Action, Handoffs, Order};

use super::Runtime;

/// The prefill pool's place among the pools.
const PREFILL: usize = 0;
/// The decode pool's place.
const DECODE: usize = 1;

impl Runtime<'_> {
    /// Ends transfers that are due and carries out what waits; returns whether anything happened.
    pub(super) fn hand_over(&mut self) -> Result<bool, SimError> {
        let Some(handoffs) = &mut self.handoffs else { return Ok(false) };
        let mut changed = handoffs.end_transfers(self.now);
        if changed {
            self.probe_links();
        }
        while let Some((request, action)) = self.handoffs().pop() {
            changed |= self.carry_out(request, action)?;
        }
        Ok(changed)
    }

    /// Returns the hand-offs of a job with two pools.
    pub(super) fn handoffs(&mut self) -> &mut Handoffs {
        self.handoffs.as_mut().expect("only jobs with two pools hand over")
    }

    /// Carries out one action, or lets it wait; returns whether it was carried out.
    fn carry_out(&mut self, request: u64, action: Action) -> Result<bool, SimError> {
        let flow = self.handoffs().flow(request);
        let place = match action {
            Action::Submit | Action::Reserve | Action::Transfer => None,
            Action::Activate => flow.destination.map(|rank| (DECODE, rank)),
            Action::Release | Action::Abandon => flow.source.map(|rank| (PREFILL, rank)),
        };
        if let Some((pool, rank)) = place
            && self.pools[pool].is_busy(rank)
        {
            self.handoffs().wait_for((pool, rank), request, action);
            return Ok(false);
        }
        match action {
            Action::Submit => self.submit_prefill(request),
            Action::Reserve => self.reserve(request)?,
            Action::Transfer => {
                let now = self.now;
                self.handoffs().start_transfer(now, request);
                self.probe_links();
            }
            Action::Activate => self.activate(request),
            Action::Release | Action::Abandon => self.release_source(request, action)?,
        }
        Ok(true)
    }

    /// Places a request on a prefill rank, which computes its prompt and yields one token that nobody sees.
    fn submit_prefill(&mut self, request: u64) {
        let pool = &mut self.pools[PREFILL];
        let flow = self.handoffs.as_mut().expect("two pools").flow(request);
        let pinned = self.traffic.sessions().ranks(flow.ticket.turn);
        let rank = pool.place(pinned.prefill.or(pinned.serving));
        flow.source = Some(rank);
        let content = flow.content.take().expect("no rank has the prompt yet");
        let arrival = Arrival { ticket: flow.ticket, content, output: flow.output.min(1) };
        pool.rank(rank).submit(arrival);
        pool.wake(rank);
    }

    /// Notes that a prefill rank has computed a prompt and holds its KV.
    pub(super) fn hold(&mut self, rank: usize, served: Served) {
        let (now, request) = (self.now, served.ticket.request);
        self.log.handed_over("hold", self.pools[PREFILL].number(rank), now, request);
        let handoffs = self.handoffs();
        let next = handoffs.order().after_held();
        let flow = handoffs.flow(request);
        flow.hold(now, served.admissions);
        flow.content = Some(served.content);
        handoffs.push(request, next);
    }

    /// Places a request on a decode rank. One that the rank can never serve has failed.
    fn reserve(&mut self, request: u64) -> Result<(), SimError> {
        let pool = &mut self.pools[DECODE];
        let handoffs = self.handoffs.as_mut().expect("two pools");
        let order = handoffs.order();
        let flow = handoffs.flow(request);
        let rank = pool.place(self.traffic.sessions().ranks(flow.ticket.turn).serving);
        let content = flow.content.take().expect("no rank has the prompt now");
        if order == Order::DestinationFirst {
            flow.content = Some(content.clone());
        }
        let arrival = Arrival { ticket: flow.ticket, content, output: flow.output };
        match pool.rank(rank).accept(arrival) {
            Ok(()) => {
                flow.destination = Some(rank);
                if !pool.is_busy(rank) {
                    self.reserve_next(rank);
                }
            }
            Err(refused) => {
                if flow.source.is_some() {
                    self.handoffs().push(request, Action::Abandon);
                }
                self.end_request(DECODE, rank, *refused)?;
            }
        }
        Ok(())
    }

    /// Lets a decode rank set room apart for the request that waits for it; returns whether it did.
    pub(super) fn reserve_next(&mut self, rank: usize) -> bool {
        let reserved = self.pools[DECODE].rank(rank).reserve_next();
        if let Some(reserved) = reserved {
            self.note_reserved(rank, reserved);
        }
        reserved.is_some()
    }

    /// Lets the ranks of a decode worker whose pass did nothing set room apart; returns whether one did.
    ///
    /// A preempted request that waits behind one without room makes such passes: their end is an occasion as any other.
    pub(super) fn reserve_on_worker(&mut self, pool: usize, worker: usize) -> bool {
        if self.pools[pool].role() != WorkerRole::Decode {
            return false;
        }
        let ranks = self.pools[pool].workers().range(worker);
        ranks.filter(|rank| self.reserve_next(*rank)).count() > 0
    }

    /// Notes that a decode rank has set room apart.
    fn note_reserved(&mut self, rank: usize, reserved: Reserved) {
        let (now, request) = (self.now, reserved.request);
        self.log.handed_over("reserve", self.pools[DECODE].number(rank), now, request);
        let handoffs = self.handoffs();
        let next = handoffs.order().after_reserved();
        let flow = handoffs.flow(request);
        flow.times.reserved = Some(now);
        flow.missing = reserved.missing;
        handoffs.push(request, next);
    }

    /// Lets the decode rank of an idle worker take up a request whose prompt has arrived.
    fn activate(&mut self, request: u64) {
        let now = self.now;
        let flow = self.handoffs().flow(request);
        flow.times.activated = Some(now);
        let rank = flow.destination.expect("a prompt arrives at a rank");
        self.handoffs().push(request, Action::Release);
        self.log.handed_over("activate", self.pools[DECODE].number(rank), now, request);
        self.pools[DECODE].rank(rank).activate(request);
        self.pools[DECODE].wake(rank);
        self.reserve_next(rank);
    }

    /// Lets the prefill rank of an idle worker give up the KV of a prompt.
    fn release_source(&mut self, request: u64, action: Action) -> Result<(), SimError> {
        let now = self.now;
        let rank = self.handoffs().flow(request).source.expect("a rank computed the prompt");
        self.pools[PREFILL].release_source(rank, request);
        self.log.handed_over("release", self.pools[PREFILL].number(rank), now, request);
        let flow = self.handoffs().flow(request);
        if action == Action::Release {
            flow.times.released = Some(now);
        }
        if let Some(mut record) = flow.ended.take() {
            flow.complete(&mut record);
            self.handoffs().remove(request);
            self.keep(record)?;
        }
        Ok(())
    }

    /// Files the record of a request that ended; one whose prompt is still held waits for its release.
    ///
    /// # Errors
    /// [`SimError::Spill`] where it does not fit in memory and cannot be written.
    pub(super) fn file(&mut self, pool: usize, mut record: RequestRecord) -> Result<(), SimError> {
        let request = record.index;
        let Some(flow) = self.handoffs.as_mut().and_then(|handoffs| handoffs.find(request)) else {
            return self.keep(record);
        };
        if pool == PREFILL {
            flow.prefill_admissions = std::mem::take(&mut record.admissions);
        }
        let never_held = flow.times.held.is_none();
        if never_held || flow.is_released() {
            flow.complete(&mut record);
            self.handoffs().remove(request);
            self.keep(record)?;
        } else {
            flow.ended = Some(record);
        }
        Ok(())
    }
}
