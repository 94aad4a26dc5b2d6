//! What a target has no word for.

use std::collections::BTreeMap;

use crate::trace::counts::ReadCounts;
use crate::trace::recorded::{RecordedCounts, RecordedRequest};

/// What a trace may say that a target has no word for: the names by which it is dropped, in their order, and what they mean.
pub const LOSSES: [(&str, &str); 39] = [
    ("cached", "how many tokens of a prompt came from a cache"),
    ("clock", "when traces start, on one clock"),
    ("documents", "ids that name documents"),
    ("event-time", "when an end was written down, where that is not the end"),
    ("hash-ids", "the names of blocks"),
    ("input-types", "what kinds of input a request had"),
    ("lead-time", "the time before the first request of a trace"),
    ("model", "the model that was asked"),
    ("models", "models that a trace declares and does not ask"),
    ("origin", "the date of the earliest request"),
    ("output-token-ids", "the tokens of an answer"),
    ("output-types", "what kinds of output a request had"),
    ("plays", "what requests wait for, and which belong together"),
    ("policy-class", "the class of a policy"),
    ("priority", "a priority"),
    ("recorded-end", "when a request ended"),
    ("recorded-start", "when a request was sent that may start earlier"),
    ("request-id", "the name of a request"),
    ("session-id", "the name of a session"),
    ("spawn-order", "after which request a sub-agent was started"),
    ("stated-edges", "requests that another one states to have waited for"),
    ("stop", "why a request ended"),
    ("streaming", "whether an answer was streamed"),
    ("strict-priority", "a strict priority"),
    ("sub-millisecond", "parts of a millisecond of a time"),
    ("system-tokens", "how many tokens a system prompt had"),
    ("think-time", "think time before a request"),
    ("timestamp", "when a request arrives"),
    ("tool-tokens", "how many tokens descriptions of tools had"),
    ("tool-use-count", "how often a sub-agent used tools"),
    ("tools", "tools that ran"),
    ("total-tokens", "how many tokens a sub-agent took"),
    ("totals", "sums over a trace"),
    ("ttft", "the time to the first token"),
    ("turn-order", "the order of turns that overlap"),
    ("unknown-keys", "keys that the format does not know"),
    ("unrecorded-end", "that nobody wrote down when a request ended"),
    ("unused-events", "events that nothing here uses"),
    ("unused-keys", "keys and columns that change nothing here"),
];

/// What a conversion loses: how many requests, tools, events or keys, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lost(BTreeMap<&'static str, u64>);

impl Lost {
    /// Adds one of a name where it is there.
    pub(super) fn note(&mut self, name: &'static str, is_there: bool) {
        self.add(name, u64::from(is_there));
    }

    /// Adds some of a name.
    pub(super) fn add(&mut self, name: &'static str, count: u64) {
        debug_assert!(LOSSES.iter().any(|(known, _)| *known == name), "bug: `{name}` is listed");
        *self.0.entry(name).or_default() += count;
    }

    /// Adds keys that readers pass over.
    pub(super) fn add_keys(
        &mut self,
        unknown: &BTreeMap<String, u64>,
        unused: &BTreeMap<String, u64>,
    ) {
        self.add("unknown-keys", unknown.values().sum());
        for (key, count) in unused {
            let word = key.to_lowercase().replace(['_', ' '], "-");
            let named = LOSSES.iter().find(|(name, _)| **name == word);
            self.add(named.map_or("unused-keys", |(name, _)| name), *count);
        }
    }

    /// Adds what a reader of rows counted.
    pub(super) fn add_read(&mut self, counts: &ReadCounts) {
        self.add_keys(&counts.unknown_keys, &counts.unused_keys);
        self.add("documents", counts.ignored_hash_ids);
    }

    /// Adds what a reader of recordings counted.
    pub(super) fn add_recorded(&mut self, counts: &RecordedCounts) {
        self.add_keys(&counts.unknown_keys, &counts.unused_keys);
        self.add("unused-events", counts.unused_events);
    }

    /// Adds what only recordings say of a request.
    pub(super) fn add_request(&mut self, request: &RecordedRequest, kept: &[&str]) {
        let fields = [
            ("cached", request.cached.is_some()),
            ("input-types", !request.input_types.is_empty()),
            ("output-types", !request.output_types.is_empty()),
            ("stop", request.stop.is_some()),
            ("streaming", request.streamed == Some(true)),
            ("think-time", request.think_time.is_some()),
            ("ttft", request.ttft.is_some()),
        ];
        for (name, is_there) in fields.into_iter().filter(|(name, _)| !kept.contains(name)) {
            self.note(name, is_there);
        }
    }

    /// Returns what is lost.
    pub(super) fn found(mut self) -> BTreeMap<&'static str, u64> {
        self.0.retain(|_, count| *count > 0);
        self.0
    }
}
