//! `rank`: the settings of one scheduler.

use crate::deployment::{
    Backend, Capacity, ContextLength, Eviction, KvCache, Preemption, SchedulePolicy, Scheduler,
    SglangScheduler, Speculation, Speedup, Timing, TransferTiming,
};
use crate::scenario::bounds;
use crate::units::{BlockSize, Blocks, Tokens};

use super::super::decoder::{Fields, Real, Report, Whole};
use super::super::field::{Field, not_covered, nullable, value};
use super::document::refuse;
use super::engine::Part;
use super::{groups, kv_cache};
use crate::scenario::written::Data;

/// Fields of a rank.
pub(super) const RANK: &[Field] = &[
    value("backend"),
    value("num_gpu_blocks"),
    nullable("block_size"),
    nullable("max_model_len"),
    nullable("max_num_seqs"),
    nullable("max_num_batched_tokens"),
    value("prefill_schedule_interval"),
    value("prefill_decode_interval"),
    value("enable_prefix_caching"),
    value("enable_chunked_prefill"),
    value("speedup_ratio"),
    value("decode_speedup_ratio"),
    nullable("aic_nextn"),
    nullable("aic_nextn_accept_rates"),
    value("aic_mtp_seed"),
    value("worker_type"),
    value("preemption_mode"),
    value("emit_kv_events"),
    value("emit_kv_token_ids"),
    nullable("kv_transfer_bytes_per_token"),
    nullable("kv_bytes_per_token"),
    nullable("kv_cache_bytes_per_token"),
    value("kv_cache_groups"),
    nullable("kv_cache_capacity_bytes"),
    nullable("native_host_offload"),
    nullable("g3_offload"),
    not_covered("kvcr"),
    nullable("state_cache"),
    nullable("prefix_match_unit"),
    nullable("kv_transfer_bandwidth"),
    value("kv_transfer_timing_mode"),
    value("timing_model"),
    value("sglang"),
    value("trtllm"),
    not_covered("frontend"),
    value("vision"),
];
/// Fields of `sglang`.
const SGLANG: &[Field] = &[
    value("schedule_policy"),
    value("max_prefill_tokens"),
    value("chunked_prefill_size"),
    value("clip_max_new_tokens"),
    value("schedule_conservativeness"),
    value("vlm_cache_bytes"),
    value("host_loop"),
];
/// Fields of `trtllm`.
const TRTLLM: &[Field] = &[value("capacity_scheduler_policy")];
/// Fields of `timing_model`.
const TIMING: &[Field] =
    &[value("type"), value("prefill_ms"), value("decode_ms"), value("provider"), value("config")];
/// KV blocks where none are stated.
const BLOCKS: u64 = 16_384;

/// The settings of one scheduler.
#[derive(Debug, Clone)]
pub(super) struct Rank {
    /// The engine family.
    pub(super) backend: Backend,
    /// The longest sequence.
    pub(super) context_length: ContextLength,
    /// Whether a prompt may be computed over several passes.
    pub(super) chunked_prefill: bool,
    /// What a pass may hold.
    pub(super) scheduler: Scheduler,
    /// The KV cache.
    pub(super) kv_cache: KvCache,
    /// How long a pass takes.
    pub(super) timing: Timing,
    /// What modelled times are divided by.
    pub(super) speedup: Speedup,
    /// Drafts.
    pub(super) speculation: Option<Speculation>,
    /// Bytes of a token that is handed over.
    pub(super) transfer_bytes: Option<u64>,
    /// Decimal gigabytes a second of the rank's link.
    pub(super) transfer_bandwidth: Option<f64>,
    /// Which tokens are charged.
    pub(super) transfer_timing: TransferTiming,
}

impl Default for Rank {
    fn default() -> Self {
        Self::of(Backend::Vllm)
    }
}

