//! One worker of `engine.workers`.

use crate::deployment::{
    Backend, Efficiency, Parallelism, Preemption, Scheduler, SglangScheduler, Speedup, Timing,
    Worker, WorkerRole,
};
use crate::scenario::bounds;
use crate::units::Tokens;

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, nullable, value};
use super::kv_cache;
use crate::scenario::written::Data;

/// Fields of a worker.
pub(super) const WORKER: &[Field] = &[
    nullable("hardware"),
    value("parallelism"),
    value("scheduler"),
    value("kv_cache"),
    value("timing"),
    value("startup_seconds"),
];
/// Fields of `parallelism`.
const PARALLELISM: &[Field] = &[
    value("replicas"),
    value("tensor"),
    value("pipeline"),
    value("attention_data"),
    value("moe_tensor"),
    value("moe_expert"),
    nullable("prefill_context"),
    nullable("decode_context"),
];
/// Fields of `scheduler`.
const SCHEDULER: &[Field] = &[
    value("max_batched_tokens"),
    value("max_sequences"),
    value("prefill_schedule_interval"),
    value("prefill_decode_interval"),
];
/// Fields of `timing`.
const TIMING: &[Field] = &[
    value("type"),
    nullable("prefill_ms"),
    nullable("decode_ms"),
    nullable("name"),
    nullable("compute_efficiency"),
    nullable("memory_efficiency"),
    nullable("link_efficiency"),
    nullable("overhead_ms"),
];

/// What defaults and rules of a worker depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stated {
    /// The worker's role.
    pub(super) role: WorkerRole,
    /// The engine family, where it is a known one; its rules are not applied otherwise.
    pub(super) backend: Option<Backend>,
}

/// Returns the worker; nothing where it is wrong.
pub(super) fn decode(fields: &Fields<'_>, stated: Stated, report: &mut Report) -> Option<Worker> {
    let hardware = fields.text("hardware", report).map(str::to_owned);
    let parallelism = parallelism(fields, report);
    let scheduler = scheduler(fields, stated, report);
    let kv_cache = kv_cache::decode(fields, stated.backend, report);
    let timing = timing(fields, report);
    let startup = fields.real("startup_seconds", Real::NotNegative, report);
    let (parallelism, scheduler, kv_cache) = (parallelism?, scheduler?, kv_cache?);
    if stated.backend == Some(Backend::Sglang) {
        let (chunk, size) = (scheduler.sglang.chunked_prefill_size, kv_cache.block_size);
        let excess = bounds::chunk_excess(chunk, size, parallelism.attention_data);
        fields.too_much(&["kv_cache", "parallelism"], excess, report);
    }
    Some(Worker {
        hardware,
        parallelism,
        scheduler,
        kv_cache,
        timing: timing?,
        // The public configuration has no such field.
        speedup: Speedup::default(),
        startup_seconds: startup.unwrap_or(0.0),
    })
}

fn parallelism(worker: &Fields<'_>, report: &mut Report) -> Option<Parallelism> {
    if !worker.states("parallelism") {
        return Some(Parallelism::default());
    }
    let fields = worker.section("parallelism", PARALLELISM, report)?;
    for name in ["prefill_context", "decode_context"] {
        if fields.whole_32(name, Whole::POSITIVE_32, report).is_some_and(|factor| factor > 1) {
            let what = format!("`{}` above 1", fields.at(name));
            report.not_covered(fields.entry_place(name), &what);
        }
    }
    let mut factor = |name: &'static str| fields.whole_32(name, Whole::FACTOR, report).unwrap_or(1);
    let parallelism = Parallelism {
        replicas: factor("replicas"),
        tensor: factor("tensor"),
        pipeline: factor("pipeline"),
        attention_data: factor("attention_data"),
        moe_tensor: factor("moe_tensor"),
        moe_expert: factor("moe_expert"),
        prefill_context: 1,
    };
    let excess = bounds::rank_excess(parallelism.replicas, parallelism.attention_data);
    fields.too_much(&["replicas", "attention_data"], excess, report);
    Some(parallelism)
}

