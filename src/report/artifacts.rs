//! What one job leaves.

use std::collections::BTreeMap;

use crate::exec::CachedFiles;
use crate::record::Spool;

use super::schema::{EVENTS, LIVE, LIVE_REQUESTS, REPORT, REQUESTS};
use super::{LiveFiles, Measured, Report};

/// What one job leaves: the report, a line a request, the transcript where it was asked for, and what was measured live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifacts {
    /// The report.
    pub report: Report,
    /// `requests.jsonl`.
    pub requests: Spool,
    /// `events.jsonl`.
    pub events: Option<Spool>,
    /// `live.json` and `live.jsonl` of a replay that was sent.
    pub live: Option<LiveFiles>,
}

impl Artifacts {
    /// Returns the files by name.
    pub fn files(&self) -> CachedFiles {
        let mut files = BTreeMap::from([
            (REPORT.to_owned(), self.report.bytes().to_vec().into()),
            (REQUESTS.to_owned(), self.requests.clone()),
        ]);
        files.extend(self.events.iter().map(|events| (EVENTS.to_owned(), events.clone())));
        if let Some(live) = &self.live {
            files.insert(LIVE.to_owned(), live.measured.bytes().to_vec().into());
            files.insert(LIVE_REQUESTS.to_owned(), live.requests.clone());
        }
        files
    }

    /// Returns what the files hold, or what is wrong with them: each must have the digest that the report gives it.
    pub(super) fn from_files(mut files: CachedFiles) -> Result<Self, String> {
        let mut take = |name: &str| files.remove(name).ok_or(format!("{name} is missing"));
        let report = take(REPORT)?.to_vec().map_err(|error| format!("{REPORT}: {error}"))?;
        let report = Report::parse(report).map_err(|error| error.to_string())?;
        let (requests, events) = (take(REQUESTS)?, take(EVENTS).ok());
        let live = match (take(LIVE).ok(), take(LIVE_REQUESTS).ok()) {
            (Some(measured), Some(requests)) => {
                let bytes = measured.to_vec().map_err(|error| format!("{LIVE}: {error}"))?;
                let measured = Measured::parse(bytes).map_err(|why| format!("{LIVE}: {why}"))?;
                Some(LiveFiles { measured, requests })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(format!("only one of {LIVE} and {LIVE_REQUESTS} is there"));
            }
        };
        let artifacts = Self { report, requests, events, live };
        artifacts.verify()?;
        Ok(artifacts)
    }

    /// Checks the digests that the report gives its companions.
    fn verify(&self) -> Result<(), String> {
        if self.report.requests_digest() != Some(self.requests.digest()) {
            return Err(format!("{REQUESTS} has another digest than its report says"));
        }
        if let Some(live) = &self.live {
            if live.measured.report() != Some(self.report.digest()) {
                return Err(format!("{LIVE} is that of another plan"));
            }
            if live.measured.requests_digest() != Some(live.requests.digest()) {
                return Err(format!("{LIVE_REQUESTS} has another digest than {LIVE} says"));
            }
        }
        match &self.events {
            Some(events) if self.report.events_digest() != Some(events.digest()) => {
                Err(format!("{EVENTS} has another digest than its report says"))
            }
            Some(_) | None => Ok(()),
        }
    }
}
