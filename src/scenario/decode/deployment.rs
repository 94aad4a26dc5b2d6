//! `deployment`.

use std::collections::BTreeMap;

use super::worker;
use crate::deployment::{
    Backend, ContextLength, Deployment, Drafter, KvTransfer, Mode, Planner, PlannerKnob, Router,
    Speculation, TransferTiming, WorkerRole, Workers,
};
use crate::diag::{Bag, Code};
use crate::scenario::cursor::{self, View};
use crate::scenario::scalar::Datum;
use crate::scenario::syntax::Node;
use crate::scenario::table;
use crate::units::Tokens;

/// Decodes a `deployment` node; `None` where the bag says why.
pub fn deployment(node: &Node, bag: &mut Bag) -> Option<Deployment> {
    let view = cursor::check_node(node, &table::DEPLOYMENT, &table::ROOT, bag);
    let mode = view.child("mode").and_then(mode);
    let backend = view.child("backend").and_then(backend);
    let workers = workers(&view, mode, backend, bag);
    let speculation = optional(view.child("speculation"), |view| speculation(view, backend, bag));
    let kv_transfer = optional(view.child("kv-transfer"), |view| kv_transfer(view, mode, bag));
    let planner = view.child("planner").map_or(Some(Planner::Disabled), |view| planner(view, bag));
    refuse_whole_prompts(&view, backend, bag);
    let name =
        |node: &str| view.child(node).and_then(|child| child.text("NAME")).map(str::to_owned);
    Some(Deployment {
        model: name("model")?,
        hardware: name("hardware")?,
        backend: backend?,
        backend_version: view
            .child("backend")
            .and_then(|view| view.text("version"))
            .map(str::to_owned),
        context_length: view
            .child("context-length")
            .map_or(Some(ContextLength::Max), context_length)?,
        enable_chunked_prefill: optional(view.child("enable-chunked-prefill"), |view| {
            view.flag("FLAG")
        })
        .ok()?,
        speculation: speculation.ok()?,
        workers: workers?,
        kv_transfer: kv_transfer.ok()?,
        router: view.child("router").map_or(Some(Router::RoundRobin), router)?,
        planner: planner?,
    })
}

/// Refuses SGLang without chunked prefill: its scheduler has no such mode here, as in the reference.
fn refuse_whole_prompts(view: &View<'_>, backend: Option<Backend>, bag: &mut Bag) {
    let Some(child) = view.child("enable-chunked-prefill") else { return };
    if backend == Some(Backend::Sglang) && child.flag("FLAG") == Some(false) {
        let message = "backend \"sglang\" always computes prompts in chunks";
        bag.push(child.problem(Code::ScenarioBackend, "FLAG", message, "of another backend"));
    }
}

/// A node was refused; the bag says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused;

/// Decodes a node that may be absent.
pub(super) fn optional<'v, 'a, T>(
    view: Option<&'v View<'a>>,
    decode: impl FnOnce(&'v View<'a>) -> Option<T>,
) -> Result<Option<T>, Refused> {
    view.map(|view| decode(view).ok_or(Refused)).transpose()
}

/// Decodes the mode.
fn mode(view: &View<'_>) -> Option<Mode> {
    match view.kind()? {
        "disaggregated" => Some(Mode::Disaggregated),
        _ => Some(Mode::Aggregated),
    }
}

/// Decodes the backend.
fn backend(view: &View<'_>) -> Option<Backend> {
    match view.kind()? {
        "vllm" => Some(Backend::Vllm),
        "sglang" => Some(Backend::Sglang),
        _ => Some(Backend::Trtllm),
    }
}

/// Decodes the context length.
fn context_length(view: &View<'_>) -> Option<ContextLength> {
    match view.datum("TOKENS")? {
        Datum::Count(tokens) => Some(ContextLength::Tokens(Tokens::new(*tokens))),
        Datum::Text(_) | Datum::Real(_) | Datum::Flag(_) | Datum::Reals(_) | Datum::Digest(_) => {
            Some(ContextLength::Max)
        }
    }
}

/// Decodes the workers, whose roles must be those of the mode.
fn workers(
    view: &View<'_>,
    mode: Option<Mode>,
    backend: Option<Backend>,
    bag: &mut Bag,
) -> Option<Workers> {
    let (mode, backend) = (mode?, backend?);
    let roles = mode.roles();
    let mut decoded = Vec::new();
    for role in roles {
        let found = view.all("worker").find(|worker| worker.text("ROLE") == Some(role.name()));
        match found {
            Some(worker) => decoded.push(worker::worker(worker, *role, backend, bag)),
            None => missing_role(view, mode, *role, bag),
        }
    }
    for stranger in view.all("worker") {
        let Some(role) = stranger.text("ROLE") else { continue }; // the checker has complained
        if !roles.iter().any(|known| known.name() == role) {
            let message = format!("mode \"{}\" has no worker \"{role}\"", mode.name());
            let problem = stranger.problem(
                Code::ScenarioWorkerRole,
                "ROLE",
                message,
                "does not fit the mode",
            );
            bag.push(problem.help(format!("it has {}", roles_of(mode))));
        }
    }
    let mut decoded = decoded.into_iter();
    match mode {
        Mode::Aggregated => Some(Workers::Aggregated(decoded.next()??)),
        Mode::Disaggregated => {
            let (prefill, decode) = (decoded.next()?, decoded.next()?);
            Some(Workers::Disaggregated { prefill: prefill?, decode: decode? })
        }
    }
}

