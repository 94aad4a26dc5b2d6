//! Settings of a rank.

use crate::deployment::{SchedulePolicy, Worker, WorkerRole};
use crate::plan::{Compat, SimulationJob};
use crate::sim::engine::Advance;
use crate::sim::engine::acceptance::Drafts;
use crate::sim::kv::Refresh;
use crate::units::{Blocks, Tokens};

/// Settings of a rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankConfig {
    /// What its worker is for.
    pub(crate) role: WorkerRole,
    /// Who is looked at first.
    pub(crate) order: Order,
    /// Prompt tokens of a pass at the most.
    pub(crate) max_prefill_tokens: u64,
    /// Tokens of one chunk of a prompt at the most, of this rank.
    pub(crate) chunk: u64,
    /// The most output tokens that admission sets aside for one request.
    pub(crate) clip: u64,
    /// How much of the output admission sets aside at first.
    pub(crate) first_ratio: f64,
    /// Rounds without prompts after one with prompts.
    pub(crate) interval: u64,
    /// Requests that run at the most.
    pub(crate) max_running: u64,
    /// Tokens a page.
    pub(crate) page: u32,
    /// KV pages.
    pub(crate) pages: u64,
    /// The longest sequence.
    pub(crate) context_limit: Option<u64>,
    /// Whether equal prefixes share pages.
    pub(crate) prefix_caching: bool,
    /// Which behaviour of the reference holds.
    pub(crate) compat: Compat,
    /// How decodes are advanced; one by one where drafts are verified.
    pub(crate) advance: Advance,
    /// Whether a pass is prepared while the one before it computes.
    pub(crate) host_loop: bool,
    /// How it speculates; a prefill rank does not.
    pub(crate) drafts: Option<Drafts>,
}

/// Who of the waiting requests is looked at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Who came first.
    Fifo,
    /// Who has the longest cached prefix.
    LongestPrefix,
}

/// The share of the output that is set aside at first, before the conservativeness.
const FIRST_RATIO: f64 = 0.7;
/// What of it is set aside at least.
const LEAST_SHARE: f64 = 0.14;
/// Decode passes from the first to the least.
const DECAY_PASSES: f64 = 600.0;
/// What attention data parallelism makes of the conservativeness.
const PARALLEL_SHARE: f64 = 0.3;

impl RankConfig {
    /// Returns the settings of a rank of a worker. It knows no token budget of a pass beside its own.
    pub(crate) fn of(
        job: &SimulationJob,
        worker: &Worker,
        role: WorkerRole,
        blocks: Blocks,
    ) -> Self {
        let scheduler = &worker.scheduler.sglang;
        let ranks = worker.parallelism.attention_data;
        Self {
            role,
            order: match scheduler.policy {
                SchedulePolicy::Fifo => Order::Fifo,
                SchedulePolicy::Lpm => Order::LongestPrefix,
            },
            max_prefill_tokens: scheduler.max_prefill_tokens,
            chunk: scheduler.chunked_prefill_size / u64::from(ranks.max(1)),
            clip: scheduler.clip_max_new_tokens,
            first_ratio: Self::ratio_of(scheduler.conservativeness, ranks),
            interval: u64::from(worker.scheduler.prefill_decode_interval),
            max_running: worker.scheduler.max_sequences,
            page: worker.kv_cache.block_size.get(),
            pages: blocks.get(),
            context_limit: job.context_limit().map(Tokens::get),
            prefix_caching: worker.kv_cache.prefix_caching,
            compat: job.engine.compat,
            advance: Advance::Each,
            host_loop: scheduler.host_loop,
            drafts: None,
        }
    }

    /// Returns the first ratio of a conservativeness on one of `ranks` ranks of a worker.
    fn ratio_of(conservativeness: f64, ranks: u32) -> f64 {
        let share = if ranks > 1 { conservativeness * PARALLEL_SHARE } else { conservativeness };
        FIRST_RATIO * share
    }

    /// Returns the least ratio.
    pub(super) fn least_ratio(&self) -> f64 {
        self.first_ratio * LEAST_SHARE
    }

    /// Returns the ratio of the next pass after a decode pass with this one.
    pub(super) fn decayed(&self, ratio: f64) -> f64 {
        let step = (self.first_ratio - self.least_ratio()) / DECAY_PASSES;
        (ratio - step).max(self.least_ratio())
    }

    /// Returns what counts as a use of a cached prefix.
    pub(super) fn refresh(&self) -> Refresh {
        match self.compat {
            Compat::V0_13_0 => Refresh::Whole,
            Compat::Dev87 => Refresh::Part,
        }
    }

    /// Returns whether every full page of output is cached while its request runs; otherwise output is cached when it ends.
    pub(super) fn caches_output_at_once(&self) -> bool {
        self.prefix_caching && self.compat == Compat::V0_13_0
    }

    /// Returns whether decodes may advance as a group: nothing happens to memory but that pages fill.
    pub(super) fn may_group(&self) -> bool {
        self.advance == Advance::Grouped && !self.caches_output_at_once() && !self.host_loop
    }

    /// Returns the tokens that one forward yields at the most for a request.
    pub(super) fn burst(&self) -> u64 {
        1 + self.drafts.map_or(0, |drafts| drafts.count())
    }

    /// Returns the pages that hold `tokens` tokens.
    pub(super) fn pages_for(&self, tokens: u64) -> u64 {
        tokens.div_ceil(u64::from(self.page))
    }

    /// Returns the pages that `tokens` tokens fill.
    pub(super) fn full_pages(&self, tokens: u64) -> u64 {
        tokens / u64::from(self.page)
    }
}
