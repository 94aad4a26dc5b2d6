//! All requests on their way.

use std::collections::BTreeMap;

use crate::record::LinkUse;
use crate::sim::link::Sharing;
use crate::sim::probe::{self, LinkState};
use crate::sim::ticket::Ticket;
use crate::units::{Nanos, SimTime, Tokens};
use crate::workload::Content;

use super::queue::Queue;
use super::transfers::Transfers;
use super::{Action, Flow, Order, Pricing};

/// All requests on their way from prefill to decode ranks, by number in the job.
#[derive(Debug)]
pub(crate) struct Handoffs {
    order: Order,
    flows: BTreeMap<u64, Flow>,
    /// The requests of transfers in flight, by place in the order of arrival.
    moving: BTreeMap<u64, u64>,
    queue: Queue,
    transfers: Transfers,
    arrived: u64,
}

impl Handoffs {
    /// Returns none.
    pub(crate) fn new(order: Order, pricing: Pricing) -> Self {
        Self {
            order,
            flows: BTreeMap::new(),
            moving: BTreeMap::new(),
            queue: Queue::default(),
            transfers: Transfers::new(pricing),
            arrived: 0,
        }
    }

    /// Takes a request that has arrived; its first action waits behind those that are due.
    pub(crate) fn arrive(&mut self, ticket: Ticket, content: Content, output: u64) {
        self.arrived += 1;
        let flow = Flow::new(self.arrived, ticket, content, output);
        self.flows.insert(ticket.request, flow);
        self.queue.push(ticket.request, self.order.first());
    }

    /// Returns which side is asked first.
    pub(crate) fn order(&self) -> Order {
        self.order
    }

    /// Returns a request.
    pub(crate) fn flow(&mut self, request: u64) -> &mut Flow {
        self.flows.get_mut(&request).expect("actions name requests on their way")
    }

    /// Returns a request that has arrived and neither ended nor given up its prompt, where it is one.
    pub(crate) fn find(&mut self, request: u64) -> Option<&mut Flow> {
        self.flows.get_mut(&request)
    }

    /// Forgets a request that has ended and whose prompt nobody holds.
    pub(crate) fn remove(&mut self, request: u64) -> Option<Flow> {
        self.flows.remove(&request)
    }

    /// Adds an action of a request.
    pub(crate) fn push(&mut self, request: u64, action: Action) {
        self.queue.push(request, action);
    }

    /// Takes the next action that is due.
    pub(crate) fn pop(&mut self) -> Option<(u64, Action)> {
        self.queue.pop()
    }

    /// Lets an action wait for the end of the pass of a rank's worker.
    pub(crate) fn wait_for(&mut self, place: (usize, usize), request: u64, action: Action) {
        self.queue.wait_for(place, request, action);
    }

    /// Notes the end of the pass of a rank's worker.
    pub(crate) fn wake(&mut self, place: (usize, usize)) {
        self.queue.wake(place);
    }

    /// Starts the transfer of a request's prompt; one that takes no time has ended.
    pub(crate) fn start_transfer(&mut self, now: SimTime, request: u64) {
        let pricing = *self.transfers.pricing();
        let flow = self.flow(request);
        flow.times.charged = Tokens::new(pricing.charged(flow.prompt, flow.missing));
        flow.times.transfer_began = Some(now);
        let alone_ms = pricing.alone_ms(flow.prompt, flow.missing);
        flow.times.link = (pricing.sharing == Sharing::MaxMin)
            .then(|| LinkUse { sending_ms: alone_ms, receiving_ms: alone_ms / pricing.receiving });
        let (ordinal, ranks) = (flow.ordinal, flow.source.zip(flow.destination));
        if alone_ms <= 0.0 {
            flow.times.transfer_ended = Some(now);
            self.queue.push(request, Action::Activate);
            return;
        }
        let ranks = ranks.expect("a prompt moves between two ranks");
        self.moving.insert(ordinal, request);
        self.transfers.start(now, ordinal, alone_ms, ranks);
    }

    /// Notes the transfers that have ended by `now`; returns whether there are any.
    pub(crate) fn end_transfers(&mut self, now: SimTime) -> bool {
        let ended = self.transfers.take_ended(now);
        for ordinal in &ended {
            let request = self.moving.remove(ordinal).expect("what ends was in flight");
            self.flow(request).times.transfer_ended = Some(now);
            self.queue.push(request, Action::Activate);
        }
        !ended.is_empty()
    }

    /// Returns the requests on their way.
    #[cfg(test)]
    pub(crate) fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.flows.values()
    }

    /// Finds a link that carries more than it can, and a transfer in flight that belongs to no request.
    ///
    /// # Errors
    /// What was found.
    #[cfg(test)]
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        self.transfers.audit()?;
        let moving: Vec<u64> = self.transfers.moving().iter().map(|(id, _, _)| *id).collect();
        let known: Vec<u64> = self.moving.keys().copied().collect();
        let is_flying = |flow: &&Flow| {
            flow.times.transfer_began.is_some() && flow.times.transfer_ended.is_none()
        };
        let mut flying: Vec<u64> =
            self.flows.values().filter(is_flying).map(|flow| flow.ordinal).collect();
        flying.sort_unstable();
        let mut sorted = moving;
        sorted.sort_unstable();
        if sorted == known && flying == known {
            return Ok(());
        }
        Err(format!("transfers {sorted:?} move, {known:?} are known and {flying:?} are under way"))
    }

    /// Returns each transfer in flight: its place in the order of arrival, what is left of it and how fast it moves.
    #[cfg(test)]
    pub(crate) fn moving(&mut self) -> Vec<(u64, f64, f64)> {
        self.transfers.moving()
    }

    /// Returns when the next transfer ends.
    pub(crate) fn next_event(&mut self) -> Option<SimTime> {
        self.transfers.next_event()
    }

    /// Returns the transfers in flight, and how fast each moves.
    pub(crate) fn link_state(&mut self, at: Nanos) -> LinkState {
        let (sharing, gigabytes) = self.transfers.pricing().sharing();
        let transfers = probe::moving(self.transfers.shares(), &self.moving, gigabytes);
        LinkState { at, sharing, transfers }
    }

    /// Takes every request, by number.
    pub(crate) fn take_all(&mut self) -> Vec<Flow> {
        std::mem::take(&mut self.flows).into_values().collect()
    }
}
