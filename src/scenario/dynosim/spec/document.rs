//! The specification as a whole.

use std::sync::Arc;

use crate::deployment::{Mode, Workers};
use crate::diag::{Bag, Code, SourceFile, Span};
use crate::scenario::bounds;
use crate::scenario::written::load_json;
use crate::units::SimTime;
use crate::workload::{Load, Sla, Source, Stop, Workload};

use super::super::Place;
use super::super::decoder::{Fields, Real, Report, Whole};
use super::super::evaluation;
use super::super::field::{Field, not_covered, nullable, value};
use super::super::prediction::Prediction;
use super::{engine, requests};

/// Fields of a specification; others are ignored.
const SPEC: &[Field] = &[
    value("version"),
    value("topology"),
    nullable("engine"),
    value("adapters"),
    nullable("max_sim_time_ms"),
    nullable("max_in_flight"),
    value("record_per_request"),
    value("sla"),
    not_covered("encoder"),
    value("requests"),
];
/// Fields of `topology`.
const TOPOLOGY: &[Field] = &[
    value("kind"),
    value("workers"),
    value("prefill"),
    value("decode"),
    value("handoff_latency_ms"),
];
/// Fields of a pool of `topology`.
const POOL: &[Field] = &[value("initial_workers"), value("startup_delay_ms")];
/// Fields of `adapters`.
const ADAPTERS: &[Field] = &[value("placement"), value("scaling")];
/// Fields of an adapter.
const ADAPTER: &[Field] = &[value("provider"), nullable("config")];
/// Fields of the round-robin router's `config`.
const ROUND_ROBIN: &[Field] = &[value("session_affinity")];

/// The pools of a topology.
pub(super) enum Topology {
    /// One.
    Aggregated(Pool),
    /// Two.
    Disaggregated {
        /// Computes prompts.
        prefill: Pool,
        /// Produces tokens.
        decode: Pool,
        /// What a handoff takes where the engine cannot say, in milliseconds.
        handoff_latency_ms: f64,
    },
}

/// One pool.
#[derive(Clone, Copy)]
pub(super) struct Pool {
    /// Its workers.
    pub(super) workers: u32,
    /// How long a worker that is added takes, in milliseconds.
    pub(super) startup_ms: f64,
}

/// Decodes a specification.
///
/// # Errors
/// Every problem of the text or of the schema, each with its place.
pub(crate) fn decode(source: &SourceFile) -> Result<Prediction, Bag> {
    let root = load_json(source, super::super::JSON)?;
    let mut report = Report::default();
    let start = Place::new(source, Span::new(0, usize::from(!source.text().is_empty())));
    let prediction = Fields::open_lenient(&root, SPEC, String::new(), start.clone(), &mut report)
        .and_then(|spec| prediction(&spec, &start, &mut report));
    let bag = report.into_bag();
    if bag.has_errors() {
        return Err(bag);
    }
    let mut prediction = prediction.expect("whatever is absent has been reported as an error");
    prediction.warnings = bag.into_sorted();
    prediction.learn_keys(&root);
    Ok(prediction)
}

fn prediction(spec: &Fields<'_>, start: &Place, report: &mut Report) -> Option<Prediction> {
    check_version(spec, report);
    let place = |name| spec.entry(name).map_or_else(|| start.clone(), |e| e.place.clone());
    let topology = topology(spec, report);
    check_adapters(spec, report);
    let _record = spec.flag("record_per_request", report);
    let deployment = topology.and_then(|topology| engine::decode(spec, &topology, report));
    let list = requests::decode(spec, deployment.as_ref().map(|made| &made.workers), report);
    let load = load(spec, report);
    let virtual_time = cut(spec, report);
    let sla = sla(spec, report);
    let workload = Workload {
        source: Source::Requests(Arc::new(list?)),
        load: load?,
        select: None,
        stop: Stop { count: None, virtual_time },
        stream: "requests".to_owned(),
    };
    let places = (place("requests"), place("engine"));
    let mut prediction = Prediction::of(workload, deployment?, places);
    prediction.sla = sla;
    Some(prediction)
}

fn check_version(spec: &Fields<'_>, report: &mut Report) {
    // Every version but the first is unknown to the reference too.
    let _one = spec.whole("version", Whole::between(1, 1), report);
}

