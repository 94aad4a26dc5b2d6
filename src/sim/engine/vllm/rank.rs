//! The state of a rank, and the end of a pass.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::deployment::{CacheGroup, Preemption, WorkerRole};
use crate::record::{GapUnit, Gaps, Refusal};
pub(crate) use crate::sim::engine::Seat;
use crate::sim::engine::acceptance::{Acceptance, Drafts};
use crate::sim::engine::{Advance, Arrival, End, Formed, Seats, Served, Settled, Visible};
use crate::sim::kv::{BlockPool, Forecast};
use crate::units::{SimTime, Tokens};
use crate::workload::{BlockCursor, BlockIdentity};

use super::group::Group;
use super::grouped::GroupedCache;
use super::handover::{Destinations, Sources};
use super::host::RankHost;
use super::sequence::{Phase, Sequence};
use super::state::{RankStates, RequestState};

/// Settings of a rank.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the engine, stated by name")]
pub(crate) struct RankConfig {
    /// What its worker is for.
    pub(crate) role: WorkerRole,
    /// Whose admission rules hold.
    pub(crate) policy: Policy,
    /// Tokens a pass computes at the most.
    pub(crate) budget: u64,
    /// Requests that run at the most.
    pub(crate) max_running: u64,
    /// Tokens a block.
    pub(crate) block_size: u32,
    /// KV blocks.
    pub(crate) blocks: u64,
    /// The longest sequence.
    pub(crate) context_limit: Option<u64>,
    /// Whether a prompt may be computed over several passes.
    pub(crate) chunked_prefill: bool,
    /// Whether equal prefixes share blocks.
    pub(crate) prefix_caching: bool,
    /// Who is preempted.
    pub(crate) preemption: Preemption,
    /// How decodes are advanced.
    pub(crate) advance: Advance,
    /// Whether each request keeps its own gaps: needed where the run may be cut.
    pub(crate) keeps_gaps: bool,
    /// How it speculates, where it does: then decodes advance one by one.
    pub(crate) drafts: Option<Drafts>,
    /// Whether a host tier stands behind the rank.
    pub(crate) has_host: bool,
    /// Blocks that the state of a request's recurrent layers takes; 0 without such.
    pub(crate) state_blocks: u32,
    /// The grid on which a prefix with its state is matched, where it is finer than blocks may be.
    pub(crate) match_grid: Option<MatchGrid>,
    /// The groups of layers that share memory by the byte, and how many bytes that is; there are no blocks then.
    pub(crate) groups: Option<(Box<[CacheGroup]>, u64)>,
}

/// The grid on which a prefix with its state is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatchGrid {
    /// Tokens between two places; divides the block.
    pub(crate) unit: u32,
    /// How far a prompt is computed before it stops for its state.
    pub(crate) stop: LastStop,
}

/// The last end of a block at which a prompt stops for its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastStop {
    /// Below the end of the prompt.
    BelowPrompt,
    /// Within what is known of the sequence: core 0.13.0.
    WithinKnown,
}

/// Whose admission rules hold on the shared core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// vLLM: what is known of a sequence must fit; who outgrows the pool preempts.
    Optimistic,
    /// TensorRT-LLM `GUARANTEED_NO_EVICT`: a sequence must fit to its end, so nobody is ever preempted.
    GuaranteedNoEvict,
}

/// One scheduling decision of a pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) seat: Seat,
    /// Tokens it computes in the pass.
    pub(super) total: u64,
    /// How many of them belong to the prompt.
    pub(super) prompt: u64,
    /// Prompt tokens before them.
    pub(super) prefix: u64,
}

