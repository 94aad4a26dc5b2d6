//! Which requests of a list go on where an earlier one ended: by prompts that begin with one another.

use std::collections::{BTreeMap, BTreeSet};

use super::seam::mend;
use super::stream::{Entry, TOLERANCE_NS, common};

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
    pub(super) fn tail_hashes(&self) -> &[u64] {
        self.tail.as_ref().map_or(&[], Entry::hashes)
    }

    fn add(&mut self, entry: Entry<'r>) {
        if !entry.hashes().is_empty() {
            self.tail = Some(entry.clone());
        }
        self.entries.push(entry);
    }

    /// Returns whether a request may go on where the chain ended.
    fn is_continued_by(&self, entry: &Entry<'_>) -> bool {
        self.tail.as_ref().is_some_and(|tail| {
            entry.hashes().starts_with(tail.hashes())
                && tail.model() == entry.model()
                && tail.end() <= entry.start() + TOLERANCE_NS
        })
    }
}

/// Pulls the requests of a list, which is not empty, apart.
pub(super) fn chains(mut entries: Vec<Entry<'_>>) -> Chains<'_> {
    entries.sort_by(Entry::order);
    let mut chains: Vec<Chain<'_>> = vec![Chain::default()];
    let mut forks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for entry in entries {
        let target = target(&chains, &entry);
        if let Some(target) = target {
            chains[target].add(entry);
            continue;
        }
        let (parent, depth) = deepest(&chains, entry.hashes());
        let source = parent.and_then(|parent| chains[parent].tail.as_ref());
        let source = source.map(|tail| tail.source.clone());
        if let Some(source) = source.clone().filter(|_| depth > 0) {
            forks.entry(source).or_default().push(chains.len());
        }
        let fork = Some(Fork { source, depth, at: entry.start() });
        let mut chain = Chain { fork, ..Chain::default() };
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

/// Returns the chain that a request goes on with: the one with the longest prompt that its own begins with. A request without
/// blocks, and any before the first with blocks, is of the first chain.
fn target(chains: &[Chain<'_>], entry: &Entry<'_>) -> Option<usize> {
    let nowhere = chains.iter().all(|chain| chain.tail.is_none());
    if entry.hashes().is_empty() || nowhere {
        return Some(0);
    }
    let mut best: Option<usize> = None;
    for (at, chain) in chains.iter().enumerate().filter(|(_, chain)| chain.is_continued_by(entry)) {
        let length = |at: usize| chains[at].tail_hashes().len();
        if best.is_none_or(|best| chain.tail_hashes().len() > length(best)) {
            best = Some(at);
        }
    }
    best
}

/// Returns the chain whose last prompt has most in common with these blocks, and how much; of equal ones the longest, then the first.
fn deepest(chains: &[Chain<'_>], hashes: &[u64]) -> (Option<usize>, usize) {
    let mut best = (None, (0, 0));
    for (at, chain) in chains.iter().enumerate() {
        let tail = chain.tail_hashes();
        let key = (common(tail, hashes), tail.len());
        if key.0 > 0 && key > best.1 {
            best = (Some(at), key);
        }
    }
    (best.0, best.1.0)
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
