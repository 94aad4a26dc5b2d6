//! Which requests of a list go on where an earlier one ended: by prompts that begin with one another.

use std::collections::{BTreeMap, BTreeSet};

use super::seam::mend;
use super::stream::{Entry, common};
use super::tails::Tails;

/// Requests of which each prompt begins with the one before.
#[derive(Debug, Default)]
pub(super) struct Chain<'r> {
    pub(super) entries: Vec<Entry<'r>>,
    pub(super) fork: Option<Fork>,
    /// The chain that it was found to be the rest of.
    pub(super) mended_into: Option<usize>,
    /// Its last request with blocks.
    pub(super) tail: Option<Entry<'r>>,
}

/// Where a chain left another one.
#[derive(Debug)]
pub(super) struct Fork {
    /// The request that it left after, by name.
    pub(super) source: Option<String>,
    /// How many blocks it shares with that.
    pub(super) depth: usize,
    /// When its first request was sent.
    pub(super) at: u64,
}

/// The conversations of a list: the main one, and those beside it.
#[derive(Debug)]
pub(super) struct Chains<'r> {
    pub(super) main: Chain<'r>,
    pub(super) workers: Vec<Chain<'r>>,
}

impl<'r> Chain<'r> {
    fn add(&mut self, entry: Entry<'r>) {
        if !entry.hashes().is_empty() {
            self.tail = Some(entry.clone());
        }
        self.entries.push(entry);
    }
}

/// Pulls the requests of a list, which is not empty, apart.
pub(super) fn chains(mut entries: Vec<Entry<'_>>) -> Chains<'_> {
    entries.sort_by(Entry::order);
    let mut chains: Vec<Chain<'_>> = vec![Chain::default()];
    let mut forks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut tails = Tails::default();
    for entry in entries {
        // A request without blocks, and any before the first with blocks, is of the first chain.
        let is_first = entry.hashes().is_empty() || tails.is_empty();
        let target = if is_first { Some(0) } else { tails.target(&entry) };
        if let Some(target) = target {
            tails.note(target, &entry);
            chains[target].add(entry);
            continue;
        }
        let (parent, depth) = tails.deepest(entry.hashes());
        let source = parent.and_then(|parent| chains[parent].tail.as_ref());
        let source = source.map(|tail| tail.source.clone());
        if let Some(source) = source.clone().filter(|_| depth > 0) {
            forks.entry(source).or_default().push(chains.len());
        }
        let fork = Some(Fork { source, depth, at: entry.start() });
        let mut chain = Chain { fork, ..Chain::default() };
        tails.note(chains.len(), &entry);
        chain.add(entry);
        chains.push(chain);
    }
    mend(&mut chains, forks);
    let mut left: Vec<Chain<'_>> =
        chains.into_iter().filter(|chain| chain.mended_into.is_none()).collect();
    // The main conversation is the one that begins first; the others follow by their beginning.
    left.sort_by(|a, b| a.entries[0].order(&b.entries[0]));
    let mut left = left.into_iter();
    Chains {
        main: left.next().expect("no first chain is the rest of another"),
        workers: left.collect(),
    }
}

/// Splits off a first request that shares nothing with the rest: a preamble. One with a long answer shares no block at all with it.
pub(super) fn split_preamble(mut entries: Vec<Entry<'_>>) -> (Option<Entry<'_>>, Vec<Entry<'_>>) {
    entries.sort_by(Entry::order);
    let Some((first, rest)) = entries.split_first() else { return (None, entries) };
    if rest.is_empty() || first.hashes().is_empty() {
        return (None, entries);
    }
    let shares_start = rest.iter().any(|other| common(first.hashes(), other.hashes()) > 0);
    let is_long = first.request.output.is_some_and(|output| output.get() > 64);
    let shares_any = || {
        let others: BTreeSet<u64> =
            rest.iter().flat_map(|other| other.hashes().iter().copied()).collect();
        first.hashes().iter().any(|hash| others.contains(hash))
    };
    if shares_start || is_long && shares_any() {
        return (None, entries);
    }
    let first = entries.remove(0);
    (Some(first), entries)
}