fn scheduler(worker: &Fields<'_>, stated: Stated, report: &mut Report) -> Option<Scheduler> {
    let mut scheduler = Scheduler {
        max_batched_tokens: Tokens::new(8192),
        max_sequences: stated.role.default_max_sequences(),
        prefill_schedule_interval: 1,
        prefill_decode_interval: 0,
        // The public configuration has no such field; the engine's own default applies.
        preemption: Preemption::default(),
        sglang: SglangScheduler::default(),
    };
    if !worker.states("scheduler") {
        return Some(scheduler);
    }
    let fields = worker.section("scheduler", SCHEDULER, report)?;
    if let Some(tokens) = fields.whole("max_batched_tokens", Whole::POSITIVE, report) {
        scheduler.max_batched_tokens = Tokens::new(tokens);
    }
    if let Some(sequences) = fields.whole("max_sequences", Whole::POSITIVE, report) {
        scheduler.max_sequences = sequences;
    }
    let every = fields.whole_32("prefill_schedule_interval", Whole::POSITIVE_32, report);
    let between = fields.whole_32("prefill_decode_interval", Whole::ANY_32, report);
    scheduler.prefill_schedule_interval = every.unwrap_or(1);
    scheduler.prefill_decode_interval = between.unwrap_or(0);
    if scheduler.prefill_schedule_interval != 1
        && stated.backend.is_some_and(|backend| backend != Backend::Vllm)
    {
        fields.conflict("prefill_schedule_interval", "belongs to the backend `vllm`", report);
    }
    if scheduler.prefill_decode_interval != 0
        && stated.backend.is_some_and(|backend| backend != Backend::Sglang)
    {
        fields.conflict("prefill_decode_interval", "belongs to the backend `sglang`", report);
    }
    Some(scheduler)
}

/// The types of timing, each with the fields that belong to it. `table` and `roofline` are this program's own.
const TYPES: [(&str, &[&str]); 5] = [
    ("default", &[]),
    ("fixed", &["prefill_ms", "decode_ms"]),
    ("polynomial", &[]),
    ("table", &["name"]),
    ("roofline", &["compute_efficiency", "memory_efficiency", "link_efficiency", "overhead_ms"]),
];

fn timing(worker: &Fields<'_>, report: &mut Report) -> Option<Timing> {
    if !worker.states("timing") {
        return Some(Timing::Default);
    }
    let fields = worker.section("timing", TIMING, report)?;
    let words = TYPES.map(|(word, _)| (word, word));
    let stated =
        if fields.states("type") { fields.word("type", &words, report)? } else { "default" };
    for (owner, names) in TYPES.iter().filter(|(owner, _)| *owner != stated) {
        for name in *names {
            fields.conflict(name, &format!("belongs to `{owner}` timing"), report);
        }
    }
    match stated {
        "fixed" => fixed(&fields, report),
        "polynomial" => Some(Timing::Polynomial),
        "table" => {
            if !fields.states("name") {
                fields.missing("name", "`table` timing names a pinned table", report);
            }
            Some(Timing::Table { pin: fields.text("name", report)?.to_owned() })
        }
        "roofline" => Some(Timing::Roofline(efficiency(&fields, report))),
        _ => Some(Timing::Default),
    }
}

/// Returns `fixed` timing; nothing where a part is missing.
fn fixed(fields: &Fields<'_>, report: &mut Report) -> Option<Timing> {
    for name in ["prefill_ms", "decode_ms"] {
        if !fields.states(name) {
            fields.missing(name, "`fixed` timing needs both parts", report);
        }
    }
    let prefill = fields.real("prefill_ms", Real::NotNegative, report);
    let decode = fields.real("decode_ms", Real::NotNegative, report);
    Some(Timing::Fixed { prefill_ms: prefill?, decode_ms: decode? })
}

/// Returns the efficiencies of `roofline` timing.
fn efficiency(fields: &Fields<'_>, report: &mut Report) -> Efficiency {
    let mut share = |name| fields.real(name, Real::ShareAboveZero, report).unwrap_or(1.0);
    let (compute, memory, link) =
        (share("compute_efficiency"), share("memory_efficiency"), share("link_efficiency"));
    let overhead_ms = fields.real("overhead_ms", Real::NotNegative, report).unwrap_or(0.0);
    Efficiency { compute, memory, link, overhead_ms }
}

/// Returns the KV bytes of a token where a number is stated; `auto` is the model's.
pub(super) fn bytes_per_token(fields: &Fields<'_>, report: &mut Report) -> Option<u64> {
    let entry = fields.entry("bytes_per_token")?;
    if matches!(&entry.value.data, Data::Text(text) if text == "auto") {
        return None;
    }
    fields.whole("bytes_per_token", Whole::POSITIVE, report)
}
