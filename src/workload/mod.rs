//! What is asked of a deployment: source, load and stop, as data.
//!
//! Owns the description of a workload and the corpus of recorded requests; the scheduling of arrivals in virtual time is `sim`.

mod arrival;
mod corpus;
mod load;
mod prompt;
mod select;
mod sla;
mod source;
mod stop;

pub use arrival::Arrivals;
pub use corpus::{Corpus, CorpusRow, SessionName};
pub use load::{Load, Rate, RecordedLoad};
pub use prompt::{BlockCursor, BlockIdentity, Content, Origin, Run, Symbol};
pub use select::{CacheBust, Sampling, Select};
pub use sla::Sla;
pub use source::{SessionShape, Source, SyntheticShape};
pub use stop::{Stop, StopCount};

use crate::digest::canonical::{Value, object};

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
