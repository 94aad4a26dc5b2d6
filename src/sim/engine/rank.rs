//! One rank of whichever engine.

use std::cell::RefCell;
use std::rc::Rc;

use crate::record::{GapUnit, Gaps};
use crate::sim::error::SimError;
use crate::sim::kv::{Census, Forecast};
use crate::sim::timing::PassTiming;
use crate::units::SimTime;

use super::{Arrival, Blocked, Cadence, Formed, Reserved, Round, Served, Settled, sglang, vllm};

/// Settings of a rank, by engine.
#[derive(Debug, Clone)]
pub(crate) enum RankConfig {
    /// vLLM, and TensorRT-LLM on the same core.
    Vllm(vllm::RankConfig),
    /// SGLang.
    Sglang(sglang::RankConfig),
}

/// One rank: its queues, its memory, and the pass it formed last.
#[derive(Debug)]
pub(crate) enum Rank {
    /// vLLM, and TensorRT-LLM on the same core.
    Vllm(Box<vllm::Rank>),
    /// SGLang.
    Sglang(Box<sglang::Rank>),
}

/// Asks the engine inside.
macro_rules! ask {
    ($rank:expr, $inner:ident => $answer:expr) => {
        match $rank {
            Rank::Vllm($inner) => $answer,
            Rank::Sglang($inner) => $answer,
        }
    };
}

impl RankConfig {
    /// Returns the KV blocks of the rank.
    pub(crate) fn blocks(&self) -> u64 {
        match self {
            Self::Vllm(config) => config.blocks,
            Self::Sglang(config) => config.pages,
        }
    }

    /// Returns whether a forward may still compute when the last token has been seen: the run lasts until it is seen, too.
    pub(crate) fn runs_ahead(&self) -> bool {
        match self {
            Self::Vllm(_) => false,
            Self::Sglang(config) => config.host_loop,
        }
    }

    /// Returns whether the engine ever does something by itself between passes: see [`Rank::next_deadline`].
    pub(crate) fn has_deadlines(&self) -> bool {
        match self {
            Self::Vllm(config) => config.has_host,
            Self::Sglang(_) => false,
        }
    }
}

impl Rank {
    /// Returns an idle rank; `number` counts the ranks of all workers of its pool.
    pub(crate) fn new(config: RankConfig, number: usize) -> Self {
        match config {
            RankConfig::Vllm(config) => Self::Vllm(Box::new(vllm::Rank::new(config, number))),
            RankConfig::Sglang(config) => Self::Sglang(Box::new(sglang::Rank::new(config, number))),
        }
    }

    /// Puts a request at the end of the waiting line.
    pub(crate) fn submit(&mut self, arrival: Arrival) {
        ask!(self, rank => rank.submit(arrival));
    }

    /// Accepts a request whose prompt another rank computes, at the end of the line of those that wait for room. Answers the request
    /// where it could never be served here.
    ///
    /// # Errors
    /// The request, where it exceeds the context or the KV pool.
    pub(crate) fn accept(&mut self, arrival: Arrival) -> Result<(), Box<Served>> {
        ask!(self, rank => rank.accept(arrival))
    }

    /// Sets KV apart for the first accepted request, where there is room and none was missing at the last try. The caller asks
    /// while no pass is in flight: after each acceptance and activation, and at the end of each pass of the worker.
    pub(crate) fn reserve_next(&mut self) -> Option<Reserved> {
        ask!(self, rank => rank.reserve_next())
    }

    /// Lets a request whose prompt has arrived wait for its first decode.
    pub(crate) fn activate(&mut self, request: u64) {
        ask!(self, rank => rank.activate(request));
    }

    /// Gives up the KV of a prompt that this rank computed and kept.
    pub(crate) fn release_source(&mut self, request: u64) {
        ask!(self, rank => rank.release_source(request));
    }

    /// Returns whether the rank has nothing at all: no request, no prompt that it keeps, no room set apart, no copy in flight.
    pub(crate) fn is_drained(&self) -> bool {
        ask!(self, rank => rank.is_drained())
    }

    /// Returns whether a pass could find anything to do.
    pub(crate) fn has_work(&self) -> bool {
        ask!(self, rank => rank.has_work())
    }

    /// Forms a pass that starts at `now`; [`Rank::formed`] shows it, [`Rank::complete`] lets it take effect.
    ///
    /// # Errors
    /// [`SimError::BadTime`] where the timing model answers no time.
    pub(crate) fn form(
        &mut self,
        now: SimTime,
        cadence: Cadence,
        timing: &dyn PassTiming,
    ) -> Result<(), SimError> {
        match self {
            Self::Vllm(rank) => rank.form(now, cadence, timing),
            Self::Sglang(rank) => rank.form(now, timing),
        }
    }

    /// Ends a round of the rank's worker, in which its ranks formed one pass each.
    pub(crate) fn end_round(&mut self, round: Round) {
        match self {
            Self::Vllm(_) => {}
            Self::Sglang(rank) => rank.end_round(round),
        }
    }

    /// Returns the pass that was formed last.
    pub(crate) fn formed(&self) -> &Formed {
        ask!(self, rank => rank.formed())
    }

