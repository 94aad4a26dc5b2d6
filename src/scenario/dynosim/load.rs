//! `traffic.load`.

use crate::scenario::bounds;
use crate::workload::{Load, Profile, Rate, RecordedLoad};

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, nullable, refused, value};
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
    nullable("agentic_snapshot"),
    value("agentic_warmup"),
    nullable("agentic_profile"),
    refused("fraction", "belongs to `kv_capacity_fraction`, which only `recommend` takes"),
];

/// Fields of `agentic_snapshot`.
const SNAPSHOT: &[Field] = &[value("seed")];

/// Fields of `agentic_profile`.
const PROFILE: &[Field] = &[
    value("duration_seconds"),
    value("response_grace_seconds"),
    value("cancel_drain_seconds"),
    value("tree_idle_cap_seconds"),
    value("global_idle_cap_seconds"),
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
            let speedup = load.real("speedup", Real::Positive, report).unwrap_or(1.0);
            let recorded = recorded(&load, speedup, report);
            if !load.states("agentic_lanes") {
                return Some(Load::TraceTimestamps { speedup });
            }
            Some(Load::Recorded(recorded))
        }
    }
}

/// Returns how lanes run recorded plays, and reports what goes only with something else.
fn recorded(load: &Fields<'_>, speedup: f64, report: &mut Report) -> RecordedLoad {
    let agentic_lanes =
        load.whole_32("agentic_lanes", Whole::between(1, bounds::CONCURRENCY), report);
    let snapshot = load.section("agentic_snapshot", SNAPSHOT, report);
    if let Some(snapshot) = snapshot.as_ref().filter(|snapshot| !snapshot.states("seed")) {
        snapshot.missing("seed", "where plays begin is drawn with it", report);
    }
    let warmup = load.flag("agentic_warmup", report) == Some(true);
    let profile =
        load.section("agentic_profile", PROFILE, report).map(|asked| profile(&asked, report));
    if !load.states("agentic_lanes") {
        load.conflict("agentic_snapshot", "needs `agentic_lanes`", report);
    }
    if snapshot.is_none() {
        load.conflict("agentic_profile", "needs `agentic_snapshot`", report);
        if warmup {
            load.conflict("agentic_warmup", "needs `agentic_snapshot`", report);
        }
    }
    let seed = snapshot.and_then(|snapshot| snapshot.whole("seed", Whole::ANY, report));
    RecordedLoad {
        agentic_lanes,
        snapshot_seed: seed,
        warmup,
        profile,
        ..RecordedLoad::at(speedup)
    }
}

/// Returns the measured window; what is not stated is as the reference has it.
fn profile(asked: &Fields<'_>, report: &mut Report) -> Profile {
    let plain = Profile::default();
    let mut seconds = |name: &'static str, rule: Real, ms: f64| {
        asked.real(name, rule, report).map_or(ms, |seconds| seconds * 1000.0)
    };
    Profile {
        duration_ms: seconds("duration_seconds", Real::Positive, plain.duration_ms),
        grace_ms: seconds("response_grace_seconds", Real::NotNegative, plain.grace_ms),
        cancel_drain_ms: seconds("cancel_drain_seconds", Real::NotNegative, plain.cancel_drain_ms),
        tree_idle_cap_ms: seconds("tree_idle_cap_seconds", Real::Positive, plain.tree_idle_cap_ms),
        global_idle_cap_ms: seconds(
            "global_idle_cap_seconds",
            Real::Positive,
            plain.global_idle_cap_ms,
        ),
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
