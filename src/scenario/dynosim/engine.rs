//! `engine`.

use crate::deployment::{
    Backend, ContextLength, Deployment, Drafter, KvTransfer, Planner, Router, Speculation,
    TransferTiming, Worker, WorkerRole, Workers,
};
use crate::units::Tokens;

use super::decoder::{Fields, Real, Report, Whole, real_of};
use super::field::{Field, not_covered, nullable, value};
use super::prediction::TraceFormat;
use super::source::SourceKind;
use super::worker::{self, Stated};
use crate::scenario::written::Data;

/// Fields of `engine`.
const ENGINE: &[Field] = &[
    value("mode"),
    value("model"),
    value("hardware"),
    value("backend"),
    nullable("backend_version"),
    value("context_length"),
    value("nextn"),
    not_covered("nextn_accepted"),
    nullable("enable_chunked_prefill"),
    value("enable_eplb"),
    nullable("speculation"),
    not_covered("database_mode"),
    not_covered("transfer_policy"),
    not_covered("systems_paths"),
    not_covered("estimation_mode"),
    value("fallback_policy"),
    not_covered("estimator_config"),
    value("workers"),
    nullable("kv_transfer"),
    not_covered("afd"),
];
/// Fields of `engine.workers`.
const WORKERS: &[Field] =
    &[nullable("aggregated"), nullable("prefill"), nullable("decode"), not_covered("encoder")];
/// Fields of `engine.speculation`.
const SPECULATION: &[Field] =
    &[value("kind"), value("num_speculative_tokens"), value("acceptance_rates"), value("seed")];
/// Fields of `engine.kv_transfer`.
const KV_TRANSFER: &[Field] =
    &[value("bytes_per_token"), nullable("bandwidth_gb_per_second"), value("timing_mode")];

/// The modes of the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Aggregated,
    Disaggregated,
    Afd,
}

/// Returns the deployment; nothing where it is wrong. `traffic` is what the source is, for rules across sections.
pub(super) fn decode(
    root: &Fields<'_>,
    traffic: Option<SourceKind>,
    report: &mut Report,
) -> Option<Deployment> {
    if !root.states("engine") {
        root.missing("engine", "a prediction describes what serves", report);
        return None;
    }
    let engine = root.section("engine", ENGINE, report)?;
    let mode = mode(&engine, report);
    let model = required_text(&engine, "model", report);
    let hardware = required_text(&engine, "hardware", report);
    let backends = [Backend::Vllm, Backend::Sglang, Backend::Trtllm].map(|b| (b.name(), b));
    let backend = if engine.states("backend") {
        engine.word("backend", &backends, report)
    } else {
        Some(Backend::Vllm)
    };
    check_uncovered(&engine, report);
    if mode == Some(Mode::Disaggregated)
        && traffic == Some(SourceKind::Trace(TraceFormat::MooncakeDelta))
    {
        engine.conflict("mode", "must be `aggregated` for a `mooncake-delta` trace", report);
    }
    let context_length = context_length(&engine, report);
    let chunked = engine.flag("enable_chunked_prefill", report);
    if backend == Some(Backend::Sglang) && chunked == Some(false) {
        let why = "must be true for the backend `sglang`, which always computes prompts in chunks";
        engine.conflict("enable_chunked_prefill", why, report);
    }
    let speculation = speculation(&engine, backend, report);
    let kv_transfer = kv_transfer(&engine, mode, report);
    let workers = workers(&engine, mode?, backend, report)?;
    check_backend_version(&engine, &workers, report);
    Some(Deployment {
        model: model?,
        hardware: hardware?,
        backend: backend?,
        backend_version: engine.text("backend_version", report).map(str::to_owned),
        context_length: context_length?,
        enable_chunked_prefill: chunked,
        speculation,
        workers,
        kv_transfer,
        router: Router::RoundRobin,
        planner: Planner::Disabled,
    })
}

fn mode(engine: &Fields<'_>, report: &mut Report) -> Option<Mode> {
    if !engine.states("mode") {
        return Some(Mode::Aggregated);
    }
    let modes = [
        ("aggregated", Mode::Aggregated),
        ("disaggregated", Mode::Disaggregated),
        ("afd", Mode::Afd),
    ];
    let mode = engine.word("mode", &modes, report)?;
    if mode == Mode::Afd {
        report.not_covered(engine.entry_place("mode"), "`engine.mode: afd`");
    }
    Some(mode)
}

fn required_text(engine: &Fields<'_>, name: &'static str, report: &mut Report) -> Option<String> {
    if !engine.states(name) {
        engine.missing(name, "it has no default", report);
    }
    engine.text(name, report).map(str::to_owned)
}

/// Reports the knobs whose neutral value alone is covered.
fn check_uncovered(engine: &Fields<'_>, report: &mut Report) {
    if engine.whole("nextn", Whole::between(0, 5), report).is_some_and(|drafts| drafts > 0) {
        report.not_covered(engine.entry_place("nextn"), "`engine.nextn` above 0");
    }
    if engine.flag("enable_eplb", report) == Some(true) {
        report.not_covered(engine.entry_place("enable_eplb"), "`engine.enable_eplb`");
    }
    if engine.text("fallback_policy", report).is_some_and(|policy| policy != "deny") {
        let what = "an `engine.fallback_policy` other than `deny`";
        report.not_covered(engine.entry_place("fallback_policy"), what);
    }
}