    /// Moves the end of the formed pass to that of the slowest rank of its group.
    pub(crate) fn wait_until(&mut self, end: SimTime) {
        ask!(self, rank => rank.wait_until(end));
    }

    /// Lets the formed pass take effect at its end.
    pub(crate) fn complete(&mut self) -> Settled {
        ask!(self, rank => rank.complete())
    }

    /// Returns when the engine next does something by itself, as when a host transfer ends. The event loop stops there while no
    /// pass is in flight, and calls [`Rank::do_internal_work`].
    pub(crate) fn next_deadline(&self) -> Option<SimTime> {
        match self {
            Self::Vllm(rank) => rank.next_deadline(),
            Self::Sglang(_) => None,
        }
    }

    /// Does what is due by `now`. No pass of the worker is in flight.
    pub(crate) fn do_internal_work(&mut self, now: SimTime) {
        match self {
            Self::Vllm(rank) => rank.hear(now),
            Self::Sglang(_) => {}
        }
    }

    /// Ends a step of the worker at `now` in which the rank had no part, or which had no effect.
    pub(crate) fn pass_over(&mut self, now: SimTime) {
        match self {
            Self::Vllm(rank) => rank.end_step(now),
            Self::Sglang(_) => {}
        }
    }

    /// Lets the pool of the rank evict by a forecast; SGLang's cannot.
    pub(crate) fn foresee(&mut self, forecast: &Rc<RefCell<Forecast>>) {
        match self {
            Self::Vllm(rank) => rank.foresee(forecast),
            Self::Sglang(_) => panic!("bug: SGLang has no forecast"),
        }
    }

    /// Puts a host tier behind the rank; only vLLM's can have one.
    pub(crate) fn attach_host(&mut self, host: vllm::host::RankHost) {
        match self {
            Self::Vllm(rank) => rank.attach_host(host),
            Self::Sglang(_) => panic!("bug: SGLang has no host tier"),
        }
    }

    /// Returns what is known of the requests that are still here when the run is cut.
    pub(crate) fn cut(&mut self) -> Vec<Served> {
        ask!(self, rank => rank.cut())
    }

    /// Says how gaps are measured, before there are any.
    pub(crate) fn measure_gaps(&mut self, unit: GapUnit) {
        ask!(self, rank => rank.measure_gaps(unit));
    }

    /// Returns the pooled gaps.
    pub(crate) fn take_gaps(&mut self) -> Gaps {
        ask!(self, rank => rank.take_gaps())
    }

    /// Returns how often a request was preempted.
    pub(crate) fn preemptions(&self) -> u64 {
        ask!(self, rank => rank.preemptions())
    }

    /// Tells of each request on the rank how many tokens of its output are visible; decodes advance one by one.
    pub(crate) fn produced(&self, tell: impl FnMut(u64, u64)) {
        ask!(self, rank => rank.produced(tell));
    }

    /// Returns how many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        ask!(self, rank => rank.waiting())
    }

    /// Returns how many requests run.
    pub(crate) fn running(&self) -> usize {
        ask!(self, rank => rank.running())
    }

    /// Returns the request that keeps the rank from doing anything, and why; `None` where it has no request.
    pub(crate) fn blocked(&self) -> Option<Blocked> {
        ask!(self, rank => rank.blocked())
    }

    /// Returns the first requests that wait, in their order, `most` at the most.
    pub(crate) fn line(&self, most: usize) -> Vec<u64> {
        ask!(self, rank => rank.line(most))
    }

    /// Returns how many accepted requests lack room for their KV.
    pub(crate) fn without_room(&self) -> usize {
        ask!(self, rank => rank.without_room())
    }

    /// Returns how many requests may run.
    pub(crate) fn most_running(&self) -> u64 {
        ask!(self, rank => rank.config.max_running)
    }

    /// Returns how many tokens a pass may compute; of prompts alone where the engine counts only those.
    pub(crate) fn token_budget(&self) -> u64 {
        match self {
            Self::Vllm(rank) => rank.config.budget,
            Self::Sglang(rank) => rank.config.max_prefill_tokens.min(rank.config.chunk),
        }
    }

    /// Returns how many KV blocks could be taken: free ones, and cached ones that nobody holds.
    pub(crate) fn available(&self) -> u64 {
        match self {
            Self::Vllm(rank) => rank.pool().available(),
            Self::Sglang(rank) => rank.cache().reachable(),
        }
    }

    /// Returns how many KV blocks there are.
    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Self::Vllm(rank) => rank.pool().capacity(),
            Self::Sglang(rank) => rank.cache().capacity(),
        }
    }

    /// Returns how many KV blocks requests hold.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Self::Vllm(rank) => rank.pool().active(),
            Self::Sglang(rank) => rank.cache().held(),
        }
    }

    /// Returns the most KV blocks that requests held at any time.
    pub(crate) fn peak_held(&self) -> u64 {
        match self {
            Self::Vllm(rank) => rank.pool().peak_active(),
            Self::Sglang(rank) => rank.cache().peak_held(),
        }
    }

    /// Counts the KV blocks one by one.
    pub(crate) fn census(&self) -> Census {
        match self {
            Self::Vllm(rank) => rank.pool().census(),
            Self::Sglang(rank) => rank.cache().census(),
        }
    }
}
