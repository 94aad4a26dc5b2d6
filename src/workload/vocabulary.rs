//! The number of each token of a prompt, as the reference numbers them.
//!
//! Equality of prompts needs no numbers (see `prompt`); only names that the reference computes from them do. A trace's hash ids are
//! numbered by first appearance in the file; the blocks of a synthetic prompt are numbered one after the other; outputs are
//! drawn from one stream over the whole corpus. Source: spec/SIMULATION.md §1.9, §3.5, §9.2.

use std::collections::BTreeMap;

use crate::digest::{Seed, Stream};

use super::{Content, Corpus, Origin, RequestList, Run, SessionShape, Symbol, SyntheticShape};

/// The seed of the stream that outputs are drawn from.
const OUTPUT_SEED: u64 = 0xD37A_0A7E_5EED;
/// How far the numbers of two prompts of which nothing but the length is known lie apart.
const LENGTH_ONLY_STRIDE: u32 = 1_000_003;

/// The number of each token of a prompt.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    kind: Kind,
    outputs: Stream,
}

/// Whose prompts they are.
#[derive(Debug, Clone)]
enum Kind {
    /// A trace's: each hash id has a number.
    Recorded { numbers: BTreeMap<u64, u32> },
    /// Prompts whose ids are their numbers.
    Numbered,
    /// Stated ones: a token is its run's name, and this much more for each place before it.
    Stated { step: u32 },
    /// Synthetic ones, in blocks of `block` tokens: first the shared prefix, then those of each request.
    Synthetic { block: u32, prefix: u32, own: u32, output: u64 },
}

impl Vocabulary {
    /// Returns the vocabulary of a trace.
    pub fn recorded(corpus: &Corpus) -> Self {
        let mut numbers = BTreeMap::new();
        let mut next = 0_u32;
        let reader = corpus.reader();
        for row in reader.rows() {
            reader.each_hash_id(&row, |id| {
                numbers.entry(id).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
            });
        }
        Self::of(Kind::Recorded { numbers })
    }

    /// Returns the vocabulary of prompts whose ids are their numbers.
    pub fn numbered() -> Self {
        Self::of(Kind::Numbered)
    }

    /// Returns the vocabulary of stated requests.
    pub fn stated(list: &RequestList) -> Self {
        Self::of(Kind::Stated { step: list.step() })
    }

    /// Returns the vocabulary of synthetic requests on an engine with blocks of `block_size` tokens.
    pub fn synthetic(shape: &SyntheticShape, block_size: u32) -> Self {
        let cached = narrow(shape.cached_prefix.get());
        let block = gcd(block_size, cached);
        let all = narrow(shape.input.get()).div_ceil(block);
        let prefix = cached / block;
        let output = shape.output.get();
        Self::of(Kind::Synthetic { block, prefix, own: all - prefix, output })
    }

    /// Returns the vocabulary of synthetic sessions without shared prefixes.
    pub fn sessions(shape: &SessionShape, block_size: u32) -> Self {
        let own = narrow(shape.new_input_per_turn.get()).div_ceil(block_size);
        let output = shape.output_per_turn.get();
        Self::of(Kind::Synthetic { block: block_size, prefix: 0, own, output })
    }

    /// Returns how many equal tokens stand side by side in a synthetic prompt; nothing for other prompts.
    pub fn synthetic_block(&self) -> Option<u32> {
        match &self.kind {
            Kind::Synthetic { block, .. } => Some(*block),
            Kind::Recorded { .. } | Kind::Numbered | Kind::Stated { .. } => None,
        }
    }

