//! How many KV blocks fit beside a model: what a capacity of type `default` means.
//!
//! Source: the reference's capacity estimate. The rule was found from its answers (`tests/fixtures/timing/capacity.json.gz`) and gives
//! each of them to the byte.

use crate::deployment::{Backend, Parallelism};
use crate::units::{BlockSize, Blocks, Tokens};

use super::{Attention, Dtype, Experts, HardwarePin, ModelPin};

/// Memory of CUDA contexts and libraries, in bytes; a fifth more on SGLang.
const RUNTIME_BYTES: f64 = 3_758_096_384.0;
/// Bytes of one number of bf16: embeddings, routers and activations are of it whatever the weights are.
const WIDE: f64 = 2.0;

/// What a worker asks the memory of one rank for.
#[derive(Debug, Clone, Copy)]
pub struct KvRequest<'a> {
    /// The engine.
    pub backend: Backend,
    /// The ranks.
    pub parallelism: &'a Parallelism,
    /// Tokens that a pass computes at the most: activations grow with them.
    pub max_batched_tokens: Tokens,
    /// Share of memory: of all of it on vLLM and SGLang, of what is free on TensorRT-LLM.
    pub memory_fraction: f64,
    /// Bytes kept for CUDA graphs.
    pub cuda_graph_reserved_bytes: u64,
    /// Tokens of a block.
    pub block_size: BlockSize,
}

/// What takes a rank's memory before its KV cache does, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// Weights.
    pub weights: f64,
    /// Activations of the largest pass.
    pub activations: f64,
    /// CUDA contexts and libraries.
    pub runtime: f64,
    /// Buffers of collectives.
    pub collectives: f64,
}

/// Why no capacity follows.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum CapacityError {
    /// The estimate knows activations of some widths only.
    #[error("the estimate of activations knows `tensor` 1, 2, 4 and from 8 on, found {tensor}")]
    TensorWidth {
        /// The width.
        tensor: u32,
    },
    /// Experts spread over other ranks than attention does.
    #[error(
        "`moe-tensor` times `moe-expert` ({experts}) must be `tensor` times `attention-data` ({attention}) for a model with experts"
    )]
    MoeWidth {
        /// Ranks of the experts.
        experts: u32,
        /// Ranks of attention.
        attention: u32,
    },
    /// Nothing is left.
    #[error(
        "no KV block fits: the engine may use {usable} of {memory} bytes of memory (`memory-fraction` {share}), and {used} are taken before"
    )]
    NothingLeft {
        /// Bytes that weights, activations, buffers and graphs take before.
        used: u64,
        /// Bytes of which the share is taken.
        memory: u64,
        /// Bytes that the engine may use by its share.
        usable: u64,
        /// The share.
        share: f64,
    },
}

/// Checks that experts spread over as many ranks as attention does; a model without experts passes.
///
/// # Errors
/// [`CapacityError::MoeWidth`] with both widths.
pub(super) fn check_moe(model: &ModelPin, parallelism: &Parallelism) -> Result<(), CapacityError> {
    let experts = parallelism.moe_tensor.saturating_mul(parallelism.moe_expert);
    let attention = parallelism.tensor.saturating_mul(parallelism.attention_data);
    if model.experts.is_some() && experts != attention {
        return Err(CapacityError::MoeWidth { experts, attention });
    }
    Ok(())
}

impl ModelPin {
    /// Checks that experts spread over as many ranks as attention does.
    ///
    /// # Errors
    /// [`CapacityError::MoeWidth`] with both widths.
    pub fn check_moe(&self, parallelism: &Parallelism) -> Result<(), CapacityError> {
        check_moe(self, parallelism)
    }

