//! What requests of the conversations beside them had ended when they were sent: the barriers of a replay.

use std::collections::{BTreeMap, BTreeSet};

use super::stream::{Entry, Stream, TOLERANCE_NS};

/// A request, and what it waits for beside its own conversation.
pub(super) type Barrier<'s, 'r> = (&'s Entry<'r>, Vec<&'s Entry<'r>>);

/// Returns what requests wait for: of every other conversation of their scope the request that ended last before them, as far as no
/// other one of these was sent after it had ended.
///
/// Time: as sorting, and as long as the answer is.
pub(super) fn barriers<'s, 'r>(streams: &'s [Stream<'r>]) -> Vec<Barrier<'s, 'r>> {
    let mut scopes: BTreeMap<usize, Vec<&Stream<'r>>> = BTreeMap::new();
    for stream in streams {
        scopes.entry(stream.scope).or_default().push(stream);
    }
    scopes.values().filter(|scope| scope.len() > 1).flat_map(|scope| of_scope(scope)).collect()
}

/// As [`barriers`], of one scope.
fn of_scope<'s, 'r>(scope: &[&'s Stream<'r>]) -> Vec<Barrier<'s, 'r>> {
    let all = || {
        let numbered = scope.iter().enumerate();
        numbered.flat_map(|(at, stream)| stream.entries.iter().map(move |entry| (at, entry)))
    };
    let mut ending: Vec<(usize, &Entry<'r>)> = all().collect();
    ending.sort_by_key(|(_, entry)| ended_from(entry));
    let mut sent: Vec<(usize, &Entry<'r>)> = all().collect();
    sent.sort_by_key(|(_, entry)| entry.start());
    let mut ending = ending.into_iter().peekable();
    let mut ended = Ended::new(scope.len());
    let mut found = Vec::with_capacity(sent.len());
    for (at, target) in sent {
        while let Some((of, entry)) =
            ending.next_if(|(_, entry)| ended_from(entry) <= target.start())
        {
            ended.add(of, entry);
        }
        found.push((target, ended.frontier(at)));
    }
    found
}

/// Returns the first instant at which a request counts as ended for one that is sent then: it was sent before, and has ended but for what clocks disagree.
fn ended_from(entry: &Entry<'_>) -> u64 {
    (entry.start() + 1).max(entry.end().saturating_sub(TOLERANCE_NS))
}

/// The last request that ended of each conversation.
struct Ended<'s, 'r> {
    latest: Vec<Option<&'s Entry<'r>>>,
    /// Those by their ends, and by when they were sent.
    by_end: BTreeSet<(u64, usize)>,
    by_start: BTreeSet<(u64, usize)>,
}

impl<'s, 'r> Ended<'s, 'r> {
    fn new(conversations: usize) -> Self {
        let latest = vec![None; conversations];
        Self { latest, by_end: BTreeSet::new(), by_start: BTreeSet::new() }
    }

    /// Adds a request that has ended.
    fn add(&mut self, of: usize, entry: &'s Entry<'r>) {
        let key = |entry: &Entry<'_>| (entry.end(), entry.start());
        if let Some(known) = self.latest[of] {
            if (key(known), &known.source) >= (key(entry), &entry.source) {
                return; // an earlier one of its conversation
            }
            self.by_end.remove(&(known.end(), of));
            self.by_start.remove(&(known.start(), of));
        }
        self.by_end.insert((entry.end(), of));
        self.by_start.insert((entry.start(), of));
        self.latest[of] = Some(entry);
    }

    /// Returns the last requests of all conversations but one, without those after whose end another of them was sent, in the order of their
    /// conversations.
    fn frontier(&self, own: usize) -> Vec<&'s Entry<'r>> {
        let sent_last = self.by_start.iter().rev().find(|(_, of)| *of != own);
        let Some((sent_last, _)) = sent_last.copied() else { return Vec::new() };
        let open = self.by_end.range((sent_last + TOLERANCE_NS + 1, 0)..);
        let last = self.by_start.range((sent_last, 0)..);
        let found: BTreeSet<usize> = open.chain(last).map(|(_, of)| *of).collect();
        found.into_iter().filter(|of| *of != own).filter_map(|of| self.latest[of]).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::recorded::RecordedRequest;
    use crate::trace::{RecordedOptions, TraceInput, read_weka};

    /// Requests of so many starts and durations, in microseconds, as a recording has them.
    fn requests(times: &[(u16, u16)]) -> Vec<RecordedRequest> {
        let entry = |(start, took): &(u16, u16)| {
            format!(
                r#"{{"t":{:.6},"type":"n","model":"m","in":1,"out":1,"hash_ids":[],"api_time":{:.6}}}"#,
                f64::from(*start) / 1e6,
                f64::from(*took) / 1e6
            )
        };
        let entries: Vec<String> = times.iter().map(entry).collect();
        let text = format!(
            r#"{{"id":"r","models":[],"block_size":1,"hash_id_scope":"local","requests":[{}]}}"#,
            entries.join(",")
        );
        let mut found = Vec::new();
        let options = RecordedOptions {
            strictness: crate::trace::Strictness::Lenient,
            ..RecordedOptions::strict()
        };
        let input = [TraceInput::bytes("r.jsonl", text.as_bytes())];
        read_weka(&input, options, &mut |tree| {
            found.extend(tree.sessions.into_iter().flat_map(|session| session.requests));
        })
        .expect("a trace");
        found
    }

    /// What a request waits for, by comparing every pair.
    fn naive<'s>(streams: &'s [Stream<'s>], own: usize, target: &Entry<'_>) -> Vec<&'s str> {
        let ended = |entry: &&Entry<'_>| {
            entry.start() < target.start() && entry.end() <= target.start() + TOLERANCE_NS
        };
        let others = streams
            .iter()
            .enumerate()
            .filter(|(at, stream)| *at != own && stream.scope == streams[own].scope);
        let latest: Vec<&Entry<'_>> = others
            .filter_map(|(_, stream)| {
                let key = |entry: &&Entry<'_>| (entry.end(), entry.start(), entry.source.clone());
                stream.entries.iter().filter(ended).max_by_key(key)
            })
            .collect();
        let is_covered = |entry: &&&Entry<'_>| {
            latest.iter().any(|later| {
                entry.start() < later.start() && entry.end() <= later.start() + TOLERANCE_NS
            })
        };
        latest
            .iter()
            .filter(|entry| !is_covered(entry))
            .map(|entry| entry.source.as_str())
            .collect()
    }

    proptest! {
        #[test]
        fn a_request_waits_for_what_comparing_every_pair_says(
            shapes in prop::collection::vec(
                (0_usize..2, prop::collection::vec((0_u16..12, 0_u16..6), 1..6)), 1..6)
        ) {
            let requests: Vec<Vec<RecordedRequest>> =
                shapes.iter().map(|(_, times)| requests(times)).collect();
            let streams: Vec<Stream<'_>> = requests
                .iter()
                .zip(&shapes)
                .enumerate()
                .map(|(at, (requests, (scope, _)))| Stream {
                    session: at.to_string(),
                    entries: requests
                        .iter()
                        .enumerate()
                        .map(|(turn, request)| Entry { source: format!("{at}:{turn}"), request })
                        .collect(),
                    fork: None,
                    scope: *scope,
                })
                .collect();
            let found: BTreeMap<&str, Vec<&str>> = barriers(&streams)
                .into_iter()
                .map(|(target, of)| {
                    (target.source.as_str(), of.iter().map(|entry| entry.source.as_str()).collect())
                })
                .collect();
            for (own, stream) in streams.iter().enumerate() {
                for target in &stream.entries {
                    let is = found.get(target.source.as_str()).cloned().unwrap_or_default();
                    prop_assert_eq!(is, naive(&streams, own, target), "{}", &target.source);
                }
            }
        }
    }
}