impl Rank {
    /// Returns the defaults of an engine family.
    fn of(backend: Backend) -> Self {
        let size = BlockSize::new(backend.default_block_size()).expect("defaults are above 0");
        Self {
            backend,
            context_length: ContextLength::Unlimited,
            chunked_prefill: true,
            scheduler: Scheduler {
                max_batched_tokens: Tokens::new(8192),
                max_sequences: 256,
                prefill_schedule_interval: 1,
                prefill_decode_interval: 0,
                preemption: Preemption::Lifo,
                sglang: SglangScheduler::default(),
            },
            kv_cache: KvCache {
                block_size: size,
                prefix_caching: true,
                bytes_per_token: None,
                capacity: Capacity::Blocks(Blocks::new(BLOCKS)),
                host_offload: None,
                storage_offload: None,
                state_cache: None,
                groups: Vec::new(),
                prefix_match_unit: None,
                eviction: Eviction::Lru,
            },
            timing: Timing::Polynomial,
            speedup: Speedup::default(),
            speculation: None,
            transfer_bytes: None,
            transfer_bandwidth: None,
            transfer_timing: TransferTiming::FullPrompt,
        }
    }
}

/// Returns the eviction policy of an engine.
pub(super) fn eviction(engine: &Fields<'_>, report: &mut Report) -> Option<Eviction> {
    if !engine.states("kv_eviction_policy") {
        return Some(Eviction::Lru);
    }
    let policies = [Eviction::Lru, Eviction::Belady].map(|policy| (policy.name(), policy));
    engine.word("kv_eviction_policy", &policies, report)
}

/// Returns the settings; nothing where they are wrong.
pub(super) fn decode(fields: &Fields<'_>, part: Part, report: &mut Report) -> Option<Rank> {
    let backends = [Backend::Vllm, Backend::Sglang, Backend::Trtllm].map(|b| (b.name(), b));
    let backend = if fields.states("backend") {
        fields.word("backend", &backends, report)?
    } else {
        Backend::Vllm
    };
    let mut rank = Rank::of(backend);
    if let Some(tokens) = fields.whole("max_model_len", Whole::POSITIVE, report) {
        rank.context_length = ContextLength::Tokens(Tokens::new(tokens));
    }
    rank.chunked_prefill = fields.flag("enable_chunked_prefill", report).unwrap_or(true);
    if backend == Backend::Sglang && !rank.chunked_prefill {
        fields.conflict("enable_chunked_prefill", "cannot be false with `sglang`", report);
    }
    kv_cache::decode(fields, part, &mut rank, report);
    groups::decode(fields, part, &mut rank, report);
    scheduler(fields, &mut rank, report);
    timing(fields, &mut rank, report);
    rank.speculation = speculation(fields, report);
    transfer(fields, part, &mut rank, report);
    check_ignored(fields, report);
    Some(rank)
}

fn scheduler(fields: &Fields<'_>, rank: &mut Rank, report: &mut Report) {
    let backend = rank.backend;
    let scheduler = &mut rank.scheduler;
    // Null is no limit.
    let mut limit = |name: &'static str, default: u64| {
        if fields.is_null(name) {
            return u64::MAX;
        }
        fields.whole(name, Whole::POSITIVE, report).unwrap_or(default)
    };
    scheduler.max_sequences = limit("max_num_seqs", 256);
    scheduler.max_batched_tokens = Tokens::new(limit("max_num_batched_tokens", 8192));
    let every = fields.whole_32("prefill_schedule_interval", Whole::POSITIVE_32, report);
    let between = fields.whole_32("prefill_decode_interval", Whole::ANY_32, report);
    scheduler.prefill_schedule_interval = every.unwrap_or(1);
    scheduler.prefill_decode_interval = between.unwrap_or(0);
    if scheduler.prefill_schedule_interval != 1 && backend != Backend::Vllm {
        fields.conflict("prefill_schedule_interval", "belongs to the backend `vllm`", report);
    }
    if scheduler.prefill_decode_interval != 0 && backend != Backend::Sglang {
        fields.conflict("prefill_decode_interval", "belongs to the backend `sglang`", report);
    }
    let modes = [Preemption::Lifo, Preemption::Fifo].map(|mode| (mode.name(), mode));
    if let Some(mode) = fields.word("preemption_mode", &modes, report) {
        scheduler.preemption = mode;
    }
    if let Some(sglang) = sglang(fields, report) {
        scheduler.sglang = sglang;
    }
    let (chunk, page) = (scheduler.sglang.chunked_prefill_size, rank.kv_cache.block_size.get());
    if backend == Backend::Sglang && !chunk.is_multiple_of(u64::from(page)) {
        let why = format!(
            "needs a `chunked_prefill_size` of whole pages: {chunk} is no multiple of {page}"
        );
        let name = if fields.states("sglang") { "sglang" } else { "block_size" };
        refuse(fields, name, &why, report);
    }
    if let Some(trtllm) = fields.section("trtllm", TRTLLM, report) {
        let _only =
            trtllm.word("capacity_scheduler_policy", &[("guaranteed_no_evict", ())], report);
    }
}

