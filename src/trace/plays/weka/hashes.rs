//! The blocks of a trace, by names of the whole corpus.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use crate::trace::recorded::{HashScope, RecordedRequest};
use crate::units::BlockSize;

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

    /// Returns one name for each block of a prompt. Full blocks that the recording does not name, and the block that the prompt ends
    /// in, are the prompt's own: nothing says that their text was seen before.
    pub(super) fn of(&mut self, request: &RecordedRequest, size: BlockSize) -> Vec<u64> {
        let input = request.input.unwrap_or_default();
        let recorded = request.hashes.as_deref().unwrap_or_default();
        let full = usize::try_from(input.blocks_full(size).get()).unwrap_or(usize::MAX);
        let all = usize::try_from(input.blocks_ceil(size).get()).unwrap_or(usize::MAX);
        let mut names = Vec::with_capacity(all);
        for hash in recorded.iter().take(full) {
            let next = &mut self.next;
            names.push(*self.known.entry(*hash).or_insert_with(|| fresh(next)));
        }
        names.resize_with(all, || fresh(&mut self.next));
        names
    }
}

fn fresh(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

/// Spreads ids over the table: recordings count them up. Fixed, and the table is never iterated.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        // An odd multiplier keeps ids apart, the fold brings the high bits down.
        let mixed = (self.0.rotate_left(5) ^ id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
