//! What one job leaves.

use std::collections::BTreeMap;

use super::Report;
use super::schema::{EVENTS, REPORT, REQUESTS};

/// What one job leaves: the report, a line a request, and the transcript where it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifacts {
    /// The report.
    pub report: Report,
    /// `requests.jsonl`.
    pub requests: Vec<u8>,
    /// `events.jsonl`.
    pub events: Option<Vec<u8>>,
}

impl Artifacts {
    /// Returns the files by name.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::from([
            (REPORT.to_owned(), self.report.bytes().to_vec()),
            (REQUESTS.to_owned(), self.requests.clone()),
        ]);
        files.extend(self.events.iter().map(|events| (EVENTS.to_owned(), events.clone())));
        files
    }

    /// Returns what the files hold, or what is wrong with them: each must have the digest that the report gives it.
    pub(super) fn from_files(mut files: BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let mut take = |name: &str| files.remove(name).ok_or(format!("{name} is missing"));
        let report = Report::parse(take(REPORT)?).map_err(|error| error.to_string())?;
        let (requests, events) = (take(REQUESTS)?, take(EVENTS).ok());
        let artifacts = Self { report, requests, events };
        artifacts.verify()?;
        Ok(artifacts)
    }

    /// Checks the digests that the report gives its companions.
    fn verify(&self) -> Result<(), String> {
        let digest = crate::digest::Sha256::of;
        if self.report.requests_digest() != Some(digest(&self.requests)) {
            return Err(format!("{REQUESTS} has another digest than its report says"));
        }
        match &self.events {
            Some(events) if self.report.events_digest() != Some(digest(events)) => {
                Err(format!("{EVENTS} has another digest than its report says"))
            }
            Some(_) | None => Ok(()),
        }
    }
}