fn sglang(fields: &Fields<'_>, report: &mut Report) -> Option<SglangScheduler> {
    let fields = fields.section("sglang", SGLANG, report)?;
    let mut sglang = SglangScheduler::default();
    let policies =
        [SchedulePolicy::Fifo, SchedulePolicy::Lpm].map(|policy| (policy.name(), policy));
    if let Some(policy) = fields.word("schedule_policy", &policies, report) {
        sglang.policy = policy;
    }
    if let Some(tokens) = fields.whole("max_prefill_tokens", Whole::POSITIVE, report) {
        sglang.max_prefill_tokens = tokens;
    }
    if let Some(tokens) = fields.whole("chunked_prefill_size", Whole::POSITIVE, report) {
        sglang.chunked_prefill_size = tokens;
    }
    if let Some(tokens) =
        fields.whole("clip_max_new_tokens", Whole::between(0, bounds::EXACT), report)
    {
        sglang.clip_max_new_tokens = tokens;
    }
    if let Some(factor) = fields.real("schedule_conservativeness", Real::NotNegative, report) {
        sglang.conservativeness = factor;
    }
    let _images = fields.whole("vlm_cache_bytes", Whole::ANY, report);
    sglang.host_loop = fields.flag("host_loop", report).unwrap_or(false);
    Some(sglang)
}

/// The kinds of timing.
#[derive(Clone, Copy)]
enum Kind {
    Polynomial,
    Fixed,
    External,
}

fn timing(fields: &Fields<'_>, rank: &mut Rank, report: &mut Report) {
    if let Some(all) = fields.real("speedup_ratio", Real::NotNegative, report) {
        rank.speedup.all = all;
    }
    if let Some(decode) = fields.real("decode_speedup_ratio", Real::NotNegative, report) {
        rank.speedup.decode = decode;
    }
    let Some(model) = fields.lenient_section("timing_model", TIMING, report) else { return };
    if !model.states("type") {
        model.missing("type", "it is `polynomial` or `fixed`", report);
    }
    let kinds =
        [("polynomial", Kind::Polynomial), ("fixed", Kind::Fixed), ("external", Kind::External)];
    match model.word("type", &kinds, report) {
        None | Some(Kind::Polynomial) => {}
        Some(Kind::External) => {
            report.not_covered(model.entry_place("type"), "`timing_model` of type `external`");
        }
        Some(Kind::Fixed) => {
            for name in ["prefill_ms", "decode_ms"] {
                if !model.states(name) {
                    model.missing(name, "`fixed` timing needs both parts", report);
                }
            }
            let prefill = model.real("prefill_ms", Real::NotNegative, report);
            let decode = model.real("decode_ms", Real::NotNegative, report);
            if let (Some(prefill_ms), Some(decode_ms)) = (prefill, decode) {
                rank.timing = Timing::Fixed { prefill_ms, decode_ms };
            }
        }
    }
}

