//! The prefix hit of an infinite cache: the ceiling of what any cache can reuse.

use std::collections::BTreeSet;

use crate::units::{Ppm, Tokens};
use crate::workload::{Corpus, Prompts};

/// The share of prompts that an infinite cache would serve, rows taken in order, counted in three ways.
///
/// A row's run is how many of its leading ids were seen in rows before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixHit {
    /// Full blocks: the run, at most the whole blocks of the prompt, over the whole blocks. This one is published with the traces.
    pub full_blocks: Option<Ppm>,
    /// Ids: the run over all ids, a partly filled last block included.
    pub ids: Option<Ppm>,
    /// Tokens: the run's tokens, at most those of the prompt, over all tokens.
    pub tokens: Option<Ppm>,
}

/// Numerator and denominator of a share.
#[derive(Debug, Default)]
struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    /// Adds a row.
    fn add(&mut self, part: u64, whole: u64) {
        self.part += part;
        self.whole += whole;
    }

    /// Returns the share, or `None` of nothing.
    fn ppm(&self) -> Option<Ppm> {
        Ppm::of(self.part, self.whole)
    }
}

impl PrefixHit {
    /// Returns the hit of a corpus, or `None` where no row has ids, or where a row is not the whole prompt.
    pub fn of(corpus: &Corpus) -> Option<Self> {
        if corpus.prompts() == Prompts::Added {
            return None;
        }
        let size = corpus.block_size();
        let mut seen: BTreeSet<u64> = BTreeSet::new();
        let (mut full, mut ids, mut tokens) =
            (Share::default(), Share::default(), Share::default());
        let reader = corpus.reader();
        for row in reader.rows() {
            let named = reader.hash_ids(&row);
            let run = count(named.iter().take_while(|id| seen.contains(id)));
            let reusable = Tokens::new(run.saturating_mul(u64::from(size.get())));
            let whole_blocks = row.input.blocks_full(size).get();
            full.add(run.min(whole_blocks), whole_blocks);
            ids.add(run, count(named.iter()));
            tokens.add(reusable.min(row.input).get(), row.input.get());
            seen.extend(named);
        }
        (!seen.is_empty()).then(|| Self {
            full_blocks: full.ppm(),
            ids: ids.ppm(),
            tokens: tokens.ppm(),
        })
    }
}

/// Returns how many items there are.
fn count<T>(items: impl Iterator<Item = T>) -> u64 {
    items.fold(0, |count, _| count + 1)
}
