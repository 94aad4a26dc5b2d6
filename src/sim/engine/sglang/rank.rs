//! The state of a rank, and the end of a pass.

use std::collections::VecDeque;

use crate::deployment::WorkerRole;
use crate::record::{GapUnit, Gaps, Refusal, Rule};
use crate::sim::engine::acceptance::Acceptance;
use crate::sim::engine::{Advance, Arrival, End, Formed, Seats, Served, Settled, Visible};
use crate::sim::kv::RadixCache;
use crate::units::{SimTime, Tokens};

use super::config::RankConfig;
use super::group::Group;
use super::handover::{Destinations, Sources};
use super::host_loop::HostLoop;
use super::pass::Pass;
use super::sequence::{Lease, Seat, Sequence};

/// One rank.
#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) config: RankConfig,
    pub(super) cache: RadixCache,
    pub(super) seats: Seats<Sequence>,
    pub(super) waiting: VecDeque<Seat>,
    /// How many of the waiting requests exceed the context limit: they are refused in the next pass.
    pub(super) overlong: usize,
    /// Requests whose prompts another rank computed and that have arrived, in order.
    pub(super) ready: VecDeque<Seat>,
    pub(super) running: Vec<Seat>,
    /// How many running requests have no token to come: they arrived from another rank without any to produce.
    pub(super) done: usize,
    /// Prompts that it computed and keeps until they are copied.
    pub(super) sources: Sources,
    /// Requests that another rank computes the prompts of.
    pub(super) destinations: Destinations,
    pub(super) group: Group,
    pub(super) pass: Pass,
    /// The share of the output still to come that admission sets aside.
    pub(super) ratio: f64,
    /// Rounds that still may compute no prompt.
    pub(super) closed_rounds: u64,
    pub(super) retractions: u64,
    /// What the scheduler has not seen, where it prepares a pass while the one before it computes.
    pub(super) host: Option<HostLoop>,
    /// Which drafts are accepted, where it speculates.
    pub(super) acceptance: Option<Acceptance>,
    gaps: Gaps,
}

impl Rank {
    /// Returns an idle rank; `number` counts the ranks of all workers of its pool.
    pub(crate) fn new(config: RankConfig, number: usize) -> Self {
        Self {
            config,
            cache: RadixCache::new(config.pages, config.page, config.refresh()),
            seats: Seats::default(),
            waiting: VecDeque::new(),
            overlong: 0,
            ready: VecDeque::new(),
            running: Vec::new(),
            done: 0,
            sources: Sources::default(),
            destinations: Destinations::default(),
            group: Group::default(),
            pass: Pass::default(),
            ratio: config.first_ratio,
            closed_rounds: 0,
            retractions: 0,
            host: config.host_loop.then(HostLoop::default),
            acceptance: config.drafts.map(|drafts| Acceptance::new(drafts, number as u64)),
            gaps: Gaps::default(),
        }
    }

    /// Puts a request at the end of the waiting line.
    pub(crate) fn submit(&mut self, arrival: Arrival) {
        let sequence = self.sequence_of(arrival);
        self.overlong += usize::from(self.overlong(&sequence).is_some());
        let seat = self.seat(sequence);
        match &mut self.host {
            Some(host) => host.inbox.push(seat),
            None => self.waiting.push_back(seat),
        }
    }

    /// Returns why a request is refused whose prompt reaches the context limit.
    pub(super) fn overlong(&self, sequence: &Sequence) -> Option<Refusal> {
        let limit = self.config.context_limit.filter(|limit| sequence.prompt >= *limit)?;
        let (prompt, limit) = (Tokens::new(sequence.prompt), Tokens::new(limit));
        Some(Refusal { role: self.config.role, rule: Rule::ContextLimit { prompt, limit } })
    }

    /// Returns a request as this rank would serve it.
    pub(super) fn sequence_of(&self, arrival: Arrival) -> Sequence {
        let prompt = u64::from(arrival.content.prompt_tokens());
        let limit = self.config.context_limit.unwrap_or(u64::MAX);
        Sequence {
            ticket: arrival.ticket,
            content: arrival.content,
            prompt,
            output: arrival.output.min(limit.saturating_sub(prompt)),
            requested: arrival.output,
            generated: 0,
            emitted: 0,
            computed: 0,
            lease: Lease::default(),
            is_ghost: false,
            is_member: false,
            as_of: 0,
            last_pass: 0,
            admissions: Vec::with_capacity(1),
            visible: match self.config.advance {
                Advance::Each => Visible::keeping_gaps(),
                Advance::Grouped => Visible::default(),
            },
        }
    }

    /// Returns whether a pass could find anything to do, or rounds without prompts are to be counted.
    pub(crate) fn has_work(&self) -> bool {
        self.has_requests() || self.closed_rounds > 0
    }

    /// Returns whether requests wait or run.
    pub(crate) fn has_requests(&self) -> bool {
        !self.running.is_empty()
            || !self.waiting.is_empty()
            || !self.ready.is_empty()
            || self.host.as_ref().is_some_and(|host| !host.is_idle())
    }

