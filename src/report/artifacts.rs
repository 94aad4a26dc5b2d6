//! What one job leaves.

use std::collections::BTreeMap;

use crate::exec::CachedFiles;
use crate::record::Spool;

use super::Report;
use super::schema::{EVENTS, REPORT, REQUESTS};

/// What one job leaves: the report, a line a request, and the transcript where it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifacts {
    /// The report.
    pub report: Report,
    /// `requests.jsonl`.
    pub requests: Spool,
    /// `events.jsonl`.
    pub events: Option<Spool>,
}

impl Artifacts {
    /// Returns the files by name.
    pub fn files(&self) -> CachedFiles {
        let mut files = BTreeMap::from([
            (REPORT.to_owned(), self.report.bytes().to_vec().into()),
            (REQUESTS.to_owned(), self.requests.clone()),
        ]);
        files.extend(self.events.iter().map(|events| (EVENTS.to_owned(), events.clone())));
        files
    }

    /// Returns what the files hold, or what is wrong with them: each must have the digest that the report gives it.
    pub(super) fn from_files(mut files: CachedFiles) -> Result<Self, String> {
        let mut take = |name: &str| files.remove(name).ok_or(format!("{name} is missing"));
        let report = take(REPORT)?.to_vec().map_err(|error| format!("{REPORT}: {error}"))?;
        let report = Report::parse(report).map_err(|error| error.to_string())?;
        let (requests, events) = (take(REQUESTS)?, take(EVENTS).ok());
        let artifacts = Self { report, requests, events };
        artifacts.verify()?;
        Ok(artifacts)
    }

    /// Checks the digests that the report gives its companions.
    fn verify(&self) -> Result<(), String> {
        if self.report.requests_digest() != Some(self.requests.digest()) {
            return Err(format!("{REQUESTS} has another digest than its report says"));
        }
        match &self.events {
            Some(events) if self.report.events_digest() != Some(events.digest()) => {
                Err(format!("{EVENTS} has another digest than its report says"))
            }
            Some(_) | None => Ok(()),
        }
    }
}
