//! One job as it ran.

use crate::digest::Sha256;
use crate::units::{Blocks, SimTime, Tokens};

use super::{Gaps, HostUse, InstancesRecord, Requests, Spool, StorageUse};

/// One job as it ran.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// Every request that was released, in order of [`RequestRecord::index`](super::RequestRecord::index); requests cut by the time limit have no outcome.
    pub requests: Requests,
    /// The end of the run: the last terminal, or zero without one.
    pub duration: SimTime,
    /// The last instant at which anything happened; later than `duration` only where the run was cut.
    pub ended_at: SimTime,
    /// Every gap between consecutive output tokens of completed requests.
    pub gaps: Gaps,
    /// Prompt tokens actually computed, recomputation included.
    pub committed_prefill: Tokens,
    /// Engine passes.
    pub passes: u64,
    /// What the workers of each role took.
    pub pools: Vec<PoolUse>,
    /// What the host tier held at the end, where there is one.
    pub host: Option<HostUse>,
    /// What the storage tier did, where there is one.
    pub storage: Option<StorageUse>,
    /// The transcript.
    pub transcript: Transcript,
    /// Warnings of the run, for people.
    pub warnings: Vec<String>,
    /// How much of the run was seen.
    pub witness: Witness,
    /// What lanes ran, where they began plays in their middle.
    pub instances: Option<Box<InstancesRecord>>,
}

/// How much of a run was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Witness {
    /// All of it, by the simulator itself.
    #[default]
    Whole,
    /// What an engine tells of requests that ended. Passes, gaps between tokens, blocks and links stay its own: fields for them hold
    /// nothing, and nothing is reported of them.
    Requests {
        /// Requests that were released and had not ended when the run was cut: the engine counts them and tells nothing else.
        unended: u64,
        /// Whether the engine says how many prompt tokens it computed.
        counts_prefill: bool,
    },
}

impl Witness {
    /// Returns whether all of the run was seen.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Whole)
    }

    /// Returns how many requests had not ended and are not listed.
    pub const fn unlisted(self) -> u64 {
        match self {
            Self::Whole => 0,
            Self::Requests { unended, .. } => unended,
        }
    }

    /// Returns whether it is known how many prompt tokens were computed.
    pub const fn counts_prefill(self) -> bool {
        match self {
            Self::Whole => true,
            Self::Requests { counts_prefill, .. } => counts_prefill,
        }
    }
}

/// What the workers of one role took.
#[derive(Debug, Clone)]
pub struct PoolUse {
    /// `agg`, `prefill` or `decode`.
    pub pool: &'static str,
    /// GPUs a worker.
    pub gpus_per_worker: u64,
    /// Workers that were there from start to end.
    pub workers: u64,
    /// KV blocks of one rank.
    pub blocks_per_rank: Blocks,
    /// Ranks of all workers: each has its own KV blocks.
    pub ranks: u64,
    /// KV blocks held when the run ended, over all ranks: 0 unless it was cut.
    pub blocks_held_at_end: Blocks,
    /// KV blocks that cache a prefix and that nobody held when the run ended, over all ranks.
    pub blocks_cached_at_end: Blocks,
    /// KV blocks with nothing in them when the run ended, over all ranks.
    pub blocks_free_at_end: Blocks,
    /// The most KV blocks held at once by one rank.
    pub blocks_held_peak: Blocks,
    /// Preemptions.
    pub preemptions: u64,
}

/// The ordered events of a run, one canonical JSON line each.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// How many lines.
    pub count: u64,
    /// SHA-256 over the lines, as `sha256sum events.jsonl` prints it.
    pub digest: Sha256,
    /// The lines themselves, where they were asked for.
    pub lines: Option<Spool>,
}
