//! Prompt tokens served from cache, and how many an infinite cache would serve.

use std::collections::BTreeMap;

use crate::record::{RequestRecord, RunRecord};
use crate::units::{BlockSize, Ppm, Tokens};

/// Returns the share of the prompt tokens of completed requests that `reused` served, or `None` without prompt tokens.
///
/// Source: docs/metrics.md#prefix-hit.
pub(super) fn hit(record: &RunRecord, reused: fn(&RequestRecord) -> Tokens) -> Option<Ppm> {
    let completed = || record.requests.iter().filter(|request| request.is_completed());
    let part: u64 = completed().map(|request| reused(&request).get()).sum();
    let whole: u64 = completed().map(|request| request.input.get()).sum();
    Ppm::of(part, whole)
}

/// A prompt as the ceiling sees it.
#[derive(Debug, Clone, Copy)]
pub struct CeilingPrompt<'a> {
    /// Prompt tokens.
    pub input: Tokens,
    /// Requested output tokens: with none, even the last block may come from cache.
    pub output: Tokens,
    /// One id for each block of the source's size; the last block may be partly used.
    pub ids: &'a [u64],
}

/// Every prompt so far as a tree of block ids: an infinite cache that computes at once.
///
/// Each node knows how many tokens of its block some prompt has used, so that a source's blocks may be larger or smaller than
/// the engine's.
#[derive(Debug)]
pub struct PrefixTree {
    source_block: BlockSize,
    engine_block: BlockSize,
    nodes: BTreeMap<(u32, u64), u32>,
    known: Vec<u64>,
}

impl PrefixTree {
    /// Returns an empty cache for ids that stand for `source_block` tokens under an engine with `engine_block`.
    pub fn new(source_block: BlockSize, engine_block: BlockSize) -> Self {
        Self { source_block, engine_block, nodes: BTreeMap::new(), known: vec![0] }
    }

    /// Returns the tokens of `prompt` that an infinite cache would serve, and remembers the prompt.
    ///
    /// Whole engine blocks only; at least one token is computed unless no output is asked for.
    /// Source: docs/metrics.md#prefix-hit; spec/SIMULATION.md §3.1 for the cap.
    pub fn serve(&mut self, prompt: CeilingPrompt<'_>) -> Tokens {
        let matched = self.walk(prompt.input.get(), prompt.ids);
        let may_be_cached = if prompt.output == Tokens::ZERO {
            prompt.input.get()
        } else {
            prompt.input.get().saturating_sub(1)
        };
        Tokens::new(matched.min(may_be_cached))
            .blocks_full(self.engine_block)
            .tokens(self.engine_block)
    }

    /// Returns how many leading tokens were known, and makes the whole prompt known.
    fn walk(&mut self, mut rest: u64, ids: &[u64]) -> u64 {
        let (mut parent, mut matched, mut still_matching) = (0_u32, 0, true);
        for id in ids {
            let used = rest.min(u64::from(self.source_block.get()));
            let node = self.node(parent, *id);
            let known = &mut self.known[node as usize];
            if still_matching {
                matched += used.min(*known);
                still_matching = *known >= used;
            }
            *known = used.max(*known);
            (parent, rest) = (node, rest - used);
        }
        matched
    }

    /// Returns the child of `parent` that `id` names.
    fn node(&mut self, parent: u32, id: u64) -> u32 {
        *self.nodes.entry((parent, id)).or_insert_with(|| {
            self.known.push(0);
            u32::try_from(self.known.len() - 1).expect("a corpus has fewer than 2^32 blocks")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sample::run;

    fn tree(source: u32, engine: u32) -> PrefixTree {
        let block = |size| BlockSize::new(size).expect("not zero");
        PrefixTree::new(block(source), block(engine))
    }

    fn serve(tree: &mut PrefixTree, input: u64, ids: &[u64]) -> u64 {
        let output = Tokens::new(1);
        tree.serve(CeilingPrompt { input: Tokens::new(input), output, ids }).get()
    }

    #[test]
    fn a_repeated_prompt_computes_its_last_block_and_a_longer_one_only_what_is_new() {
        let mut tree = tree(16, 16);
        assert_eq!(serve(&mut tree, 32, &[1, 2]), 0);
        assert_eq!(serve(&mut tree, 32, &[1, 2]), 16, "at least one token is computed");
        assert_eq!(serve(&mut tree, 48, &[1, 2, 3]), 32);
        assert_eq!(
            serve(&mut tree, 48, &[9, 2, 3]),
            0,
            "another first block hides all that follow"
        );
    }

    #[test]
    fn no_output_lets_the_last_block_come_from_cache() {
        let mut tree = tree(16, 16);
        serve(&mut tree, 32, &[1, 2]);
        let prompt = CeilingPrompt { input: Tokens::new(32), output: Tokens::ZERO, ids: &[1, 2] };
        assert_eq!(tree.serve(prompt).get(), 32);
    }

    #[test]
    fn source_blocks_may_be_larger_than_engine_blocks() {
        let mut tree = tree(512, 64);
        serve(&mut tree, 700, &[1, 2]);
        assert_eq!(serve(&mut tree, 1024, &[1, 2]), 640, "of 700 known tokens, ten whole blocks");
        assert_eq!(serve(&mut tree, 1100, &[1, 2, 3]), 1024);
    }

    #[test]
    fn hits_count_completed_requests_only() {
        let mut record = run(2);
        record.requests.in_memory()[1].outcome = None;
        let first = hit(&record, RequestRecord::reused_first);
        assert_eq!(first.map(Ppm::get), Some(640_000));
        record.requests.in_memory()[0].outcome = None;
        assert_eq!(hit(&record, RequestRecord::reused_first), None);
    }
}
