//! Times from a model's shape and a GPU's rates.

use crate::deployment::{Efficiency, Parallelism};
use crate::pin::{Attention, ModelPin};
use crate::plan::RooflineInput;

use super::{DecodeWork, PassTiming, PrefillWork};

/// Bytes of one activation: bf16.
const ACTIVATION_BYTES: f64 = 2.0;

/// A pass takes, for each kind of work, the longer of computing it and moving its bytes, one kind after the other.
///
/// Kinds: the layers' matrices, the output head, attention; with tensor parallelism two ring all-reduces a layer on top. A
/// matrix costs two operations a weight and token, and its weights are read once a pass; attention costs two operations for each
/// number of a score and of a value, and reads the KV of the length; a ring all-reduce moves 2·(t − 1)/t of its bytes over
/// each link. Stages of a pipeline follow one another, so a pipeline shortens no pass. Rates are the hardware pin's times the
/// stated efficiencies; with all of them 1 no real pass is faster.
///
/// Source: Williams, Waterman, Patterson, "Roofline" (CACM 52(4), 2009); operations of a transformer: Kaplan et al., arXiv
/// 2001.08361 §2.1; all-reduce: Thakur, Rabenseifner, Gropp (2005) §4.4.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RooflineTiming {
    rates: Rates,
    work: Work,
    overhead_ms: f64,
}

/// What the hardware does in a second, efficiencies included.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Operations on weights.
    weight_flops: f64,
    /// Operations of attention.
    attention_flops: f64,
    /// Bytes of memory.
    memory: f64,
    /// Bytes of the link, each way.
    link: f64,
}

/// What a rank does, for a token or a pass.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// Weights that a token meets in all layers.
    weights_met: f64,
    /// Bytes of dense weights that each pass reads in all layers.
    dense_bytes: f64,
    /// The experts.
    experts: Option<Routed>,
    /// Weights of the output head, and their bytes.
    head: (f64, f64),
    /// Operations of a pair of positions in all layers, when a prompt is computed and when a token is.
    pair_flops: (f64, f64),
    /// KV bytes of a token on the rank.
    kv_bytes: f64,
    /// Bytes of a token that each link carries in all layers.
    link_bytes: f64,
}

/// Routed experts of a rank.
#[derive(Debug, Clone, Copy)]
struct Routed {
    /// Experts of a layer.
    count: f64,
    /// Experts that the tokens of all ranks of a pass choose, for one token of this rank.
    chosen: f64,
    /// Bytes of one expert in all layers on the rank that has its share of it.
    bytes: f64,
}

impl RooflineTiming {
    /// Returns the timing of a model on a GPU.
    pub(crate) fn new(
        input: &RooflineInput,
        parallelism: &Parallelism,
        efficiency: Efficiency,
    ) -> Self {
        let (model, hardware) = (&input.model, &input.hardware);
        let flops = |dtype| {
            let tera = hardware.dense_tflops.get(dtype).copied();
            tera.expect("formats without a rate are refused before") * 1e12 * efficiency.compute
        };
        let rates = Rates {
            weight_flops: flops(&model.weights),
            attention_flops: flops(&model.kv),
            memory: hardware.memory_gb_per_second * 1e9 * efficiency.memory,
            link: hardware.interconnect.gb_per_second_each_way * 1e9 * efficiency.link,
        };
        let work = Work::new(model, parallelism);
        Self { rates, work, overhead_ms: efficiency.overhead_ms }
    }

    /// Returns the seconds of what `tokens` tokens of `requests` requests need beside attention.
    fn matrices(&self, tokens: f64, requests: f64) -> f64 {
        let (work, rates) = (&self.work, &self.rates);
        let experts = work
            .experts
            .map_or(0.0, |routed| routed.count.min(tokens * routed.chosen) * routed.bytes);
        let layers = longer(
            2.0 * tokens * work.weights_met / rates.weight_flops,
            (work.dense_bytes + experts) / rates.memory,
        );
        let (weights, bytes) = work.head;
        let head = longer(2.0 * requests * weights / rates.weight_flops, bytes / rates.memory);
        layers + head + tokens * work.link_bytes / rates.link
    }
}

