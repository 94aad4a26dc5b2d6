//! What SGLang's scheduler takes beside what all have.

use crate::digest::canonical::{Value, object};

/// What SGLang's prefill passes take. The defaults are the engine's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SglangScheduler {
    /// The order of the waiting queue.
    pub policy: SchedulePolicy,
    /// Prompt tokens of a prefill pass at the most, counted in pages.
    pub max_prefill_tokens: u64,
    /// Tokens of a prompt that one pass computes at the most, before ranks share them.
    pub chunked_prefill_size: u64,
    /// Output tokens that a request is counted with at the most when memory is promised.
    pub clip_max_new_tokens: u64,
    /// Multiplies the share of output that is promised; 0 and above.
    pub conservativeness: f64,
    /// Whether the scheduler prepares a pass while the one before it computes, and so sees its tokens one pass later.
    pub host_loop: bool,
}

/// The order of SGLang's waiting queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SchedulePolicy {
    /// As requests come.
    #[default]
    Fifo,
    /// The longest cached prefix first, while the queue is short.
    Lpm,
}

impl Default for SglangScheduler {
    fn default() -> Self {
        Self {
            policy: SchedulePolicy::Fifo,
            max_prefill_tokens: 16_384,
            chunked_prefill_size: 8_192,
            clip_max_new_tokens: 4_096,
            conservativeness: 1.0,
            host_loop: false,
        }
    }
}

impl SchedulePolicy {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lpm => "lpm",
        }
    }
}

impl SglangScheduler {
    /// Returns the canonical description, or `None` for the defaults.
    pub(super) fn canonical(self) -> Option<Value> {
        (self != Self::default()).then(|| {
            let host_loop = self.host_loop.then_some(Value::Bool(true));
            object([
                ("chunked_prefill_size", Value::count(self.chunked_prefill_size)),
                ("clip_max_new_tokens", Value::count(self.clip_max_new_tokens)),
                ("conservativeness", Value::real(self.conservativeness)),
                ("max_prefill_tokens", Value::count(self.max_prefill_tokens)),
                ("policy", Value::text(self.policy.name())),
            ])
            .with("host_loop", host_loop)
        })
    }
}
