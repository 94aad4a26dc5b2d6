//! Names of schemas, sections and files.

/// The schema of `run.json`.
pub const RUN_SCHEMA: &str = "touchstone.run/1";

/// The report of a job.
pub(crate) const REPORT: &str = "report.json";
/// One line a request.
pub(crate) const REQUESTS: &str = "requests.jsonl";
/// One line an event, where it was asked for.
pub(crate) const EVENTS: &str = "events.jsonl";
/// What was measured of live traffic.
pub(crate) const LIVE: &str = "live.json";
/// One line a request that was sent live.
pub(crate) const LIVE_REQUESTS: &str = "live.jsonl";

/// What a partial run holds.
pub(crate) const PARTIAL: &str = "partial.json";

/// A section of a report; each has a digest of its own, so that a mismatch names the section before anyone reads a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What was asked.
    Inputs,
    /// What each request saw.
    Requests,
    /// What happened, event by event.
    Events,
    /// The metrics.
    Summary,
}

impl Section {
    /// Every section, causes before effects.
    pub const ALL: [Self; 4] = [Self::Inputs, Self::Events, Self::Requests, Self::Summary];

    /// Returns the word of reports and goldens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Requests => "requests",
            Self::Events => "events",
            Self::Summary => "summary",
        }
    }
}
