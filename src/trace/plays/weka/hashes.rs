//! The blocks of a trace, by names of the whole corpus.

use std::collections::BTreeMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use hashbrown::HashMap;

use crate::digest::{Spread, blake3_number};
use crate::trace::options::ArrivalRule;
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
    /// What names are derived from as the reference does it, where they enter a digest; else they count up.
    derived: Option<Derived>,
}

/// Names as the reference derives them.
#[derive(Debug, Default)]
struct Derived {
    /// What the corpus calls the trace.
    source: String,
    /// Whose each name is: two things with one name are told apart.
    taken: BTreeMap<u64, String>,
}

impl Hashes {
    /// Returns the names of a corpus that is read for such a load.
    pub(in super::super) fn of_corpus(arrivals: ArrivalRule) -> Self {
        let derived = (arrivals == ArrivalRule::Snapshot).then(Derived::default);
        Self { derived, ..Self::default() }
    }

    /// Begins another trace.
    pub(super) fn begin(&mut self, scope: HashScope, source: &str) {
        if scope == HashScope::Local {
            self.known.clear();
        }
        if let Some(derived) = &mut self.derived {
            *derived = Derived { source: source.to_owned(), taken: BTreeMap::new() };
        }
    }

    /// Returns the names of a prompt's blocks: those that the recording knows, then those that are made up and count up. Full blocks that the recording does not name, and the block that the prompt ends
    /// in, are the prompt's own: nothing says that their text was seen before.
    pub(super) fn of(
        &mut self,
        request: &RecordedRequest,
        request_id: &str,
        size: BlockSize,
    ) -> Names {
        let input = request.input.unwrap_or_default();
        let recorded = request.hashes.as_deref().unwrap_or_default();
        let full = usize::try_from(input.blocks_full(size).get()).unwrap_or(usize::MAX);
        let mut names = Vec::with_capacity(recorded.len());
        for hash in recorded.iter().take(full) {
            let (next, derived) = (&mut self.next, &mut self.derived);
            names.push(*self.known.entry(*hash).or_insert_with(|| match derived {
                None => fresh(next),
                Some(derived) => derived.recorded(*hash),
            }));
        }
        let known = u64::try_from(names.len()).unwrap_or(u64::MAX);
        let blocks = input.blocks_ceil(size).get();
        if let Some(derived) = &mut self.derived {
            let full = input.blocks_full(size).get();
            names.extend((known..full).map(|block| derived.missing(request_id, block)));
            names.extend((full..blocks).map(|block| {
                let end = format!("{request_id}:{block}:{input}");
                derived.name("weka-partial-tail", &end)
            }));
            return (names, 0..0);
        }
        let made_up = blocks.saturating_sub(known);
        let counted = self.next..self.next + made_up;
        self.next = counted.end;
        if made_up > 1 {
            return (names, counted);
        }
        names.extend(counted);
        (names, 0..0)
    }
}

impl Derived {
    /// Returns the name of a block that the recording names.
    fn recorded(&mut self, hash: u64) -> u64 {
        let identity = format!("source:{}:{hash}", self.source);
        self.name("weka-full-block", &identity)
    }

    /// Returns the name of a full block that the recording does not name.
    fn missing(&mut self, request_id: &str, block: u64) -> u64 {
        self.name("weka-full-block", &format!("private:missing:{request_id}:{block}"))
    }

    /// Returns the name of a thing: the first of its numbers that is not that of another thing.
    fn name(&mut self, domain: &str, identity: &str) -> u64 {
        let mut nonce = 0_u32;
        loop {
            let number = blake3_number(format!("{domain}\0{identity}\0{nonce}").as_bytes());
            let owner = self.taken.entry(number).or_insert_with(|| identity.to_owned());
            if owner == identity {
                return number;
            }
            nonce += 1;
        }
    }
}

fn fresh(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}
