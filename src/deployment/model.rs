//! The deployment: mode, backend and workers.

use crate::digest::canonical::{Value, object};
use crate::units::Tokens;

use super::{KvCache, Parallelism, Planner, Router, SglangScheduler, Speedup, Timing};

/// What serves the requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// The model's pin name.
    pub model: String,
    /// The hardware's pin name.
    pub hardware: String,
    /// Which engine family the workers imitate.
    pub backend: Backend,
    /// The engine's version, where timing tables depend on it.
    pub backend_version: Option<String>,
    /// The longest sequence a request may reach.
    pub context_length: ContextLength,
    /// Whether a prompt may be computed over several passes; the engine's default where absent.
    pub enable_chunked_prefill: Option<bool>,
    /// Speculative decoding.
    pub speculation: Option<Speculation>,
    /// The workers, by mode.
    pub workers: Workers,
    /// How KV moves between prefill and decode workers.
    pub kv_transfer: Option<KvTransfer>,
    /// Who chooses the worker of a request.
    pub router: Router,
    /// Who changes the number of workers.
    pub planner: Planner,
}

/// Aggregated, or prefill and decode apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each worker prefills and decodes.
    Aggregated,
    /// Two pools with a handoff.
    Disaggregated,
}

/// The workers of each role.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one value a job: the difference is nothing")]
pub enum Workers {
    /// One pool.
    Aggregated(Worker),
    /// Two pools.
    Disaggregated {
        /// Computes prompts.
        prefill: Worker,
        /// Produces tokens.
        decode: Worker,
    },
}

/// What a worker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerRole {
    /// Prefills and decodes.
    Aggregated,
    /// Computes prompts.
    Prefill,
    /// Produces tokens.
    Decode,
}

/// An engine family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// TensorRT-LLM.
    Trtllm,
}

/// The longest sequence a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextLength {
    /// The model pin's limit.
    Max,
    /// This many tokens.
    Tokens(Tokens),
    /// None: a sequence grows as long as its request asks.
    Unlimited,
}

/// Speculative decoding.
#[derive(Debug, Clone, PartialEq)]
pub struct Speculation {
    /// Where drafts come from.
    pub drafter: Drafter,
    /// Drafts a pass, 1 to 5.
    pub tokens: u32,
    /// The acceptance rate of each draft where all before it were accepted, 0 to 1; as many as drafts.
    pub acceptance_rates: Vec<f64>,
    /// The seed of the acceptance draws.
    pub seed: u64,
}

/// Where the drafts of speculative decoding come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafter {
    /// The prompt itself.
    Ngram,
    /// The model's own prediction of several tokens.
    Mtp,
}

/// One pool's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// Hardware of this role where it differs from the deployment's.
    pub hardware: Option<String>,
    /// Ranks and replicas.
    pub parallelism: Parallelism,
    /// What a pass may hold.
    pub scheduler: Scheduler,
    /// The KV cache.
    pub kv_cache: KvCache,
    /// How long a pass takes.
    pub timing: Timing,
    /// What modelled times are divided by.
    pub speedup: Speedup,
    /// How long a worker that is added takes to become ready, in seconds.
    pub startup_seconds: f64,
}

/// What a pass may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduler {
    /// Tokens a pass computes at the most.
    pub max_batched_tokens: Tokens,
    /// Requests that run at the most.
    pub max_sequences: u64,
    /// vLLM with attention data parallelism: prefill joins every n-th pass.
    pub prefill_schedule_interval: u32,
    /// SGLang: decode passes between prefill passes.
    pub prefill_decode_interval: u32,
    /// vLLM: who gives way when memory lacks.
    pub preemption: Preemption,
    /// SGLang: what its prefill passes take.
    pub sglang: SglangScheduler,
}

/// Which running request gives way when memory lacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preemption {
    /// The one admitted last.
    #[default]
    Lifo,
    /// The one admitted first.
    Fifo,
}

