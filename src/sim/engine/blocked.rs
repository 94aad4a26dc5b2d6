//! Why the first request of a rank can never go on.

use crate::deployment::WorkerRole;
use crate::diag::Advice;
use crate::sim::ticket::Ticket;

/// A request that keeps its rank from doing anything, and why.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocked {
    /// The request.
    pub(crate) ticket: Ticket,
    /// Why.
    pub(crate) cause: Cause,
}

/// Why a request cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its prompt is longer than a pass, and is not computed in parts.
    WholePrompt {
        /// Tokens of the prompt.
        prompt: u64,
        /// Tokens that a pass computes at the most.
        budget: u64,
    },
    /// It needs blocks that others hold, or more than there are.
    Blocks {
        /// Blocks that it needs.
        needed: u64,
        /// Blocks that nobody holds.
        free: u64,
        /// All blocks of the rank.
        capacity: u64,
    },
    /// A chunk of a prompt on one rank is less than a block.
    Chunk {
        /// Tokens of a chunk.
        chunk: u64,
        /// Tokens of a block.
        block: u64,
    },
    /// What a chunk is charged exceeds the prompt tokens of a pass.
    PrefillTokens {
        /// Tokens that it is charged: whole blocks.
        charged: u64,
        /// Prompt tokens of a pass at the most.
        most: u64,
    },
    /// Its prompt with what is set aside for its output exceeds the memory that admission counts on.
    Memory {
        /// Tokens of the chunk, in whole blocks.
        charged: u64,
        /// Output tokens that are set aside.
        reserved: u64,
        /// Tokens of memory.
        reachable: u64,
    },
}

impl Cause {
    /// Returns what the request needs and what there is, as a clause whose subject is the request.
    pub(crate) fn told(self) -> String {
        match self {
            Self::WholePrompt { prompt, budget } => format!(
                "has a prompt of {prompt} tokens that is not computed in parts, and a pass computes at most {budget}"
            ),
            Self::Blocks { needed, free, capacity } if needed <= free => format!(
                "goes no further: it needs {needed} KV blocks, and {free} of the {capacity} that there are can be had"
            ),
            Self::Blocks { needed, free, capacity } => format!(
                "needs {needed} KV blocks, and {free} of the {capacity} that there are can be had"
            ),
            Self::Chunk { chunk, block } => format!(
                "is computed in chunks of whole blocks, and a rank's chunk has {chunk} tokens of a block of {block}"
            ),
            Self::PrefillTokens { charged, most } => format!(
                "is charged {charged} tokens for its next chunk, and a pass takes at most {most} prompt tokens"
            ),
            Self::Memory { charged, reserved, reachable } => format!(
                "needs more than {} tokens of KV cache ({charged} to compute, {reserved} set aside for its output), and {reachable} can be had",
                charged + reserved
            ),
        }
    }

    /// Returns what to change of a worker.
    pub(crate) fn advice(self, role: WorkerRole) -> Advice {
        let setting = |path: &str| format!("worker.{}.{path}", role.name());
        match self {
            Self::WholePrompt { prompt, .. } => Advice::new(
                setting("scheduler.max-batched-tokens"),
                format!(
                    "raise `max-batched-tokens` to at least {prompt}, or let prompts be computed in parts: `enable-chunked-prefill #true`"
                ),
            ),
            Self::Blocks { needed, capacity, .. } => Advice::new(
                setting("kv-cache.capacity"),
                if needed > capacity {
                    format!("give each rank at least {needed} blocks, or send shorter requests")
                } else {
                    format!(
                        "give each rank more than {capacity} blocks, or let fewer requests run at once"
                    )
                },
            ),
            Self::Chunk { block, .. } => Advice::new(
                setting("scheduler.chunked-prefill-size"),
                format!(
                    "the ranks of a worker share `chunked-prefill-size`: give each at least {block} tokens"
                ),
            ),
            Self::PrefillTokens { charged, .. } => Advice::new(
                setting("scheduler.max-prefill-tokens"),
                format!(
                    "raise `max-prefill-tokens` to at least {charged}, or lower `chunked-prefill-size`"
                ),
            ),
            Self::Memory { charged, reserved, .. } => Advice::new(
                setting("kv-cache.capacity"),
                format!(
                    "give each rank more than {} tokens, or lower `clip-max-new-tokens`",
                    charged + reserved
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_says_need_and_supply_and_its_advice_names_the_setting() {
        let cause = Cause::WholePrompt { prompt: 100, budget: 50 };
        assert!(cause.told().contains("100 tokens") && cause.told().contains("at most 50"));
        let advice = cause.advice(WorkerRole::Aggregated);
        assert_eq!(advice.setting, "worker.aggregated.scheduler.max-batched-tokens");
        assert!(advice.help.contains("at least 100"), "{}", advice.help);
        let held = Cause::Blocks { needed: 4, free: 1, capacity: 6 }.advice(WorkerRole::Decode);
        assert!(held.help.contains("more than 6 blocks"), "others hold them: {}", held.help);
    }
}
