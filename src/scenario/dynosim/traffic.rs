//! `traffic`: source, load and stop together.

use crate::scenario::bounds;
use crate::units::Tokens;
use crate::workload::{Load, Source, Stop, StopCount, SyntheticShape, Workload};

use super::decoder::{Fields, Report};
use super::field::{Field, value};
use super::prediction::TraceFile;
use super::source::{self, SourceKind};
use super::{load, stop};

/// Fields of `traffic`.
const TRAFFIC: &[Field] = &[value("source"), value("load"), value("stop")];

/// What `traffic` says; halves that are wrong are absent and reported.
pub(super) struct Traffic {
    /// The workload.
    pub(super) workload: Option<Workload>,
    /// The trace file, for a trace.
    pub(super) trace: Option<TraceFile>,
    /// The kind of source, where it is known.
    pub(super) kind: Option<SourceKind>,
}

/// Returns the workload of `traffic`, or the default one where the section is absent.
///
/// Default: 1024/128 tokens, concurrency 10, 100 requests. Where the section is present, nothing of the default is merged in.
pub(super) fn decode(root: &Fields<'_>, report: &mut Report) -> Traffic {
    if !root.states("traffic") {
        let workload = workload(
            Source::Synthetic(default_shape()),
            Load::Concurrency { concurrency: load::DEFAULT_CONCURRENCY },
            Stop { count: Some(StopCount::Requests(100)), virtual_time: None },
        );
        return Traffic {
            workload: Some(workload),
            trace: None,
            kind: Some(SourceKind::Synthetic),
        };
    }
    let Some(traffic) = root.section("traffic", TRAFFIC, report) else {
        return Traffic { workload: None, trace: None, kind: None };
    };
    let stated = source::decode(&traffic, report);
    let load = load::decode(&traffic, stated.kind, report);
    let stop = stop::decode(&traffic, stated.kind, report);
    let workload = match (stated.source, load, stop) {
        (Some(source), Some(load), Some(stop)) => {
            let excess = bounds::requests_excess(&source, &load, stop.count);
            traffic.too_much(&["stop"], excess, report);
            Some(workload(source, load, stop))
        }
        _ => None,
    };
    Traffic { workload, trace: stated.trace, kind: stated.kind }
}

/// Returns the shape of synthetic requests that nothing states.
pub(super) const fn default_shape() -> SyntheticShape {
    SyntheticShape {
        input: Tokens::new(1024),
        output: Tokens::new(128),
        cached_prefix: Tokens::ZERO,
    }
}

/// Returns a workload of a prediction; its random streams are seeded by the configuration, never by name.
fn workload(source: Source, load: Load, stop: Stop) -> Workload {
    Workload { source, load, select: None, stop, stream: "predict".to_owned() }
}
