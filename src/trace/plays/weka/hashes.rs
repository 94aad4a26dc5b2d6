//! The blocks of a trace, by names of the whole corpus.

use std::hash::BuildHasherDefault;
use std::ops::Range;

use hashbrown::HashMap;

use crate::digest::Spread;
use crate::trace::recorded::{HashScope, RecordedRequest};
use crate::units::BlockSize;

/// Names of blocks one by one, and behind them names that count up.
pub(super) type Names = (Vec<u64>, Range<u64>);

/// Gives blocks names that differ between traces, and between a block that is full and one that a prompt ends in.
#[derive(Debug, Default)]
pub(in super::super) struct Hashes {
    /// The names of this trace's recorded blocks, or of all where they mean the same everywhere.
    known: HashMap<u64, u64, BuildHasherDefault<Spread>>,
    next: u64,
}

impl Hashes {
    /// Begins another trace.
    pub(super) fn begin(&mut self, scope: HashScope) {
        if scope == HashScope::Local {
            self.known.clear();
        }
    }

    /// Returns the names of a prompt's blocks: those that the recording knows, then those that are made up and count up. Full blocks that the recording does not name, and the block that the prompt ends
    /// in, are the prompt's own: nothing says that their text was seen before.
    pub(super) fn of(&mut self, request: &RecordedRequest, size: BlockSize) -> Names {
        let input = request.input.unwrap_or_default();
        let recorded = request.hashes.as_deref().unwrap_or_default();
        let full = usize::try_from(input.blocks_full(size).get()).unwrap_or(usize::MAX);
        let mut names = Vec::with_capacity(recorded.len());
        for hash in recorded.iter().take(full) {
            let next = &mut self.next;
            names.push(*self.known.entry(*hash).or_insert_with(|| fresh(next)));
        }
        let known = u64::try_from(names.len()).unwrap_or(u64::MAX);
        let made_up = input.blocks_ceil(size).get().saturating_sub(known);
        let counted = self.next..self.next + made_up;
        self.next = counted.end;
        if made_up > 1 {
            return (names, counted);
        }
        names.extend(counted);
        (names, 0..0)
    }
}

fn fresh(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}
