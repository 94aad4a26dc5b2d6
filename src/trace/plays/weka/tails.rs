//! How the last prompts of conversations begin: finds what a request goes on from without comparing it with each of them.
//!
//! The prompts stand in a tree of blocks, in which those that begin alike share what leads to where they part. A step of it is as many blocks as all
//! of them share, so that looking for a prompt compares each of its blocks once, whatever the number of conversations.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::stream::{Entry, TOLERANCE_NS, common};

/// The last prompts of chains. What a chain goes on with begins with what it ended with, and requests come in the order of their starts.
#[derive(Debug)]
pub(super) struct Tails<'r> {
    /// The root, which stands for no block, and where prompts part or end.
    nodes: Vec<Node<'r>>,
    /// Where the last prompt of each chain ends, and its model.
    last: Vec<Option<(usize, &'r str)>>,
    /// When last prompts end that had not ended so far: those chains, the earliest first.
    running: BinaryHeap<Reverse<(u64, usize)>>,
}

/// A place where prompts part or end.
#[derive(Debug, Default)]
struct Node<'r> {
    /// The blocks that lead here from the place above.
    step: &'r [u64],
    /// The places below, by the first block that leads there.
    below: BTreeMap<u64, usize>,
    /// The length of the longest last prompt that comes by, and its chain; of equal ones the first.
    longest: (usize, Reverse<usize>),
    /// The chains whose last prompt ends here and was over, by model.
    over: BTreeMap<&'r str, BTreeSet<usize>>,
}

impl Default for Tails<'_> {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], last: Vec::new(), running: BinaryHeap::new() }
    }
}

impl<'r> Tails<'r> {
    /// Notes the request that a chain goes on with. One without blocks is no last prompt.
    pub(super) fn note(&mut self, chain: usize, entry: &Entry<'r>) {
        if entry.hashes().is_empty() {
            return;
        }
        self.last.resize(self.last.len().max(chain + 1), None);
        if let Some((node, model)) = self.last[chain]
            && let Some(over) = self.nodes[node].over.get_mut(model)
        {
            over.remove(&chain);
        }
        let node = self.insert(entry.hashes(), (entry.hashes().len(), Reverse(chain)));
        self.last[chain] = Some((node, entry.model()));
        self.running.push(Reverse((entry.end(), chain)));
    }

    /// Returns whether no chain has a prompt with blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Returns the chain that a request may go on with whose last prompt is the longest that its own begins with: one of its model that was over
    /// when it was sent. Of equal ones the first.
    pub(super) fn target(&mut self, entry: &Entry<'r>) -> Option<usize> {
        self.end_until(entry.start() + TOLERANCE_NS);
        let hashes = entry.hashes();
        let (mut at, mut depth, mut found) = (0, 0, None);
        while let Some(next) = self.below(at, &hashes[depth..]) {
            let step = self.nodes[next].step;
            if !hashes[depth..].starts_with(step) {
                break;
            }
            (at, depth) = (next, depth + step.len());
            let over = self.nodes[at].over.get(entry.model());
            found = over.and_then(|chains| chains.first().copied()).or(found);
        }
        found
    }

    /// Returns the chain whose last prompt has most in common with these blocks, and how much; of equal ones the longest, then the first.
    pub(super) fn deepest(&self, hashes: &[u64]) -> (Option<usize>, usize) {
        let (mut at, mut depth) = (0, 0);
        while let Some(next) = self.below(at, &hashes[depth..]) {
            let step = self.nodes[next].step;
            let agreed = common(&hashes[depth..], step);
            (at, depth) = (next, depth + agreed);
            if agreed < step.len() {
                break;
            }
        }
        let (_, Reverse(chain)) = self.nodes[at].longest;
        ((depth > 0).then_some(chain), depth)
    }

    /// Returns the place below one to which blocks lead, perhaps beyond what they agree on.
    fn below(&self, at: usize, blocks: &[u64]) -> Option<usize> {
        self.nodes[at].below.get(blocks.first()?).copied()
    }

    /// Lets last prompts be over that ended until then.
    fn end_until(&mut self, time: u64) {
        while let Some(Reverse((_, chain))) =
            self.running.peek().copied().filter(|Reverse((end, _))| *end <= time)
        {
            self.running.pop();
            if let Some((node, model)) = self.last[chain] {
                self.nodes[node].over.entry(model).or_default().insert(chain);
            }
        }
    }

