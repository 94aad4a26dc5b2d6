//! `traffic.load`.

use crate::scenario::bounds;
use crate::workload::{Load, Rate, RecordedLoad};

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, not_covered, nullable, refused, value};
use super::prediction::TraceFormat;
use super::source::SourceKind;

/// How many requests are in flight where nothing is said.
pub(super) const DEFAULT_CONCURRENCY: u32 = 10;
/// The seed of Poisson gaps where nothing is said.
const DEFAULT_SEED: u64 = 42;

/// Fields of `load`, of every type.
const LOAD: &[Field] = &[
    value("type"),
    value("concurrency"),
    nullable("requests_per_second"),
    nullable("sessions_per_second"),
    value("seed"),
    value("speedup"),
    nullable("agentic_lanes"),
    not_covered("agentic_snapshot"),
    value("agentic_warmup"),
    not_covered("agentic_profile"),
    refused("fraction", "belongs to `kv_capacity_fraction`, which only `recommend` takes"),
];

/// The types of load that a prediction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Concurrency,
    ConstantRate,
    Poisson,
    TraceTimestamps,
}

/// The types by name.
const TYPES: &[(&str, Type)] = &[
    ("concurrency", Type::Concurrency),
    ("constant_rate", Type::ConstantRate),
    ("poisson", Type::Poisson),
    ("trace_timestamps", Type::TraceTimestamps),
];

impl Type {
    fn name(self) -> &'static str {
        TYPES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The fields that the type takes beside `type`.
    const fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Concurrency => &["concurrency"],
            Self::ConstantRate => &["requests_per_second", "sessions_per_second"],
            Self::Poisson => &["requests_per_second", "sessions_per_second", "seed"],
            Self::TraceTimestamps => &[
                "speedup",
                "agentic_lanes",
                "agentic_snapshot",
                "agentic_warmup",
                "agentic_profile",
            ],
        }
    }
}

/// Returns the load; absent, it is a closed loop of ten. Nothing where it is wrong.
pub(super) fn decode(
    traffic: &Fields<'_>,
    kind: Option<SourceKind>,
    report: &mut Report,
) -> Option<Load> {
    if !traffic.states("load") {
        check_pair(traffic, Type::Concurrency, kind, report);
        return Some(Load::Concurrency { concurrency: DEFAULT_CONCURRENCY });
    }
    let load = traffic.section("load", LOAD, report)?;
    let stated =
        if load.states("type") { load.word("type", TYPES, report)? } else { Type::Concurrency };
    for field in LOAD.iter().filter(|field| field.name != "type" && field.name != "fraction") {
        if !stated.takes().contains(&field.name) {
            let why = format!("does not belong to a load of type `{}`", stated.name());
            load.conflict(field.name, &why, report);
        }
    }
    check_pair(&load, stated, kind, report);
    match stated {
        Type::Concurrency => {
            let concurrency =
                load.whole_32("concurrency", Whole::between(1, bounds::CONCURRENCY), report);
            Some(Load::Concurrency { concurrency: concurrency.unwrap_or(DEFAULT_CONCURRENCY) })
        }
        Type::ConstantRate => Some(Load::ConstantRate { rate: rate(&load, stated, kind, report)? }),
        Type::Poisson => {
            let seed = load.whole("seed", Whole::ANY, report).unwrap_or(DEFAULT_SEED);
            Some(Load::Poisson { rate: rate(&load, stated, kind, report)?, seed: Some(seed) })
        }
        Type::TraceTimestamps => {
            if load.flag("agentic_warmup", report) == Some(true)
                && let Some(entry) = load.entry("agentic_warmup")
            {
                report.not_covered(&entry.place, "`traffic.load.agentic_warmup`");
            }
            let speedup = load.real("speedup", Real::Positive, report).unwrap_or(1.0);
            if !load.states("agentic_lanes") {
                return Some(Load::TraceTimestamps { speedup });
            }
            let lanes = Whole::between(1, bounds::CONCURRENCY);
            let agentic_lanes = load.whole_32("agentic_lanes", lanes, report);
            Some(Load::Recorded(RecordedLoad { agentic_lanes, ..RecordedLoad::at(speedup) }))
        }
    }
}

/// Returns the rate under the name that the source asks for, and reports the other name.
fn rate(
    load: &Fields<'_>,
    stated: Type,
    kind: Option<SourceKind>,
    report: &mut Report,
) -> Option<Rate> {
    let (name, other, source) = match kind? {
        SourceKind::Synthetic => ("requests_per_second", "sessions_per_second", "synthetic"),
        SourceKind::Session => ("sessions_per_second", "requests_per_second", "synthetic-session"),
        SourceKind::Trace(_) => return None,
    };
    load.conflict(other, &format!("does not go with a `{source}` source; use `{name}`"), report);
    if !load.states(name) {
        let why = format!("`{}` of a `{source}` source needs it", stated.name());
        load.missing(name, &why, report);
        return None;
    }
    let rate = load.real(name, Real::Positive, report).and_then(Rate::new)?;
    if !rate.mean_gap_ms().is_finite() {
        load.conflict(name, "is so small that no second request can arrive", report);
    }
    Some(rate)
}

/// Reports a type of load that the source does not take. `load` is the `load` mapping, or `traffic` where it is absent.
fn check_pair(load: &Fields<'_>, stated: Type, kind: Option<SourceKind>, report: &mut Report) {
    let Some(kind) = kind else { return };
    let allowed: &[Type] = match kind {
        SourceKind::Synthetic | SourceKind::Session => {
            &[Type::Concurrency, Type::ConstantRate, Type::Poisson]
        }
        SourceKind::Trace(format) => match format {
            TraceFormat::Mooncake | TraceFormat::MooncakeDelta | TraceFormat::Dynamo => {
                &[Type::TraceTimestamps, Type::Concurrency]
            }
            TraceFormat::AgenticMooncake | TraceFormat::Weka => &[Type::TraceTimestamps],
            TraceFormat::AppliedComputeAgentic => &[Type::Concurrency],
        },
    };
    if allowed.contains(&stated) {
        return;
    }
    let names: Vec<String> = allowed.iter().map(|kind| format!("`{}`", kind.name())).collect();
    let message = format!("a load of type `{}` does not go with this source", stated.name());
    let place = load.entry_place("type");
    report.push(
        place
            .problem(crate::diag::Code::DynosimConflict, message, "does not go with the source")
            .help(format!("this source takes {}", names.join(" or "))),
    );
}