impl PassTiming for RooflineTiming {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn prefill_ms(&self, work: PrefillWork) -> f64 {
        let (requests, new) = (work.requests as f64, work.mean_new() as f64);
        let prefix = work.mean_prefix() as f64;
        let pairs = requests * (new * prefix + new * (new + 1.0) / 2.0);
        let attention = longer(
            pairs * self.work.pair_flops.0 / self.rates.attention_flops,
            requests * (prefix + new) * self.work.kv_bytes / self.rates.memory,
        );
        (self.matrices(requests * new, requests) + attention) * 1e3 + self.overhead_ms
    }

    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn decode_ms(&self, work: DecodeWork) -> f64 {
        let (requests, context) = (work.requests as f64, work.context_tokens as f64);
        let attention = longer(
            context * self.work.pair_flops.1 / self.rates.attention_flops,
            context * self.work.kv_bytes / self.rates.memory,
        );
        (self.matrices(requests, requests) + attention) * 1e3 + self.overhead_ms
    }
}

impl Work {
    #[expect(clippy::cast_precision_loss, reason = "widths and bytes are far below 2^53")]
    fn new(model: &ModelPin, parallelism: &Parallelism) -> Self {
        let (tensor, layers) = (f64::from(parallelism.tensor), model.layers as f64);
        let hidden = model.hidden as f64;
        let width = model.weights.bits() as f64 / 8.0;
        let (attention, pair_flops) = attention(model);
        let experts = model.experts;
        let routed_layers = experts.map_or(0.0, |experts| layers - experts.dense_layers as f64);
        let dense =
            3.0 * hidden * model.intermediate.unwrap_or(0) as f64 * (layers - routed_layers);
        let one = experts.map_or(0.0, |experts| 3.0 * hidden * experts.intermediate as f64);
        let shared = experts.map_or(0.0, |experts| experts.shared as f64) * one * routed_layers;
        let active = experts.map_or(0.0, |experts| experts.active as f64) * one * routed_layers;
        let always = layers * attention + dense + shared;
        let ranks = f64::from(parallelism.moe_tensor) * f64::from(parallelism.moe_expert);
        let head = model.vocabulary as f64 * hidden / tensor;
        let whole = Parallelism { pipeline: 1, ..*parallelism };
        Self {
            weights_met: (always + active) / tensor,
            dense_bytes: always * width / tensor,
            experts: experts.map(|experts| Routed {
                count: experts.count as f64,
                chosen: experts.active as f64 * f64::from(parallelism.attention_data),
                bytes: one * routed_layers * width / ranks,
            }),
            head: (head, head * width),
            pair_flops: (pair_flops.0 * layers / tensor, pair_flops.1 * layers / tensor),
            kv_bytes: model.kv_bytes_per_token(&whole) as f64,
            link_bytes: 2.0 * layers * 2.0 * (tensor - 1.0) / tensor * hidden * ACTIVATION_BYTES,
        }
    }
}

/// Returns the weights of one layer's attention, and its operations for a pair of positions: of a prompt, and of one token.
///
/// Latent attention computes a prompt on the heads' own keys and values, and a token on the compressed vector itself
/// (DeepSeek-V2, arXiv 2405.04434, §2.1).
#[expect(clippy::cast_precision_loss, reason = "widths are far below 2^53")]
fn attention(model: &ModelPin) -> (f64, (f64, f64)) {
    let hidden = model.hidden as f64;
    match model.attention {
        Attention::Grouped { heads, kv_heads, head_size } => {
            let (heads, size) = (heads as f64, head_size as f64);
            let weights = hidden * size * (2.0 * heads + 2.0 * kv_heads as f64);
            let pair = 4.0 * heads * size;
            (weights, (pair, pair))
        }
        Attention::Latent {
            heads,
            kv_lora_rank,
            q_lora_rank,
            rope_head_size,
            nope_head_size,
            value_head_size,
        } => {
            let (heads, latent, asking) = (heads as f64, kv_lora_rank as f64, q_lora_rank as f64);
            let rope = rope_head_size as f64;
            let (nope, value) = (nope_head_size as f64, value_head_size as f64);
            let weights = hidden * (asking + latent + rope)
                + asking * heads * (nope + rope)
                + latent * heads * (nope + value)
                + heads * value * hidden;
            let of_prompt = 2.0 * heads * (nope + rope + value);
            let of_token = 2.0 * heads * (2.0 * latent + rope);
            (weights, (of_prompt, of_token))
        }
    }
}

/// Returns the longer of computing and moving.
fn longer(computing: f64, moving: f64) -> f64 {
    computing.max(moving)
}

#[cfg(test)]
mod tests;