/// A pass that was formed, with what only the rank needs of it.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// What the pool sees.
    pub(super) formed: Formed,
    /// Scheduling decisions outside the group, in order.
    pub(super) scheduled: Vec<Work>,
    /// Members of the group that produce a token.
    pub(super) grouped: u64,
    /// Requests outside the group that produce a token, in running order.
    pub(super) emitting: Vec<Seat>,
    /// How many tokens each of them produces, where the rank speculates.
    pub(super) bursts: Vec<u64>,
    /// Requests that end without a token, in running order.
    pub(super) silent: Vec<Seat>,
    /// Requests refused, and why.
    pub(super) rejected: Vec<(Seat, Refusal)>,
}

/// One rank.
#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) config: RankConfig,
    pub(super) pool: BlockPool,
    pub(super) seats: Seats<Sequence>,
    pub(super) waiting: VecDeque<Seat>,
    pub(super) running: Vec<Seat>,
    pub(super) group: Group,
    /// The bytes that groups of layers share, where there are such.
    pub(super) grouped: Option<GroupedCache>,
    pub(super) pass: Pass,
    /// Whether the head of `waiting` was refused for lack of blocks and nothing has changed since that could help it.
    pub(super) head_blocked: bool,
    /// The first block of the refused head that is not resident: where a decode publishes it, the head is looked at again.
    pub(super) head_lacks: Option<BlockIdentity>,
    /// Whether the last pass that admitted left requests waiting.
    pub(super) left_waiting: bool,
    pub(super) next_order: u64,
    pub(super) last_end: SimTime,
    pub(super) preemptions: u64,
    /// Prompts that it computed and keeps until they are copied.
    pub(super) sources: Sources,
    /// Requests that another rank computes the prompts of.
    pub(super) destinations: Destinations,
    pub(super) acceptance: Option<Acceptance>,
    gaps: Gaps,
    /// The states of recurrent layers, where there are such.
    pub(super) states: Option<RankStates>,
    /// What the input asks for, where the pool evicts by it.
    pub(super) forecast: Option<Rc<RefCell<Forecast>>>,
    /// The rank's side of the host tier, where there is one.
    pub(super) host: Option<Box<RankHost>>,
}

impl Pass {
    /// Says what the pass comes to, once it is formed.
    pub(super) fn close(&mut self) {
        let formed = &mut self.formed;
        formed.rejected = self.rejected.len() as u64;
        formed.changes = !formed.admitted.is_empty()
            || !formed.preempted.is_empty()
            || !self.scheduled.is_empty()
            || !self.emitting.is_empty()
            || !self.silent.is_empty()
            || !self.rejected.is_empty()
            || self.grouped > 0;
        formed.repeats = formed.decode.requests > 0
            && formed.prefill.requests == 0
            && formed.admitted.is_empty()
            && formed.preempted.is_empty()
            && self.rejected.is_empty()
            && self.silent.is_empty()
            && self.bursts.is_empty()
            && self.scheduled.len() == self.emitting.len();
        formed.speculated = (!self.bursts.is_empty()).then(|| self.bursts.iter().sum());
    }

    /// Empties the pass, keeping its memory.
    pub(super) fn reset(&mut self, start: SimTime) {
        self.formed.reset(start);
        self.grouped = 0;
        self.scheduled.clear();
        self.emitting.clear();
        self.bursts.clear();
        self.silent.clear();
        self.rejected.clear();
    }
}