    /// Returns the place where a prompt ends, which is made where there is none.
    fn insert(&mut self, hashes: &'r [u64], longest: (usize, Reverse<usize>)) -> usize {
        let (mut at, mut depth) = (0, 0);
        while depth < hashes.len() {
            let Some(next) = self.below(at, &hashes[depth..]) else {
                return self.add(at, Node { step: &hashes[depth..], longest, ..Node::default() });
            };
            let agreed = common(&hashes[depth..], self.nodes[next].step);
            at = if agreed < self.nodes[next].step.len() {
                self.part(at, next, agreed)
            } else {
                next
            };
            depth += agreed;
            // A chain only grows: what was the longest so far has not become shorter.
            self.nodes[at].longest = self.nodes[at].longest.max(longest);
        }
        at
    }

    /// Adds a place below one.
    fn add(&mut self, above: usize, node: Node<'r>) -> usize {
        let at = self.nodes.len();
        self.nodes[above].below.insert(node.step[0], at);
        self.nodes.push(node);
        at
    }

    /// Adds a place within the step from one to the next, behind so many blocks.
    fn part(&mut self, above: usize, next: usize, blocks: usize) -> usize {
        let (step, rest) = self.nodes[next].step.split_at(blocks);
        self.nodes[next].step = rest;
        let below = BTreeMap::from([(rest[0], next)]);
        let longest = self.nodes[next].longest;
        self.add(above, Node { step, below, longest, over: BTreeMap::new() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::recorded::{Place, RecordedRequest};
    use crate::units::{Nanos, Tokens};

    /// A request: the time since the one before and how long it took, its model, its blocks, and how many requests before it the one is
    /// that its prompt begins with.
    type Shape = (u64, u64, bool, Vec<u64>, usize);

    fn requests(shapes: &[Shape]) -> Vec<RecordedRequest> {
        let (mut made, mut start): (Vec<RecordedRequest>, u64) = Default::default();
        for (entry, (gap, took, is_other, own, back)) in shapes.iter().enumerate() {
            start += gap;
            let before = made.len().checked_sub(*back).and_then(|at| made.get(at));
            let mut hashes = before.and_then(|one| one.hashes.clone()).unwrap_or_default();
            hashes.extend(own);
            made.push(RecordedRequest {
                id: None,
                entry,
                start: Nanos::new(start),
                duration: Some(Nanos::new(*took)),
                ended: None,
                ttft: None,
                streamed: None,
                model: Some(if *is_other { "other" } else { "m" }.to_owned()),
                input: Some(Tokens::new(1)),
                output: Some(Tokens::new(1)),
                cached: None,
                hashes: Some(hashes),
                think_time: None,
                stop: None,
                input_types: Vec::new(),
                output_types: Vec::new(),
                edges: Vec::new(),
                place: Place { file: "t".into(), line: 1, column: 1 },
            });
        }
        made
    }

    /// As [`Tails::target`], by a look at each last prompt.
    fn naive_target(last: &[Entry<'_>], entry: &Entry<'_>) -> Option<usize> {
        let goes_on = |tail: &Entry<'_>| {
            entry.hashes().starts_with(tail.hashes())
                && tail.model() == entry.model()
                && tail.end() <= entry.start() + TOLERANCE_NS
        };
        let found = last.iter().enumerate().filter(|(_, tail)| goes_on(tail));
        found
            .max_by_key(|(chain, tail)| (tail.hashes().len(), Reverse(*chain)))
            .map(|(chain, _)| chain)
    }

    /// As [`Tails::deepest`], by a look at each last prompt.
    fn naive_deepest(last: &[Entry<'_>], hashes: &[u64]) -> (Option<usize>, usize) {
        let key = |(chain, tail): (usize, &Entry<'_>)| {
            (common(tail.hashes(), hashes), tail.hashes().len(), Reverse(chain))
        };
        match last.iter().enumerate().map(key).max() {
            Some((depth, _, Reverse(chain))) if depth > 0 => (Some(chain), depth),
            _ => (None, 0),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

        #[test]
        fn what_is_found_is_what_a_look_at_each_chain_finds(
            shapes in prop::collection::vec(
                (0_u64..3000, 0_u64..9000, any::<bool>(), prop::collection::vec(0_u64..3, 0..4), 0_usize..6), 1..60
            )
        ) {
            let requests = requests(&shapes);
            let (mut tails, mut last): (Tails<'_>, Vec<Entry<'_>>) = Default::default();
            for request in &requests {
                let entry = Entry { source: String::new(), request };
                prop_assert_eq!(tails.is_empty(), last.is_empty());
                prop_assert_eq!(tails.deepest(entry.hashes()), naive_deepest(&last, entry.hashes()));
                if entry.hashes().is_empty() {
                    continue;
                }
                let target = tails.target(&entry);
                prop_assert_eq!(target, naive_target(&last, &entry));
                let chain = target.unwrap_or(last.len());
                tails.note(chain, &entry);
                if chain == last.len() { last.push(entry) } else { last[chain] = entry }
            }
        }
    }
}
