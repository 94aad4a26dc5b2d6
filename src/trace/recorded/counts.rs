//! What a reader of recordings saw and let through.

use std::collections::BTreeMap;

use crate::diag::{Code, Problem, agreed, counted};

use super::RecordedTree;
use crate::trace::tolerated::{CONFLICT, MISFIT, REPEATED};

/// What a reader of recordings saw and let through. Only counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedCounts {
    /// Files read.
    pub files: u64,
    /// Trees handed over.
    pub trees: u64,
    /// Sessions in them.
    pub sessions: u64,
    /// Requests in them.
    pub requests: u64,
    /// Requests that ask for no output: they fill the cache.
    pub prefill_only: u64,
    /// Tools.
    pub tools: u64,
    /// Blank lines skipped.
    pub blank_lines: u64,
    /// Lines that an uploader or a sink adds and that are no records.
    pub markers: u64,
    /// Events of a kind that nothing here uses.
    pub unused_events: u64,
    /// Records that name no session.
    pub without_session: u64,
    /// Records that repeat one above, where that is let through: the first counts.
    pub repeated: u64,
    /// Requests whose times go back below the one above, where that is let through.
    pub unsorted: u64,
    /// Sessions whose parent is not in the recording, where that is let through: they are roots.
    pub orphans: u64,
    /// Requests without the names of their blocks.
    pub without_hashes: u64,
    /// Requests with as many hashes as full blocks although their prompt ends inside one.
    pub partial_tails: u64,
    /// Requests whose hashes do not fit their prompt, where that is let through.
    pub misfit_hashes: u64,
    /// Records of which two fields contradict each other, where that is let through: the first counts.
    pub conflicts: u64,
    /// Objects with a key that the format does not know, by key.
    pub unknown_keys: BTreeMap<String, u64>,
    /// Objects with a key that the format knows and that changes nothing here, by key.
    pub unused_keys: BTreeMap<String, u64>,
}

impl RecordedCounts {
    /// Counts a tree.
    pub(in super::super) fn add_tree(&mut self, tree: &RecordedTree) {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.trees += 1;
        self.sessions += count(tree.sessions.len());
        self.tools += count(tree.tools.len());
        for (_, request) in tree.requests() {
            self.requests += 1;
            self.prefill_only += u64::from(request.output.is_some_and(|output| output.get() == 0));
            self.without_hashes += u64::from(request.hashes.is_none());
        }
    }

    /// Adds what another reading counted.
    pub(in super::super) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.trees += other.trees;
        self.sessions += other.sessions;
        self.requests += other.requests;
        self.prefill_only += other.prefill_only;
        self.tools += other.tools;
        self.blank_lines += other.blank_lines;
        self.markers += other.markers;
        self.unused_events += other.unused_events;
        self.without_session += other.without_session;
        self.repeated += other.repeated;
        self.unsorted += other.unsorted;
        self.orphans += other.orphans;
        self.without_hashes += other.without_hashes;
        self.partial_tails += other.partial_tails;
        self.misfit_hashes += other.misfit_hashes;
        self.conflicts += other.conflicts;
        self.add_keys(other.unknown_keys);
        self.add_unused(other.unused_keys);
    }

    /// Adds objects with keys without effect.
    pub(in super::super) fn add_unused(&mut self, keys: BTreeMap<String, u64>) {
        for (key, count) in keys {
            *self.unused_keys.entry(key).or_default() += count;
        }
    }

    /// Adds objects with unknown keys.
    pub(in super::super) fn add_keys(&mut self, keys: BTreeMap<String, u64>) {
        for (key, count) in keys {
            *self.unknown_keys.entry(key).or_default() += count;
        }
    }

    /// Returns warnings about what was given a meaning that the file does not state.
    pub fn warnings(&self, name: &str) -> Vec<Problem> {
        let tolerated = [
            (self.repeated, REPEATED),
            (self.unsorted, ["goes back in time", "go back in time"]),
            (self.orphans, ["names a parent that is not there", "name a parent that is not there"]),
            (self.misfit_hashes, MISFIT),
            (self.conflicts, CONFLICT),
        ];
        tolerated
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, [one, many])| {
                let (records, what) = (counted(count, "record"), agreed(count, one, many));
                Problem::new(Code::TraceTolerated, format!("`{name}`: {records} {what}"))
            })
            .collect()
    }
}