impl Rank {
    /// Returns an idle rank; `number` counts the ranks of all workers of its pool.
    pub(crate) fn new(config: RankConfig, number: usize) -> Self {
        Self {
            grouped: config.groups.as_ref().map(GroupedCache::new),
            acceptance: config.drafts.map(|drafts| Acceptance::new(drafts, number as u64)),
            pool: BlockPool::new(config.blocks),
            seats: Seats::default(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            group: Group::new(),
            pass: Pass::default(),
            head_blocked: false,
            head_lacks: None,
            left_waiting: false,
            next_order: 0,
            last_end: SimTime::ZERO,
            preemptions: 0,
            sources: Sources::default(),
            destinations: Destinations::default(),
            gaps: Gaps::default(),
            forecast: None,
            host: None,
            states: RankStates::new(config.state_blocks),
            config,
        }
    }

    /// Lets the pool evict by a forecast.
    pub(crate) fn foresee(&mut self, forecast: &Rc<RefCell<Forecast>>) {
        self.pool.foresee(Rc::clone(forecast));
        self.forecast = Some(Rc::clone(forecast));
    }

    /// Notes that the prompt of a request counts as served.
    pub(super) fn retire(&self, seat: Seat) {
        if let Some(forecast) = &self.forecast {
            forecast.borrow_mut().retire(self.look(seat).ticket.turn.session);
        }
    }

    /// Puts a request at the end of the waiting line.
    pub(crate) fn submit(&mut self, arrival: Arrival) {
        let sequence = self.sequence_of(arrival);
        let seat = self.seat(sequence);
        self.waiting.push_back(seat);
    }

    /// Returns a request as this rank would serve it.
    pub(super) fn sequence_of(&self, arrival: Arrival) -> Sequence {
        let prompt = u64::from(arrival.content.prompt_tokens());
        let context = self.config.context_limit.unwrap_or(u64::MAX);
        let pool = self.config.blocks * u64::from(self.config.block_size);
        let room = match self.config.policy {
            Policy::Optimistic => context.saturating_sub(prompt),
            // A prompt that fills the pool keeps its output: it is refused at admission.
            Policy::GuaranteedNoEvict if prompt >= pool => context.saturating_sub(prompt),
            Policy::GuaranteedNoEvict => context.min(pool).saturating_sub(prompt),
        };
        let host = self
            .host
            .as_deref()
            .map(|host| Box::new(host.request(&arrival.content, self.config.block_size)));
        Sequence {
            host,
            state: RequestState::default(),
            ticket: arrival.ticket,
            content: arrival.content,
            prompt,
            output: arrival.output.min(room),
            requested: arrival.output,
            phase: Phase::Fresh,
            computed: 0,
            generated: 0,
            as_of: 0,
            order: 0,
            accepted: 0,
            blocks: Vec::new(),
            bytes: 0,
            identities: Vec::new(),
            cursor: BlockCursor::default(),
            units: Vec::new(),
            unit_cursor: BlockCursor::default(),
            admissions: Vec::with_capacity(1),
            visible: if self.config.keeps_gaps {
                Visible::keeping_gaps()
            } else {
                Visible::default()
            },
            drafts: 0,
            drafts_ready: false,
        }
    }

    /// Returns whether a pass could find anything to do.
    pub(crate) fn has_work(&self) -> bool {
        !self.running.is_empty() || !self.waiting.is_empty() || self.has_awake()
    }

    /// Moves the end of the formed pass to that of the slowest rank of its group.
    pub(crate) fn wait_until(&mut self, end: SimTime) {
        self.pass.formed.end = end;
    }

    /// Returns the pass that was formed last.
    pub(crate) fn formed(&self) -> &Formed {
        &self.pass.formed
    }

    /// Returns the block pool.
    pub(crate) fn pool(&self) -> &BlockPool {
        &self.pool
    }

    /// Returns how often a request was preempted.
    pub(crate) fn preemptions(&self) -> u64 {
        self.preemptions
    }

    /// Tells of each request how many tokens of its output are visible.
    pub(crate) fn produced(&self, mut tell: impl FnMut(u64, u64)) {
        let sequences = self.seats.iter().filter(|sequence| sequence.generated > 0);
        sequences.for_each(|sequence| tell(sequence.ticket.request, sequence.generated));
    }

    /// Returns how many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the first requests that wait, in their order.
    pub(crate) fn line(&self, most: usize) -> Vec<u64> {
        self.waiting.iter().take(most).map(|seat| self.look(*seat).ticket.request).collect()
    }

    /// Returns how many accepted requests lack room for their KV.
    pub(crate) fn without_room(&self) -> usize {
        self.destinations.without_room()
    }

    /// Returns how many requests run.
    pub(crate) fn running(&self) -> usize {
        self.running.len()
    }

    /// Lets the formed pass take effect at its end: tokens become visible, finished requests leave and release their blocks.
    pub(crate) fn complete(&mut self) -> Settled {
        let end = self.pass.formed.end;
        let mut settled = Settled::default();
        let prompt_work = self.pass.scheduled.iter().filter(|work| work.prompt > 0);
        settled.committed_prefill = Tokens::new(prompt_work.map(|work| work.total).sum());
        let silent = std::mem::take(&mut self.pass.silent);
        let mut leaving: Vec<(Seat, End)> =
            silent.iter().map(|seat| (*seat, End::Completed)).collect();
        self.pass.silent = silent;
        let group_end = std::mem::replace(&mut self.last_end, end);
        if self.pass.grouped > 0 {
            self.advance_group(group_end, end, &mut leaving);
        }
        self.emit_each(end, &mut leaving);
        let rejected = std::mem::take(&mut self.pass.rejected);
        leaving.extend(rejected.iter().map(|(seat, refusal)| (*seat, End::Rejected(*refusal))));
        self.pass.rejected = rejected;
        self.leave(leaving, &mut settled);
        self.end_step(end);
        settled
    }

    /// Gives every request outside the group that the pass serves its token.
    fn emit_each(&mut self, end: SimTime, leaving: &mut Vec<(Seat, End)>) {
        let emitting = std::mem::take(&mut self.pass.emitting);
        for (index, seat) in emitting.iter().enumerate() {
            for _ in 0..self.pass.bursts.get(index).copied().unwrap_or(1) {
                let before = self.sequence(*seat).emit(end);
                self.note_gap(*seat, before, end);
            }
            if self.sequence(*seat).is_finished() {
                leaving.push((*seat, End::Completed));
            } else if self.config.advance == Advance::Grouped {
                self.join_group(*seat);
            }
        }
        self.pass.emitting = emitting;
    }

    /// Takes requests out of the rank: blocks are released tail first, in the order of `leaving`.
    fn leave(&mut self, leaving: Vec<(Seat, End)>, settled: &mut Settled) {
        if leaving.is_empty() {
            return;
        }
        self.head_blocked = false;
        self.destinations.note_room();
        for (seat, _) in &leaving {
            self.sequence(*seat).phase = Phase::Leaving;
        }
        let seats = &self.seats;
        self.running.retain(|seat| {
            seats.find(*seat).is_some_and(|sequence| sequence.phase != Phase::Leaving)
        });
        for (seat, end) in leaving {
            let is_held = self.config.role == WorkerRole::Prefill && end == End::Completed;
            if is_held {
                self.hold_blocks(seat);
            } else {
                self.release_blocks(seat);
            }
            let sequence = self.seats.vacate(seat);
            let served = sequence.into_served(Some(end));
            if is_held { settled.held.push(served) } else { settled.terminals.push(served) }
        }
    }

    /// Releases all blocks of a request, tail first, so that a suffix is evicted before what it extends.
    pub(super) fn release_blocks(&mut self, seat: Seat) {
        self.release_state(seat);
        self.release_bytes(seat);
        let blocks = std::mem::take(&mut self.sequence(seat).blocks);
        for block in blocks.iter().rev() {
            self.pool.release(*block);
        }
    }

    /// Returns what is known of the requests that are still here when the run is cut.
    pub(crate) fn cut(&mut self) -> Vec<Served> {
        self.dissolve_group();
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

    /// Returns the sequence in a seat, where one sits there.
    pub(super) fn holder(&self, seat: Seat) -> Option<&Sequence> {
        self.seats.find(seat)
    }

    /// Gives a sequence a seat.
    pub(super) fn seat(&mut self, sequence: Sequence) -> Seat {
        self.seats.seat(sequence)
    }
}
