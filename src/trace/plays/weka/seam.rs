//! Chains that are the rest of another one: a prompt was shortened, and the conversation went on.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::Chain;
use super::stream::{Entry, TOLERANCE_NS, common};

/// After a longer pause than this, in nanoseconds, a conversation goes on only where it kept half of its prompt.
const LONG_PAUSE_NS: u64 = 3_600_000_000_000;

/// Puts chains that left another one after its last request, and are most likely its rest, behind it.
pub(super) fn mend(chains: &mut [Chain<'_>], mut forks: BTreeMap<String, Vec<usize>>) {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    for (at, chain) in chains.iter().enumerate() {
        for entry in &chain.entries {
            owners.insert(entry.source.clone(), at);
        }
    }
    let mut open: BTreeSet<String> = forks.keys().cloned().collect();
    while let Some(source) = open.pop_first() {
        let owner = owners[&source];
        let Some(tail) = chains[owner].tail.clone().filter(|tail| tail.source == source) else {
            continue;
        };
        let left: Vec<usize> =
            forks[&source].iter().copied().filter(|at| chains[*at].mended_into.is_none()).collect();
        let Some(rest) = elect(chains, &left, &tail) else { continue };
        let moved = std::mem::take(&mut chains[rest].entries);
        for entry in &moved {
            owners.insert(entry.source.clone(), owner);
        }
        chains[owner].entries.extend(moved);
        chains[owner].tail = chains[rest].tail.take();
        chains[rest].mended_into = Some(owner);
        let Some(tail) = chains[owner].tail.clone() else { continue };
        let moved = reparent(chains, &left, &tail);
        if !moved.is_empty() {
            forks.entry(tail.source.clone()).or_default().extend(moved);
            open.insert(tail.source);
        }
    }
}

/// Returns the chain that is most likely the rest after `tail`: the one that shares most with it, then the earliest.
fn elect(chains: &[Chain<'_>], left: &[usize], tail: &Entry<'_>) -> Option<usize> {
    let key = |at: usize| {
        let fork =
            chains[at].fork.as_ref().expect("a chain that left another has left it somewhere");
        (fork.depth, std::cmp::Reverse((fork.at, at)))
    };
    left.iter().copied().filter(|at| may_be_rest(&chains[*at], tail)).max_by_key(|at| key(*at))
}

/// Returns whether a chain may be the rest of what ended with `tail`.
fn may_be_rest(chain: &Chain<'_>, tail: &Entry<'_>) -> bool {
    let (Some(fork), Some(first)) = (&chain.fork, chain.entries.first()) else { return false };
    let pause = first.start().saturating_sub(tail.end());
    let keeps_half = 2 * fork.depth >= tail.hashes().len().max(1);
    fork.depth > 0
        && tail.end() <= first.start() + TOLERANCE_NS
        && first.model() == tail.model()
        && (pause <= LONG_PAUSE_NS || keeps_half)
}

/// Lets the other chains that left at the same place leave after the new tail, where they share something with it and came later.
/// Returns them.
fn reparent(chains: &mut [Chain<'_>], left: &[usize], tail: &Entry<'_>) -> Vec<usize> {
    let mut moved = Vec::new();
    for at in left.iter().copied() {
        let Some(first) = chains[at].entries.first().filter(|_| chains[at].mended_into.is_none())
        else {
            continue;
        };
        let depth = common(tail.hashes(), first.hashes());
        if tail.start() > first.start() + TOLERANCE_NS || depth == 0 {
            continue;
        }
        let fork =
            chains[at].fork.as_mut().expect("a chain that left another has left it somewhere");
        fork.source = Some(tail.source.clone());
        fork.depth = depth;
        moved.push(at);
    }
    moved
}
