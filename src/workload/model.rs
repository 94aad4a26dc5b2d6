//! A workload as data: source, load, selection and stop.

use crate::digest::canonical::{Value, object};

use super::{Corpus, Load, Select, Source, Stop, StopCount};

/// A workload: where requests come from, when they arrive, and when the run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Where requests come from.
    pub source: Source,
    /// When they arrive.
    pub load: Load,
    /// Which entries of the source are used; all in order where absent.
    pub select: Option<Select>,
    /// When the run ends.
    pub stop: Stop,
    /// The name of its random streams; the workload's own name unless the scenario says otherwise.
    pub stream: String,
}

impl Workload {
    /// Returns how many requests the workload asks for before any time limit, or `None` where nothing here says so: a count of
    /// sessions on a trace, a selection, a graph.
    ///
    /// `corpus` is the trace of a workload that has one. Source: DSL, "`stop`".
    pub fn requests(&self, corpus: Option<&Corpus>) -> Option<u64> {
        // A play drops what is left of it when one of its requests does not complete.
        if self.select.is_some() || corpus.is_some_and(|corpus| corpus.plays().is_some()) {
            return None;
        }
        let count = || self.stop.count?.resolve(&self.load);
        match (&self.source, self.stop.count) {
            (Source::Synthetic(_), _) => count(),
            (Source::Requests(list), _) => u64::try_from(list.requests().len()).ok(),
            (Source::SyntheticSession(shape), _) => count()?.checked_mul(u64::from(shape.turns)),
            (
                Source::Trace { .. },
                Some(StopCount::Requests(_) | StopCount::RequestsPerLoadUnit(_)) | None,
            ) => {
                let rows = u64::try_from(corpus?.len()).ok()?;
                Some(count().map_or(rows, |first| first.min(rows)))
            }
            (
                Source::Trace { .. },
                Some(StopCount::Sessions(_) | StopCount::SessionsPerLoadUnit(_)),
            )
            | (Source::Graph { .. }, _) => None,
        }
    }

    /// Returns the canonical description that enters a job key. The digest of a trace enters beside it.
    pub fn canonical(&self) -> Value {
        object([
            ("load", self.load.canonical()),
            ("select", self.select.as_ref().map_or(Value::Null, Select::canonical)),
            ("source", self.source.canonical()),
            ("stop", self.stop.canonical()),
            ("stream", Value::text(&self.stream)),
        ])
    }
}
