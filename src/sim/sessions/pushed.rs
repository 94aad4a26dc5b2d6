//! Requests that arrive while the run goes on, each a session of its own.

use std::collections::BTreeMap;

use crate::workload::Content;

/// Requests that arrive while the run goes on.
#[derive(Debug, Default)]
pub(crate) struct Pushed {
    /// Those that have not ended, by number.
    requests: BTreeMap<u64, PushedRequest>,
    /// How many there have been.
    count: u64,
    /// The rank that served each affinity first.
    ranks: BTreeMap<u64, usize>,
}

/// A request that has arrived.
#[derive(Debug, Clone)]
pub(crate) struct PushedRequest {
    /// Its prompt, and what its output will be.
    pub(crate) content: Content,
    /// Output tokens asked for.
    pub(crate) output: u64,
    /// What keeps it on one rank with others of the same.
    pub(crate) affinity: Option<u64>,
}

impl Pushed {
    /// Adds a request, made from its number, and returns the number.
    pub(crate) fn push(&mut self, request: impl FnOnce(u64) -> PushedRequest) -> u64 {
        let number = self.count;
        self.count += 1;
        self.requests.insert(number, request(number));
        number
    }

    /// Returns a request that has not ended.
    pub(super) fn get(&self, number: u64) -> &PushedRequest {
        self.requests.get(&number).expect("a request is kept until it has ended")
    }

    /// Returns how many there have been.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Forgets a request that has ended.
    pub(super) fn forget(&mut self, number: u64) {
        self.requests.remove(&number);
    }

    /// Returns the rank of a request whose affinity has one.
    pub(super) fn rank(&self, number: u64) -> Option<usize> {
        self.ranks.get(&self.requests.get(&number)?.affinity?).copied()
    }

    /// Notes which rank serves a request: it serves all of its affinity from here on.
    pub(super) fn note(&mut self, number: u64, rank: usize) {
        if let Some(affinity) = self.requests.get(&number).and_then(|request| request.affinity) {
            self.ranks.entry(affinity).or_insert(rank);
        }
    }
}
