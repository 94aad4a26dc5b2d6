//! A workload as data: source, load, selection and stop.

use crate::digest::canonical::{Value, object};

use super::{Load, Select, Source, Stop};

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