    /// Moves the end of the formed pass to that of the slowest rank of its group.
    pub(crate) fn wait_until(&mut self, end: SimTime) {
        self.pass.formed.end = end;
    }

    /// Returns the pass that was formed last.
    pub(crate) fn formed(&self) -> &Formed {
        &self.pass.formed
    }

    /// Returns the KV cache.
    pub(crate) fn cache(&self) -> &RadixCache {
        &self.cache
    }

    /// Returns how often a request was retracted.
    pub(crate) fn preemptions(&self) -> u64 {
        self.retractions
    }

    /// Tells of each request how many tokens of its output are visible.
    pub(crate) fn produced(&self, mut tell: impl FnMut(u64, u64)) {
        let sequences = self.seats.iter().filter(|sequence| sequence.emitted > 0);
        sequences.for_each(|sequence| tell(sequence.ticket.request, sequence.emitted));
    }

    /// Returns how many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }

    /// Returns the first requests that wait, in their order.
    pub(crate) fn line(&self, most: usize) -> Vec<u64> {
        let line = self.ready.iter().chain(&self.waiting);
        line.take(most).map(|seat| self.look(*seat).ticket.request).collect()
    }

    /// Returns how many accepted requests lack room for their KV.
    pub(crate) fn without_room(&self) -> usize {
        self.destinations.without_room()
    }

    /// Returns how many requests run.
    pub(crate) fn running(&self) -> usize {
        self.running.len()
    }

    /// Lets the formed pass take effect at its end: tokens become visible and requests that ended leave.
    pub(crate) fn complete(&mut self) -> Settled {
        let end = self.pass.formed.end;
        let mut pass = std::mem::take(&mut self.pass);
        if pass.grouped > 0 {
            self.emit_group(end, pass.grouped);
        }
        for seat in &pass.emitting {
            let before = self.sequence(*seat).emit(end);
            self.note_gap(*seat, before, end);
        }
        for seat in &pass.finishing {
            let sequence = self.sequence(*seat);
            sequence.emitted = sequence.generated;
            sequence.visible.last = Some(end);
        }
        let ended = pass.silent.iter().chain(&pass.finishing);
        let leaving = ended
            .map(|seat| (*seat, End::Completed))
            .chain(pass.rejected.iter().map(|(seat, refusal)| (*seat, End::Rejected(*refusal))));
        let mut settled = Settled::default();
        for (seat, end) in leaving {
            let served = self.leave(seat, end);
            if self.config.role == WorkerRole::Prefill && end == End::Completed {
                settled.held.push(served);
            } else {
                settled.terminals.push(served);
            }
        }
        settled.committed_prefill = Tokens::new(pass.computes);
        // What the pool sees of it stays until the next pass is formed; its lists keep their memory.
        pass.grouped = 0;
        self.pass = pass;
        settled
    }

    /// Takes a request out of the rank.
    fn leave(&mut self, seat: Seat, end: End) -> Served {
        self.vacate(seat).into_served(Some(end))
    }

    /// Takes a sequence out of its seat.
    pub(super) fn vacate(&mut self, seat: Seat) -> Sequence {
        self.seats.vacate(seat)
    }

    /// Returns what is known of the requests that are still here when the run is cut.
    pub(crate) fn cut(&mut self) -> Vec<Served> {
        self.forget_sources();
        let live = self.seats.take_all().chain(self.destinations.take_all());
        live.map(|sequence| sequence.into_served(None)).collect()
    }

    /// Says how gaps are measured, before there are any.
    pub(crate) fn measure_gaps(&mut self, unit: GapUnit) {
        self.gaps = Gaps::of(unit);
    }

    /// Returns the pooled gaps.
    pub(crate) fn take_gaps(&mut self) -> Gaps {
        std::mem::take(&mut self.gaps)
    }

    /// Adds a gap to the pool, or to the request's own where those are kept.
    pub(super) fn note_gap(&mut self, seat: Seat, before: Option<SimTime>, at: SimTime) {
        if let Some(before) = before {
            let gap = self.gaps.unit().between(before, at);
            self.seats.get_mut(seat).visible.note_gap(gap, &mut self.gaps);
        }
    }

    /// Adds the gap from `before` to `at` for `count` members of the group.
    pub(super) fn note_group_gaps(&mut self, before: SimTime, at: SimTime, count: u64) {
        self.gaps.add(self.gaps.unit().between(before, at), count);
    }

    /// Returns the sequence in a seat.
    pub(super) fn sequence(&mut self, seat: Seat) -> &mut Sequence {
        self.seats.get_mut(seat)
    }

    /// Returns the sequence in a seat, to read.
    pub(super) fn look(&self, seat: Seat) -> &Sequence {
        self.seats.get(seat)
    }

    /// Gives a sequence a seat.
    pub(super) fn seat(&mut self, sequence: Sequence) -> Seat {
        self.seats.seat(sequence)
    }
}