    /// Returns the KV blocks of one rank.
    ///
    /// vLLM: memory · fraction − all else. TensorRT-LLM: (memory − all else) · fraction. SGLang: (memory − runtime −
    /// collectives) · fraction − weights − CUDA graphs, its activations fit in what the fraction leaves. Bytes become whole
    /// tokens, tokens whole blocks.
    ///
    /// # Errors
    /// [`CapacityError`] where the estimate has no answer or nothing is left.
    pub fn kv_blocks(
        &self,
        hardware: &HardwarePin,
        request: &KvRequest<'_>,
    ) -> Result<Blocks, CapacityError> {
        let taken = self.footprint(request)?;
        #[expect(clippy::cast_precision_loss, reason = "memories are far below 2^53 bytes")]
        let (memory, graphs) =
            (hardware.memory_bytes as f64, request.cuda_graph_reserved_bytes as f64);
        let share = request.memory_fraction;
        let others = taken.weights + taken.runtime + taken.collectives;
        let (used, bytes) = match request.backend {
            Backend::Vllm => {
                let used = others + taken.activations + graphs;
                (used, memory * share - used)
            }
            Backend::Trtllm => {
                let used = others + taken.activations + graphs;
                (used, (memory - used) * share)
            }
            Backend::Sglang => {
                let before = taken.runtime + taken.collectives;
                let used = others - before + graphs;
                (used, (memory - before) * share - used)
            }
        };
        let per_token = self.pool_bytes_per_token(request.parallelism);
        let blocks = floor(bytes / per_token) / u64::from(request.block_size.get());
        if bytes <= 0.0 || blocks == 0 {
            let (usable, memory) = (floor((bytes + used).max(0.0)), hardware.memory_bytes);
            return Err(CapacityError::NothingLeft { used: floor(used), memory, usable, share });
        }
        Ok(Blocks::new(blocks))
    }

    /// Returns the number format of the pool that an estimate sizes: floats of eight bits and less keep their KV in eight.
    pub fn pool_dtype(&self) -> Dtype {
        match self.weights {
            Dtype::Fp8 | Dtype::Fp4 => Dtype::Fp8,
            Dtype::Bf16 | Dtype::Fp16 | Dtype::Int8 | Dtype::Tf32 => self.kv,
        }
    }

    /// Returns the bytes of one token in the pool that an estimate sizes.
    ///
    /// Stages of a pipeline hold all layers' KV there, which is the estimate's own: what a token costs elsewhere is
    /// [`ModelPin::kv_bytes_per_token`].
    #[expect(clippy::cast_precision_loss, reason = "bytes of a token are far below 2^53")]
    fn pool_bytes_per_token(&self, parallelism: &Parallelism) -> f64 {
        let whole = Parallelism { pipeline: 1, ..*parallelism };
        let pool = Self { kv: self.pool_dtype(), ..self.clone() };
        pool.kv_bytes_per_token(&whole) as f64
    }

    /// Returns what takes a rank's memory before its KV cache does.
    ///
    /// # Errors
    /// [`CapacityError::TensorWidth`] and [`CapacityError::MoeWidth`].
    pub fn footprint(&self, request: &KvRequest<'_>) -> Result<Footprint, CapacityError> {
        self.check_moe(request.parallelism)?;
        let (runtime, floor_mib, more) = match request.backend {
            Backend::Vllm | Backend::Trtllm => (RUNTIME_BYTES, 70.0, 1.0),
            Backend::Sglang => (RUNTIME_BYTES * 1.2, 90.0, 1.15),
        };
        let activations = self.activation_bytes(request)?.max(floor_mib * 1024.0 * 1024.0) * more;
        let collectives = match request.parallelism.tensor {
            1 => 0.0,
            2 => 358_612_992.0,
            _ => 411_041_792.0,
        };
        let weights = self.weight_bytes(request.backend, request.parallelism);
        Ok(Footprint { weights, activations, runtime, collectives })
    }

    /// Returns the activations of the largest pass: so many numbers a token and unit of width, measured by engine and family,
    /// and for latent attention the room in which tokens are sorted by expert.
    #[expect(clippy::cast_precision_loss, reason = "tokens and widths are far below 2^53")]
    fn activation_bytes(&self, request: &KvRequest<'_>) -> Result<f64, CapacityError> {
        let tokens = request.max_batched_tokens.get() as f64;
        let tensor = request.parallelism.tensor;
        let by_width: [f64; 3] = match (request.backend, self.experts.is_some()) {
            (Backend::Vllm | Backend::Trtllm, false) => [11.0, 6.5, 5.0],
            (Backend::Vllm | Backend::Trtllm, true) => [22.0, 13.0, 10.0],
            (Backend::Sglang, false) => [14.0, 8.5, 6.5],
            (Backend::Sglang, true) => [28.0, 17.0, 13.0],
        };
        let [one, two, more] = by_width;
        let numbers = match tensor {
            1 => one,
            2 => two,
            4 | 8.. => more,
            0 | 3 | 5..=7 => return Err(CapacityError::TensorWidth { tensor }),
        };
        let (width, sorting) = match (self.attention, self.experts) {
            (Attention::Grouped { heads, head_size, .. }, _) => ((heads * head_size) as f64, 0.0),
            (Attention::Latent { .. }, None) => (self.hidden as f64, 0.0),
            (Attention::Latent { .. }, Some(experts)) => {
                let ranks = f64::from(request.parallelism.attention_data)
                    / f64::from(request.parallelism.moe_expert);
                let pairs = (experts.count * experts.active) as f64;
                (self.hidden as f64, self.hidden as f64 * ranks * pairs / 128.0 * 4.0)
            }
        };
        Ok(WIDE * tokens * width * numbers + tokens * sorting)
    }