/// Returns the roles of a mode in words.
fn roles_of(mode: Mode) -> &'static str {
    match mode {
        Mode::Aggregated => "`worker \"aggregated\"`",
        Mode::Disaggregated => "`worker \"prefill\"` and `worker \"decode\"`",
    }
}

/// Complains of a role without workers; a deployment without any worker is complained of by the checker.
fn missing_role(view: &View<'_>, mode: Mode, role: WorkerRole, bag: &mut Bag) {
    // where a worker of another role stands, that one is complained of, and says the same
    let fits = |worker: &View<'_>| {
        worker.text("ROLE").is_some_and(|own| mode.roles().iter().any(|role| role.name() == own))
    };
    let written = view.child("worker").is_some() && view.all("worker").all(fits);
    if written {
        let message = format!("mode \"{}\" needs a worker \"{}\"", mode.name(), role.name());
        let problem = view.head().problem(Code::ScenarioWorkerRole, message, "missing here");
        bag.push(problem.help(format!("it has {}", roles_of(mode))));
    }
}

/// Decodes speculation; n-grams are vLLM's alone.
fn speculation(view: &View<'_>, backend: Option<Backend>, bag: &mut Bag) -> Option<Speculation> {
    let tokens = view.count("tokens").and_then(|tokens| u32::try_from(tokens).ok())?;
    let seed = view.count("seed")?;
    let rates = view.reals("acceptance-rates");
    if view.kind()? == "mtp" {
        return Some(Speculation::mtp(tokens, rates.unwrap_or(&Speculation::MTP_RATES), seed));
    }
    if let Some(other) = backend.filter(|backend| *backend != Backend::Vllm) {
        let message = format!("backend \"{}\" has no `speculation \"ngram\"`", other.name());
        let problem = view.head().problem(Code::ScenarioBackend, message, "vLLM only");
        bag.push(problem.help("remove it, or use `backend \"vllm\"`"));
    }
    let acceptance_rates = rates?.to_vec();
    if usize::try_from(tokens) != Ok(acceptance_rates.len()) {
        let found = acceptance_rates.len();
        let message =
            format!("`acceptance-rates` has one rate for each of {tokens} drafts, found {found}");
        bag.push(view.problem(
            Code::ScenarioConflict,
            "acceptance-rates",
            message,
            "as many as `tokens`",
        ));
    }
    Some(Speculation { drafter: Drafter::Ngram, tokens, acceptance_rates, seed })
}

/// Decodes the handoff, which disaggregated deployments alone have.
fn kv_transfer(view: &View<'_>, mode: Option<Mode>, bag: &mut Bag) -> Option<KvTransfer> {
    if mode == Some(Mode::Aggregated) {
        let message = "mode \"aggregated\" has no `kv-transfer`";
        bag.push(view.head().problem(Code::ScenarioConflict, message, "nothing is handed over"));
    }
    let bandwidth_gb_per_second = view.real("bandwidth-gb-per-second");
    Some(KvTransfer {
        bytes_per_token: view.count("bytes-per-token"),
        bandwidth_gb_per_second,
        decode_bandwidth_gb_per_second: view
            .real("decode-bandwidth-gb-per-second")
            .or(bandwidth_gb_per_second),
        fallback_latency_ms: view.real("latency-ms")?,
        timing_mode: match view.text("timing-mode")? {
            "full-prompt" => TransferTiming::FullPrompt,
            _ => TransferTiming::DestinationMissing,
        },
    })
}

/// Decodes the router.
fn router(view: &View<'_>) -> Option<Router> {
    match view.kind()? {
        "kv-router" => Some(Router::Kv {
            overlap_score_credit: view.real("overlap-score-credit")?,
            prefill_load_scale: view.real("prefill-load-scale")?,
            temperature: view.real("temperature")?,
            prefill_load_model: view.text("prefill-load-model")?.to_owned(),
        }),
        _ => Some(Router::RoundRobin),
    }
}

/// Decodes the planner with the knobs that are stated.
fn planner(view: &View<'_>, bag: &mut Bag) -> Option<Planner> {
    if view.kind()? == "disabled" {
        return Some(Planner::Disabled);
    }
    let throughput = view.flag("enable-throughput-scaling") == Some(true);
    if throughput && view.text("target") != Some("sla") {
        let message = "`enable-throughput-scaling` needs `target=\"sla\"`";
        bag.push(view.problem(
            Code::ScenarioConflict,
            "enable-throughput-scaling",
            message,
            "needs an SLA target",
        ));
    }
    let knobs: BTreeMap<String, PlannerKnob> = view
        .given()
        .filter(|(name, _)| *name != "KIND")
        .map(|(name, datum)| (name.replace('-', "_"), knob(datum)))
        .collect();
    Some(Planner::Enabled(knobs))
}

/// Returns a knob as the planner takes it.
fn knob(datum: &Datum) -> PlannerKnob {
    match datum {
        Datum::Flag(flag) => PlannerKnob::Flag(*flag),
        Datum::Real(number) => PlannerKnob::Number(*number),
        #[expect(clippy::cast_precision_loss, reason = "GPUs and workers are far below 2^53")]
        Datum::Count(count) => PlannerKnob::Number(*count as f64),
        Datum::Text(word) => PlannerKnob::Word(word.clone()),
        Datum::Reals(_) | Datum::Digest(_) => unreachable!("no knob of the table has this type"),
    }
}
