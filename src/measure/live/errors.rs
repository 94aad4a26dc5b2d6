//! Failures by kind: none vanishes.

use std::collections::BTreeMap;

use crate::record::{ExchangeError, LiveOutcome, LiveRequest, LiveRun};

/// Failures of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorKind {
    /// How many.
    pub count: u64,
    /// The first: an index of the run's requests.
    pub first: usize,
    /// What was said of the first.
    pub message: String,
}

/// The failures of what is measured, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveErrors(BTreeMap<String, ErrorKind>);

impl LiveErrors {
    /// Returns those of a run.
    pub fn of(run: &LiveRun) -> Self {
        let mut kinds: BTreeMap<String, ErrorKind> = BTreeMap::new();
        for (first, request) in run.requests.iter().enumerate() {
            let Some((kind, error)) = failure(request) else { continue };
            let new = || ErrorKind { count: 0, first, message: error.to_string() };
            kinds.entry(kind).or_insert_with(new).count += 1;
        }
        Self(kinds)
    }

    /// Returns each kind with what is said of it, by name.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &ErrorKind)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), kind))
    }

    /// Returns how many there are altogether.
    pub fn count(&self) -> u64 {
        self.0.values().map(|kind| kind.count).sum()
    }
}

/// Returns the kind of a measured failure, and what failed. Refusals of the server are told apart by their status.
fn failure(request: &LiveRequest) -> Option<(String, &ExchangeError)> {
    let is_measured = request.phase == crate::record::Phase::Profile;
    if !is_measured || request.outcome() != LiveOutcome::Failed {
        return None;
    }
    let error = request.exchange.outcome.as_ref().err()?;
    let kind = if let ExchangeError::Status { status, .. } = error {
        format!("status-{status}")
    } else {
        error.kind().to_owned()
    };
    Some((kind, error))
}