fn topology(spec: &Fields<'_>, report: &mut Report) -> Option<Topology> {
    if !spec.states("topology") {
        spec.missing("topology", "it says how many workers there are", report);
    }
    let fields = spec.lenient_section("topology", TOPOLOGY, report)?;
    if !fields.states("kind") {
        fields.missing("kind", "it is `aggregated` or `disaggregated`", report);
    }
    let kinds = [("aggregated", Mode::Aggregated), ("disaggregated", Mode::Disaggregated)];
    match fields.word("kind", &kinds, report)? {
        Mode::Aggregated => Some(Topology::Aggregated(pool(&fields, "workers", report)?)),
        Mode::Disaggregated => {
            let prefill = pool(&fields, "prefill", report);
            let decode = pool(&fields, "decode", report);
            let latency = fields.real("handoff_latency_ms", Real::NotNegative, report);
            Some(Topology::Disaggregated {
                prefill: prefill?,
                decode: decode?,
                handoff_latency_ms: latency.unwrap_or(0.0),
            })
        }
    }
}

fn pool(topology: &Fields<'_>, name: &'static str, report: &mut Report) -> Option<Pool> {
    if !topology.states(name) {
        topology.missing(name, "this topology has such a pool", report);
    }
    let fields = topology.lenient_section(name, POOL, report)?;
    if !fields.states("initial_workers") {
        fields.missing("initial_workers", "it has no default", report);
    }
    let startup = fields.real("startup_delay_ms", Real::NotNegative, report);
    let workers = fields.whole_32("initial_workers", Whole::FACTOR, report);
    Some(Pool { workers: workers?, startup_ms: startup.unwrap_or(0.0) })
}

/// Reports adapters that this build lacks.
fn check_adapters(spec: &Fields<'_>, report: &mut Report) {
    let Some(adapters) = spec.lenient_section("adapters", ADAPTERS, report) else { return };
    for (name, known) in [("placement", "round_robin"), ("scaling", "none")] {
        let Some(adapter) = adapters.lenient_section(name, ADAPTER, report) else { continue };
        if !adapter.states("provider") {
            adapter.missing("provider", "an adapter is one of a provider", report);
        }
        let provider = adapter.text("provider", report);
        if provider.is_some_and(|provider| provider != known) {
            let what = format!("a `{}` other than `{known}`", adapter.at("provider"));
            report.not_covered(adapter.entry_place("provider"), &what);
        }
        if name == "placement"
            && let Some(config) = adapter.lenient_section("config", ROUND_ROBIN, report)
            && config.flag("session_affinity", report) == Some(true)
        {
            let what = format!("`{}`", config.at("session_affinity"));
            report.not_covered(config.entry_place("session_affinity"), &what);
        }
    }
}

fn load(spec: &Fields<'_>, report: &mut Report) -> Option<Load> {
    if !spec.states("max_in_flight") {
        return Some(Load::TraceTimestamps { speedup: 1.0 });
    }
    let most = Whole::between(1, bounds::CONCURRENCY);
    let concurrency = spec.whole_32("max_in_flight", most, report)?;
    Some(Load::Concurrency { concurrency })
}

fn cut(spec: &Fields<'_>, report: &mut Report) -> Option<SimTime> {
    let ms = spec.real("max_sim_time_ms", Real::NotNegative, report)?;
    let time = SimTime::from_ms(ms).ok().filter(|time| time.is_reachable());
    if time.is_none() {
        spec.conflict("max_sim_time_ms", "is beyond what the clock can reach", report);
    }
    time
}

fn sla(spec: &Fields<'_>, report: &mut Report) -> Option<Sla> {
    let fields = spec.lenient_section("sla", evaluation::SLA, report)?;
    evaluation::bounds(&fields, report)
}

/// Reports a value that no rule of its own covers, with `why` behind its path.
pub(super) fn refuse(fields: &Fields<'_>, name: &'static str, why: &str, report: &mut Report) {
    let place = fields.entry_place(name);
    let message = format!("`{}` {why}", fields.at(name));
    report.push(place.problem(Code::DynosimConflict, message, "does not fit the rest"));
}

/// Returns the workers of each pool, by role.
pub(super) fn ranks_of(workers: &Workers) -> (Option<u32>, u32) {
    match workers {
        Workers::Aggregated(worker) => (None, worker.parallelism.attention_data),
        Workers::Disaggregated { prefill, decode } => {
            (Some(prefill.parallelism.attention_data), decode.parallelism.attention_data)
        }
    }
}