    /// Returns the bytes of the weights on one rank of the fullest stage.
    ///
    /// The estimate's own count: norms stay out, of a model with experts one of embedding and output head does, and with latent
    /// attention all engines but SGLang count leading dense layers as layers of experts and hold the embedding whole.
    #[expect(clippy::cast_precision_loss, reason = "weights are far below 2^53 bytes")]
    fn weight_bytes(&self, backend: Backend, parallelism: &Parallelism) -> f64 {
        let tensor = f64::from(parallelism.tensor);
        let stages = f64::from(parallelism.pipeline);
        let layers = self.layers as f64;
        let head = WIDE * self.vocabulary as f64 * self.hidden as f64 / tensor;
        let attention = self.attention_weight_bytes(parallelism);
        let dense = self.dense_weight_bytes() / tensor;
        let Some(experts) = self.experts else {
            return (2.0 * head + layers * (attention + dense)) / stages;
        };
        let expert = self.expert_weight_bytes(experts, parallelism);
        let total = match self.attention {
            Attention::Grouped { .. } => head + layers * (attention + expert),
            Attention::Latent { .. } if backend == Backend::Sglang && parallelism.pipeline == 1 => {
                let leading = experts.dense_layers as f64;
                2.0 * head + layers * attention + (layers - leading) * expert + leading * dense
            }
            Attention::Latent { .. } => head * tensor + head + layers * (attention + expert),
        };
        total / stages
    }

    /// Returns the bytes of a number of the weights.
    #[expect(clippy::cast_precision_loss, reason = "a few bits")]
    fn weight_width(&self) -> f64 {
        self.weights.bits() as f64 / 8.0
    }

    /// Returns the bytes of one layer's attention on one rank.
    #[expect(clippy::cast_precision_loss, reason = "weights are far below 2^53 bytes")]
    fn attention_weight_bytes(&self, parallelism: &Parallelism) -> f64 {
        let (tensor, hidden) = (f64::from(parallelism.tensor), self.hidden as f64);
        let numbers = match self.attention {
            Attention::Grouped { heads, kv_heads, head_size } => {
                let own = kv_heads.div_ceil(u64::from(parallelism.tensor)) as f64;
                let (heads, size) = (heads as f64 / tensor, head_size as f64);
                hidden * size * (heads + 2.0 * own) + heads * size * hidden
            }
            Attention::Latent {
                heads,
                kv_lora_rank,
                q_lora_rank,
                rope_head_size,
                nope_head_size,
                value_head_size,
            } => {
                let heads = heads as f64 / tensor;
                let (q, kv) = (q_lora_rank as f64, kv_lora_rank as f64);
                let whole = hidden * q + hidden * (kv + rope_head_size as f64);
                let asking = q * heads * (nope_head_size + rope_head_size) as f64;
                let key = kv * heads * (nope_head_size + value_head_size) as f64;
                whole + asking + key + heads * value_head_size as f64 * hidden
            }
        };
        numbers * self.weight_width()
    }

    /// Returns the bytes of one dense layer's gated feed-forward part, whole.
    #[expect(clippy::cast_precision_loss, reason = "weights are far below 2^53 bytes")]
    fn dense_weight_bytes(&self) -> f64 {
        let inner = self.intermediate.unwrap_or(0) as f64;
        3.0 * self.hidden as f64 * inner * self.weight_width()
    }

    /// Returns the bytes of one layer's experts and router on one rank; every rank holds the router whole.
    #[expect(clippy::cast_precision_loss, reason = "weights are far below 2^53 bytes")]
    fn expert_weight_bytes(&self, experts: Experts, parallelism: &Parallelism) -> f64 {
        let hidden = self.hidden as f64;
        let one = 3.0 * hidden * experts.intermediate as f64 * self.weight_width();
        let ranks = f64::from(parallelism.moe_tensor) * f64::from(parallelism.moe_expert);
        let routed = experts.count as f64 * one / ranks;
        let shared = experts.shared as f64 * one / f64::from(parallelism.tensor);
        routed + shared + WIDE * hidden * experts.count as f64
    }
}

/// Returns the whole number below, 0 for what is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a saturating floor of bytes or tokens"
)]
fn floor(number: f64) -> u64 {
    number.max(0.0) as u64
}

#[cfg(test)]
mod tests;
