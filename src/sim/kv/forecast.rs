//! What the prompts of a whole input ask for, in the order in which they arrive: by it a pool evicts the block that is asked for last.
//!
//! One forecast serves all workers of a run. A prompt counts until a pass that computes it first is formed, or until it is refused;
//! later chunks, preemptions and outputs count for nothing, and nobody foresees which worker serves whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::workload::BlockIdentity;

/// What the prompts that have not been served yet ask for.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// The place of each session's prompt in the order of arrival.
    places: BTreeMap<u64, usize>,
    /// The complete blocks of each prompt, by place; nothing once it is served.
    prompts: Vec<BTreeSet<u64>>,
    /// Which prompts ask for a block, by place; those before the second part are served.
    uses: BTreeMap<u64, (Vec<usize>, usize)>,
    /// Blocks whose next use has moved, in order.
    moved: Vec<u64>,
}

impl Forecast {
    /// Adds the prompt that arrives next: one of a session, and the identities of its complete blocks.
    pub(crate) fn add(&mut self, session: u64, blocks: impl IntoIterator<Item = BlockIdentity>) {
        let place = self.prompts.len();
        let blocks: BTreeSet<u64> = blocks.into_iter().map(BlockIdentity::bits).collect();
        for block in &blocks {
            self.uses.entry(*block).or_default().0.push(place);
        }
        self.places.insert(session, place);
        self.prompts.push(blocks);
    }

    /// Notes that the prompt of a session is served or refused.
    pub(crate) fn retire(&mut self, session: u64) {
        let Some(place) = self.places.remove(&session) else { return };
        for block in std::mem::take(&mut self.prompts[place]) {
            let Some((places, next)) = self.uses.get_mut(&block) else { continue };
            let before = *next;
            // A later prompt may have been served before an earlier one.
            while places.get(*next).is_some_and(|at| !self.prompts[*at].contains(&block)) {
                *next += 1;
            }
            if *next != before {
                self.moved.push(block);
            }
        }
    }

    /// Returns the place of the next prompt that asks for a block, the largest number where none does.
    pub(super) fn next_use(&self, block: u64) -> usize {
        let next = self.uses.get(&block).and_then(|(places, next)| places.get(*next));
        next.copied().unwrap_or(usize::MAX)
    }

    /// Returns the blocks whose next use has moved since `seen` of them, and counts them as seen.
    pub(super) fn moved_since(&self, seen: &mut usize) -> Vec<u64> {
        let moved = self.moved[*seen..].to_vec();
        *seen = self.moved.len();
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{BlockCursor, Content, Run, Symbol};

    fn block(id: u64) -> BlockIdentity {
        let run = Run { symbol: Symbol::Repeated(id), start: 0, length: 4 };
        Content::new([run], 0).next_block(&mut BlockCursor::default(), 4)
    }

    #[test]
    fn an_earlier_prompt_that_still_waits_counts_though_a_later_one_was_served() {
        let (a, b) = (block(1).bits(), block(2).bits());
        let mut forecast = Forecast::default();
        forecast.add(7, [block(1), block(2)]);
        forecast.add(3, [block(1)]);
        forecast.add(5, [block(1), block(2)]);
        forecast.retire(3);
        let mut seen = 0;
        assert_eq!((forecast.next_use(a), forecast.moved_since(&mut seen)), (0, vec![]));
        forecast.retire(7);
        assert_eq!((forecast.next_use(a), forecast.next_use(b)), (2, 2));
        assert_eq!(forecast.moved_since(&mut seen).len(), 2);
        forecast.retire(5);
        forecast.retire(5);
        assert_eq!((forecast.next_use(a), forecast.next_use(9)), (usize::MAX, usize::MAX));
    }
}