/// Reports a version that no timing reads.
fn check_backend_version(engine: &Fields<'_>, workers: &Workers, report: &mut Report) {
    let stated = |worker: &Worker| worker.timing.kind() != "default";
    let all_stated = match workers {
        Workers::Aggregated(worker) => stated(worker),
        Workers::Disaggregated { prefill, decode } => stated(prefill) && stated(decode),
    };
    if all_stated {
        let why = "selects `default` timing tables, and no worker uses them";
        engine.conflict("backend_version", why, report);
    }
}

fn context_length(engine: &Fields<'_>, report: &mut Report) -> Option<ContextLength> {
    match engine.entry("context_length").map(|entry| &entry.value.data) {
        None => Some(ContextLength::Max),
        Some(Data::Text(text)) if text == "max" => Some(ContextLength::Max),
        Some(_) => engine
            .whole("context_length", Whole::POSITIVE, report)
            .map(|tokens| ContextLength::Tokens(Tokens::new(tokens))),
    }
}

fn speculation(
    engine: &Fields<'_>,
    backend: Option<Backend>,
    report: &mut Report,
) -> Option<Speculation> {
    let fields = engine.section("speculation", SPECULATION, report)?;
    if backend.is_some_and(|backend| backend != Backend::Vllm) {
        engine.conflict("speculation", "needs the backend `vllm`", report);
    }
    for name in ["kind", "num_speculative_tokens", "acceptance_rates"] {
        if !fields.states(name) {
            fields.missing(name, "it has no default", report);
        }
    }
    fields.word("kind", &[("ngram", ())], report)?;
    let tokens = fields.whole_32("num_speculative_tokens", Whole::between(1, 5), report)?;
    let items = fields.items("acceptance_rates", report)?;
    let at = fields.at("acceptance_rates");
    let rates: Vec<f64> =
        items.iter().filter_map(|item| real_of(item, Real::Share, &at, report)).collect();
    if u32::try_from(items.len()) != Ok(tokens) {
        let why = format!("has {} rates for {tokens} drafts", items.len());
        fields.conflict("acceptance_rates", &why, report);
    }
    let seed = fields.whole("seed", Whole::ANY, report).unwrap_or(42);
    Some(Speculation { drafter: Drafter::Ngram, tokens, acceptance_rates: rates, seed })
}

fn kv_transfer(engine: &Fields<'_>, mode: Option<Mode>, report: &mut Report) -> Option<KvTransfer> {
    if mode == Some(Mode::Aggregated) {
        engine.conflict("kv_transfer", "needs `engine.mode: disaggregated`", report);
    }
    let fields = engine.section("kv_transfer", KV_TRANSFER, report)?;
    let modes = [
        ("destination_missing", TransferTiming::DestinationMissing),
        ("full_prompt", TransferTiming::FullPrompt),
    ];
    let bandwidth_gb_per_second = fields.real("bandwidth_gb_per_second", Real::Positive, report);
    Some(KvTransfer {
        bytes_per_token: worker::bytes_per_token(&fields, report),
        bandwidth_gb_per_second,
        // One figure is that of both roles' links.
        decode_bandwidth_gb_per_second: bandwidth_gb_per_second,
        fallback_latency_ms: 0.0,
        timing_mode: fields
            .word("timing_mode", &modes, report)
            .unwrap_or(TransferTiming::DestinationMissing),
    })
}

/// Returns the workers that the mode asks for, and reports the others.
fn workers(
    engine: &Fields<'_>,
    mode: Mode,
    backend: Option<Backend>,
    report: &mut Report,
) -> Option<Workers> {
    if !engine.states("workers") {
        engine.missing("workers", "a deployment has workers", report);
        return None;
    }
    let workers = engine.section("workers", WORKERS, report)?;
    match mode {
        Mode::Aggregated => {
            for name in ["prefill", "decode"] {
                workers.conflict(name, "needs `engine.mode: disaggregated`", report);
            }
            let stated = Stated { role: WorkerRole::Aggregated, backend };
            role(&workers, "aggregated", stated, report).map(Workers::Aggregated)
        }
        Mode::Disaggregated => {
            workers.conflict("aggregated", "needs `engine.mode: aggregated`", report);
            let prefill = Stated { role: WorkerRole::Prefill, backend };
            let prefill = role(&workers, "prefill", prefill, report);
            let decode = Stated { role: WorkerRole::Decode, backend };
            let decode = role(&workers, "decode", decode, report);
            let (prefill, decode) = prefill.zip(decode)?;
            Some(Workers::Disaggregated { prefill, decode })
        }
        Mode::Afd => None,
    }
}

/// Decodes the worker of one role.
fn role(
    workers: &Fields<'_>,
    name: &'static str,
    stated: Stated,
    report: &mut Report,
) -> Option<Worker> {
    if !workers.states(name) {
        workers.missing(name, "the mode needs it", report);
        return None;
    }
    worker::decode(&workers.section(name, worker::WORKER, report)?, stated, report)
}
