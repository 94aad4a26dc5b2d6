//! Why an engine did not serve a request.

use std::fmt;

use crate::deployment::WorkerRole;
use crate::units::{Blocks, Tokens};

/// Why an engine did not serve a request, by a rule of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The role of the worker whose rank refused.
    pub role: WorkerRole,
    /// The rule.
    pub rule: Rule,
}

/// A rule by which engines refuse requests that they can never serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The prompt reaches the longest sequence that there may be.
    ContextLimit {
        /// Tokens of the prompt.
        prompt: Tokens,
        /// The longest sequence.
        limit: Tokens,
    },
    /// What must be resident at once exceeds the KV blocks of a rank.
    KvBlocks {
        /// Blocks that the request needs, with those of its state where it has one.
        needed: Blocks,
        /// Blocks of the rank.
        capacity: Blocks,
    },
    /// What must be resident at once exceeds the KV bytes of a rank, whose layers share memory by the byte.
    KvBytes {
        /// Bytes that the request needs.
        needed: u64,
        /// Bytes of the rank.
        capacity: u64,
    },
}

impl Rule {
    /// Returns the word of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContextLimit { .. } => "context-limit",
            Self::KvBlocks { .. } => "kv-blocks",
            Self::KvBytes { .. } => "kv-bytes",
        }
    }

    /// Returns what the request needs and the most that there is, in tokens, blocks or bytes.
    pub const fn sizes(self) -> (u64, u64) {
        match self {
            Self::ContextLimit { prompt, limit } => (prompt.get(), limit.get()),
            Self::KvBlocks { needed, capacity } => (needed.get(), capacity.get()),
            Self::KvBytes { needed, capacity } => (needed, capacity),
        }
    }
}

impl Refusal {
    /// Returns the rank in words: `a rank`, or one of a role.
    const fn rank(self) -> &'static str {
        match self.role {
            WorkerRole::Aggregated => "a rank",
            WorkerRole::Prefill => "a prefill rank",
            WorkerRole::Decode => "a decode rank",
        }
    }
}

impl fmt::Display for Refusal {
    /// What the request needs and what there is, as a clause whose subject is the request.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((needed, most), rank) = (self.rule.sizes(), self.rank());
        match self.rule {
            Rule::ContextLimit { .. } => {
                write!(f, "has a prompt of {needed} tokens, and the context limit is {most}")
            }
            Rule::KvBlocks { .. } => {
                write!(f, "needs {needed} KV blocks at once, and {rank} has {most}")
            }
            Rule::KvBytes { .. } => {
                write!(f, "needs {needed} bytes of KV cache at once, and {rank} has {most}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_needed_and_what_there_is() {
        let of = |role, rule| Refusal { role, rule }.to_string();
        let (prompt, limit) = (Tokens::new(100), Tokens::new(50));
        assert_eq!(
            of(WorkerRole::Aggregated, Rule::ContextLimit { prompt, limit }),
            "has a prompt of 100 tokens, and the context limit is 50"
        );
        let (needed, capacity) = (Blocks::new(13), Blocks::new(6));
        assert_eq!(
            of(WorkerRole::Decode, Rule::KvBlocks { needed, capacity }),
            "needs 13 KV blocks at once, and a decode rank has 6"
        );
    }
}
