//! Replicas and ranks.

use crate::digest::canonical::{Value, object};

/// How many replicas there are and how each spreads over GPUs; every factor is at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Workers.
    pub replicas: u32,
    /// Tensor parallelism.
    pub tensor: u32,
    /// Pipeline parallelism.
    pub pipeline: u32,
    /// Attention data parallelism: ranks with a scheduler of their own that run passes in step.
    pub attention_data: u32,
    /// Tensor parallelism of the experts.
    pub moe_tensor: u32,
    /// Expert parallelism.
    pub moe_expert: u32,
    /// Context parallelism of prefill: more GPUs, no other effect.
    pub prefill_context: u32,
}

impl Default for Parallelism {
    fn default() -> Self {
        Self {
            replicas: 1,
            tensor: 1,
            pipeline: 1,
            attention_data: 1,
            moe_tensor: 1,
            moe_expert: 1,
            prefill_context: 1,
        }
    }
}

impl Parallelism {
    /// Returns the GPUs of one worker: tensor · pipeline · attention data · prefill context.
    pub fn gpus_per_worker(&self) -> u64 {
        [self.tensor, self.pipeline, self.attention_data, self.prefill_context]
            .into_iter()
            .map(u64::from)
            .fold(1, u64::saturating_mul)
    }

    /// Returns the canonical description.
    pub(super) fn canonical(self) -> Value {
        let count = |factor: u32| Value::count(u64::from(factor));
        object([
            ("attention_data", count(self.attention_data)),
            ("moe_expert", count(self.moe_expert)),
            ("moe_tensor", count(self.moe_tensor)),
            ("pipeline", count(self.pipeline)),
            ("replicas", count(self.replicas)),
            ("tensor", count(self.tensor)),
        ])
        .with("prefill_context", (self.prefill_context != 1).then(|| count(self.prefill_context)))
    }
}
