//! `evaluation` and `execution`.

use crate::diag::Code;
use crate::workload::Sla;

use super::decoder::{Fields, Real, Report, Whole};
use super::field::{Field, nullable, value};
use crate::scenario::written::Data;

/// Fields of `evaluation`.
const EVALUATION: &[Field] = &[nullable("sla")];
/// Fields of `evaluation.sla`.
pub(super) const SLA: &[Field] = &[nullable("ttft_ms"), nullable("itl_ms"), nullable("e2e_ms")];
/// Fields of `execution`.
const EXECUTION: &[Field] = &[value("resources")];
/// Fields of `execution.resources`.
const RESOURCES: &[Field] = &[
    value("initialization_timeout_seconds"),
    value("shutdown_timeout_seconds"),
    value("memory_limit_gb"),
    value("cpu_limit"),
    value("reserve_memory_gb"),
    value("reserve_memory_fraction"),
    value("available_memory_fraction"),
];

/// Returns what a good request is, where `evaluation` says so.
pub(super) fn sla(root: &Fields<'_>, report: &mut Report) -> Option<Sla> {
    let sla = root.section("evaluation", EVALUATION, report)?.section("sla", SLA, report)?;
    bounds(&sla, report)
}

/// Returns the bounds of an opened `sla`; nothing where it states none.
pub(super) fn bounds(sla: &Fields<'_>, report: &mut Report) -> Option<Sla> {
    if sla.states("e2e_ms") {
        for name in ["ttft_ms", "itl_ms"] {
            let why = format!("excludes `{}`; state one form", sla.at("e2e_ms"));
            sla.conflict(name, &why, report);
        }
    }
    let bounds = Sla {
        ttft_ms: sla.real("ttft_ms", Real::Positive, report),
        tpot_ms: sla.real("itl_ms", Real::Positive, report),
        e2e_ms: sla.real("e2e_ms", Real::Positive, report),
    };
    (bounds != Sla::default()).then_some(bounds)
}

/// Returns the memory limit in GB, where `execution.resources` states one. What steers DynoSim's supervisor is validated, and
/// a warning says that it has no effect.
pub(super) fn memory_limit_gb(root: &Fields<'_>, report: &mut Report) -> Option<f64> {
    let resources =
        root.section("execution", EXECUTION, report)?.section("resources", RESOURCES, report)?;
    resources.real("initialization_timeout_seconds", Real::Positive, report);
    resources.real("shutdown_timeout_seconds", Real::Positive, report);
    resources.real("reserve_memory_gb", Real::NotNegative, report);
    resources.real("reserve_memory_fraction", Real::Share, report);
    resources.real("available_memory_fraction", Real::ShareAboveZero, report);
    if !is_auto(&resources, "cpu_limit") {
        resources.whole("cpu_limit", Whole::POSITIVE, report);
    }
    for field in RESOURCES.iter().filter(|field| field.name != "memory_limit_gb") {
        if let Some(entry) = resources.entry(field.name) {
            report.push(entry.place.problem(
                Code::DynosimNoEffect,
                format!(
                    "`{}` has no effect: there is no supervisor to steer",
                    resources.at(field.name)
                ),
                "has no effect",
            ));
        }
    }
    if is_auto(&resources, "memory_limit_gb") {
        return None;
    }
    resources.real("memory_limit_gb", Real::Positive, report)
}

/// Returns whether a field says `auto`.
fn is_auto(fields: &Fields<'_>, name: &'static str) -> bool {
    fields
        .entry(name)
        .is_some_and(|entry| matches!(&entry.value.data, Data::Text(text) if text == "auto"))
}