    /// Returns the numbers of a prompt's tokens, in order.
    pub fn tokens(&self, content: &Content) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(content.prompt_tokens() as usize);
        for run in content.runs() {
            self.add(*run, &mut tokens);
        }
        tokens
    }

    /// Returns a vocabulary.
    fn of(kind: Kind) -> Self {
        Self { kind, outputs: Seed::stated(OUTPUT_SEED).stream() }
    }

    /// Adds the numbers of a run.
    fn add(&self, run: Run, tokens: &mut Vec<u32>) {
        let places = run.start..run.start + run.length;
        match (run.symbol, &self.kind) {
            (Symbol::Repeated(id), Kind::Recorded { numbers }) => {
                let number = numbers.get(&id).copied().unwrap_or(u32::MAX);
                tokens.extend(places.map(|_| number));
            }
            (Symbol::Repeated(name), Kind::Stated { step }) => {
                let first = low(tokens.len() as u64);
                let token = |place: u32| low(name).wrapping_add(place.wrapping_mul(*step));
                tokens.extend((first..first + run.length).map(token));
            }
            (Symbol::Repeated(id), Kind::Synthetic { .. } | Kind::Numbered) => {
                tokens.extend(places.map(|_| low(id)));
            }
            (Symbol::Unique(Origin::Prompt(index)), Kind::Synthetic { block, prefix, own, .. }) => {
                let first = low(index).wrapping_mul(*own).wrapping_add(*prefix);
                tokens.extend(places.map(|place| first.wrapping_add(place / block)));
            }
            (Symbol::Unique(Origin::Prefix(_)), Kind::Synthetic { block, .. }) => {
                tokens.extend(places.map(|place| place / block));
            }
            (Symbol::Unique(Origin::Output(index)), Kind::Synthetic { output, .. }) => {
                let first = index * output + u64::from(run.start);
                tokens.extend(self.outputs.words(first).take(run.length as usize));
            }
            (
                Symbol::Unique(Origin::Prompt(index)),
                Kind::Recorded { .. } | Kind::Numbered | Kind::Stated { .. },
            )
            | (Symbol::Unique(Origin::Prefix(index) | Origin::Output(index)), _) => {
                let first = low(index).wrapping_mul(LENGTH_ONLY_STRIDE);
                tokens.extend(places.map(|place| first.wrapping_add(place)));
            }
        }
    }
}

/// Returns the low 32 bits.
fn low(index: u64) -> u32 {
    u32::try_from(index & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// Returns a length as 32 bits; decoders refuse larger ones.
fn narrow(tokens: u64) -> u32 {
    u32::try_from(tokens).expect("decoders refuse prompts of 2^32 tokens and more")
}

/// Returns the greatest common divisor; that of `a` and 0 is `a`.
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BlockSize, Tokens};

    #[test]
    fn ids_are_numbered_by_first_appearance() {
        let mut corpus = Corpus::new(BlockSize::new(2).expect("positive"));
        let row = |input| super::super::CorpusRow {
            line: 1,
            arrival_ms: None,
            input: Tokens::new(input),
            output: Tokens::new(1),
            session: 0,
            delay_ms: 0.0,
            request_id: None,
        };
        corpus.add_row(&row(4), &[1 << 40, 7]);
        corpus.add_row(&row(2), &[7]);
        let vocabulary = Vocabulary::recorded(&corpus);
        let run = |id, length| Run { symbol: Symbol::Repeated(id), start: 0, length };
        let content = Content::new([run(7, 2), run(1 << 40, 1)], 0);
        assert_eq!(vocabulary.tokens(&content), [1, 1, 0]);
    }

    #[test]
    fn blocks_of_synthetic_prompts_are_numbered_behind_the_shared_prefix() {
        let shape = SyntheticShape {
            input: Tokens::new(6),
            output: Tokens::new(1),
            cached_prefix: Tokens::new(2),
        };
        let vocabulary = Vocabulary::synthetic(&shape, 4);
        let unique = |origin, length| Run { symbol: Symbol::Unique(origin), start: 0, length };
        let runs = [unique(Origin::Prefix(0), 2), unique(Origin::Prompt(3), 4)];
        assert_eq!(vocabulary.tokens(&Content::new(runs, 3)), [0, 0, 7, 7, 8, 8]);
    }
}