/// How KV moves between prefill and decode workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KvTransfer {
    /// Bytes of one token's KV; the model's where absent.
    pub bytes_per_token: Option<u64>,
    /// Decimal gigabytes a second of each prefill rank's link; no transfer time where absent or 0.
    pub bandwidth_gb_per_second: Option<f64>,
    /// The same of each decode rank's link; no limit there where absent or 0.
    pub decode_bandwidth_gb_per_second: Option<f64>,
    /// Which tokens are charged.
    pub timing_mode: TransferTiming,
    /// What a handoff takes where bytes or bandwidth are not stated, in milliseconds.
    pub fallback_latency_ms: f64,
}

/// Which tokens a transfer is charged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferTiming {
    /// Blocks the destination lacks.
    DestinationMissing,
    /// The whole prompt.
    FullPrompt,
}

impl Deployment {
    /// Returns the mode that the workers imply.
    pub const fn mode(&self) -> Mode {
        match self.workers {
            Workers::Aggregated(_) => Mode::Aggregated,
            Workers::Disaggregated { .. } => Mode::Disaggregated,
        }
    }

    /// Returns the workers of each role, in the order of the mode's roles.
    pub fn workers_by_role(&self) -> Vec<(WorkerRole, &Worker)> {
        match &self.workers {
            Workers::Aggregated(worker) => vec![(WorkerRole::Aggregated, worker)],
            Workers::Disaggregated { prefill, decode } => {
                vec![(WorkerRole::Prefill, prefill), (WorkerRole::Decode, decode)]
            }
        }
    }

    /// Returns the canonical description that enters a job key. Pin names stay out: their digests enter beside it.
    pub fn canonical(&self) -> Value {
        let text_or_null = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::text);
        object([
            ("backend", Value::text(self.backend.name())),
            ("backend_version", text_or_null(&self.backend_version)),
            (
                "context_length",
                match self.context_length {
                    ContextLength::Max => Value::text("max"),
                    ContextLength::Tokens(tokens) => tokens.into(),
                    ContextLength::Unlimited => Value::text("unlimited"),
                },
            ),
            (
                "enable_chunked_prefill",
                self.enable_chunked_prefill.map_or(Value::Null, Value::Bool),
            ),
            ("kv_transfer", self.kv_transfer.as_ref().map_or(Value::Null, KvTransfer::canonical)),
            ("planner", self.planner.canonical()),
            ("router", self.router.canonical()),
            ("speculation", self.speculation.as_ref().map_or(Value::Null, Speculation::canonical)),
            ("workers", self.workers.canonical()),
        ])
    }
}

impl Mode {
    /// Returns the roles that the mode has, in the order of their pools.
    pub const fn roles(self) -> &'static [WorkerRole] {
        match self {
            Self::Aggregated => &[WorkerRole::Aggregated],
            Self::Disaggregated => &[WorkerRole::Prefill, WorkerRole::Decode],
        }
    }

    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregated => "aggregated",
            Self::Disaggregated => "disaggregated",
        }
    }
}

impl WorkerRole {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aggregated => "aggregated",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }

    /// Returns the default of `max-sequences` for the role.
    pub const fn default_max_sequences(self) -> u64 {
        match self {
            Self::Prefill => 1,
            Self::Aggregated | Self::Decode => 256,
        }
    }
}

impl Backend {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::Trtllm => "trtllm",
        }
    }

    /// Returns the default block size in tokens.
    pub const fn default_block_size(self) -> u32 {
        match self {
            Self::Vllm => 64,
            Self::Sglang => 1,
            Self::Trtllm => 32,
        }
    }

    /// Returns the default share of memory for a derived KV capacity.
    pub const fn default_memory_fraction(self) -> f64 {
        match self {
            Self::Vllm | Self::Trtllm => 0.9,
            Self::Sglang => 0.88,
        }
    }
}