fn speculation(fields: &Fields<'_>, report: &mut Report) -> Option<Speculation> {
    let seed = fields.whole("aic_mtp_seed", Whole::ANY, report).unwrap_or(42);
    if !fields.states("aic_nextn") {
        fields.conflict("aic_nextn_accept_rates", "needs `aic_nextn`", report);
        return None;
    }
    let tokens = fields.whole_32("aic_nextn", Whole::between(1, 5), report)?;
    let speedup = fields.real("decode_speedup_ratio", Real::NotNegative, report);
    if speedup.is_some_and(|ratio| (ratio - 1.0).abs() > 0.0) {
        fields.conflict("decode_speedup_ratio", "must be 1 beside `aic_nextn`", report);
    }
    let rates = match fields.entry("aic_nextn_accept_rates").map(|entry| &entry.value.data) {
        None => Speculation::MTP_RATES.to_vec(),
        Some(Data::Text(text)) if text.trim().is_empty() => Speculation::MTP_RATES.to_vec(),
        Some(Data::Text(text)) => {
            let rate = |text: &str| {
                text.trim().parse().ok().filter(|rate: &f64| (0.0..=1.0).contains(rate))
            };
            let rates: Option<Vec<f64>> = text.split(',').map(rate).collect();
            let Some(rates) = rates else {
                let why = "lists no rates from 0 to 1 with commas between";
                refuse(fields, "aic_nextn_accept_rates", why, report);
                return None;
            };
            rates
        }
        Some(_) => {
            let _wrong = fields.text("aic_nextn_accept_rates", report);
            return None;
        }
    };
    Some(Speculation::mtp(tokens, &rates, seed))
}

fn transfer(fields: &Fields<'_>, part: Part, rank: &mut Rank, report: &mut Report) {
    if fields.states("kv_transfer_bytes_per_token") {
        let why = "is another name of `kv_transfer_bytes_per_token`; state one";
        fields.conflict("kv_bytes_per_token", why, report);
    }
    let bytes = fields.whole("kv_transfer_bytes_per_token", Whole::POSITIVE, report);
    rank.transfer_bytes =
        bytes.or_else(|| fields.whole("kv_bytes_per_token", Whole::POSITIVE, report));
    rank.transfer_bandwidth = fields.real("kv_transfer_bandwidth", Real::NotNegative, report);
    let has_bytes =
        fields.states("kv_transfer_bytes_per_token") || fields.states("kv_bytes_per_token");
    if part == Part::Prefill && rank.transfer_bandwidth.is_some_and(|gb| gb > 0.0) && !has_bytes {
        let why = "needs `kv_transfer_bytes_per_token` on prefill workers";
        fields.conflict("kv_transfer_bandwidth", why, report);
    }
    let modes = [
        ("destination_missing", TransferTiming::DestinationMissing),
        ("full_prompt", TransferTiming::FullPrompt),
    ];
    if let Some(mode) = fields.word("kv_transfer_timing_mode", &modes, report) {
        rank.transfer_timing = mode;
    }
}

/// Checks fields without effect here, and refuses values that would have one.
fn check_ignored(fields: &Fields<'_>, report: &mut Report) {
    // The topology gives each rank its role.
    let roles = [("aggregated", ()), ("prefill", ()), ("decode", ())];
    let _role = fields.word("worker_type", &roles, report);
    // Events leave the engine for routers and change nothing in it.
    let events = fields.flag("emit_kv_events", report) == Some(true);
    if fields.flag("emit_kv_token_ids", report) == Some(true) && !events {
        fields.conflict("emit_kv_token_ids", "needs `emit_kv_events`", report);
    }
    if fields.flag("vision", report) == Some(true) {
        report.not_covered(fields.entry_place("vision"), "`vision`");
    }
}