impl Workers {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        match self {
            Self::Aggregated(worker) => object([("aggregated", worker.canonical())]),
            Self::Disaggregated { prefill, decode } => {
                object([("decode", decode.canonical()), ("prefill", prefill.canonical())])
            }
        }
    }
}

impl Worker {
    /// Returns the canonical description. What was added to it later stays out where it says nothing: old keys stand.
    fn canonical(&self) -> Value {
        object([
            ("kv_cache", self.kv_cache.canonical()),
            ("parallelism", self.parallelism.canonical()),
            ("scheduler", self.scheduler.canonical()),
            ("startup_seconds", Value::real(self.startup_seconds)),
            ("timing", self.timing.canonical()),
        ])
        .with("speedup", self.speedup.canonical())
    }
}

impl Scheduler {
    /// Returns the canonical description.
    ///
    /// SGLang's own settings stand in it where they are not the defaults, so that they change no other job's key.
    fn canonical(self) -> Value {
        object([
            ("max_batched_tokens", self.max_batched_tokens.into()),
            ("max_sequences", Value::count(self.max_sequences)),
            ("prefill_decode_interval", Value::count(u64::from(self.prefill_decode_interval))),
            ("prefill_schedule_interval", Value::count(u64::from(self.prefill_schedule_interval))),
            ("preemption", Value::text(self.preemption.name())),
        ])
        .with("sglang", self.sglang.canonical())
    }
}

impl Preemption {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lifo => "lifo",
            Self::Fifo => "fifo",
        }
    }
}

impl Drafter {
    /// Returns the word of the scenario language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ngram => "ngram",
            Self::Mtp => "mtp",
        }
    }
}

impl Speculation {
    /// The acceptance rates of multi-token prediction where none are stated; later drafts are never accepted.
    pub const MTP_RATES: [f64; 2] = [0.85, 0.3];

    /// Returns multi-token prediction with `tokens` drafts: missing rates are 0, rates without a draft are ignored.
    ///
    /// Source: spec/SIMULATION.md §2.1, `aic_nextn_accept_rates`.
    pub fn mtp(tokens: u32, rates: &[f64], seed: u64) -> Self {
        let rates = rates.iter().copied().chain(std::iter::repeat(0.0));
        let acceptance_rates = rates.take(usize::try_from(tokens).unwrap_or(usize::MAX)).collect();
        Self { drafter: Drafter::Mtp, tokens, acceptance_rates, seed }
    }

    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            (
                "acceptance_rates",
                Value::List(self.acceptance_rates.iter().copied().map(Value::real).collect()),
            ),
            ("drafter", Value::text(self.drafter.name())),
            ("seed", Value::wide(self.seed)),
            ("tokens", Value::count(u64::from(self.tokens))),
        ])
    }
}

impl Default for KvTransfer {
    /// Returns a transfer that takes no time.
    fn default() -> Self {
        Self {
            bytes_per_token: None,
            bandwidth_gb_per_second: None,
            decode_bandwidth_gb_per_second: None,
            timing_mode: TransferTiming::DestinationMissing,
            fallback_latency_ms: 0.0,
        }
    }
}

impl KvTransfer {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            (
                "bandwidth_gb_per_second",
                self.bandwidth_gb_per_second.map_or(Value::Null, Value::real),
            ),
            ("bytes_per_token", self.bytes_per_token.map_or(Value::Null, Value::count)),
            (
                "timing_mode",
                Value::text(match self.timing_mode {
                    TransferTiming::DestinationMissing => "destination-missing",
                    TransferTiming::FullPrompt => "full-prompt",
                }),
            ),
        ])
        .with(
            "decode_bandwidth_gb_per_second",
            (self.decode_bandwidth_gb_per_second != self.bandwidth_gb_per_second)
                .then(|| self.decode_bandwidth_gb_per_second.map_or(Value::Null, Value::real)),
        )
        .with(
            "fallback_latency_ms",
            (self.fallback_latency_ms > 0.0).then(|| Value::real(self.fallback_latency_ms)),
        )
    }
}
