//! Names to text.

use std::sync::Arc;

use crate::diag::Problem;
use crate::graph::ir::NodeIndex;
use crate::units::{BlockSize, Tokens};

use super::names::{Draws, Names};
use super::tokenizer::Tokenizer;
use super::vocabulary::{Use, Vocabulary};

/// How far equal names of blocks mean equal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Everywhere.
    Corpus,
    /// In the tree of this name.
    Tree(&'a str),
}

/// Makes text of a seed and a tokenizer.
#[derive(Debug, Clone)]
pub struct Synthesis {
    seed: u64,
    tokenizer: Arc<Tokenizer>,
    vocabulary: Arc<Vocabulary>,
}

/// The texts of blocks in one scope.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'v> {
    vocabulary: &'v Vocabulary,
    recorded: Names,
    made_up: Names,
}

/// The texts of a tree that are no blocks: one a node.
#[derive(Debug, Clone, Copy)]
pub struct Fillers<'v> {
    vocabulary: &'v Vocabulary,
    names: Names,
}

impl Synthesis {
    /// Prepares the synthesis for a seed and a tokenizer.
    ///
    /// # Errors
    /// As [`Vocabulary::of`].
    pub fn new(seed: u64, tokenizer: Arc<Tokenizer>) -> Result<Self, Problem> {
        let vocabulary = Arc::new(Vocabulary::of(&tokenizer)?);
        Ok(Self { seed, tokenizer, vocabulary })
    }

    /// Returns the synthesis of another seed under the same tokenizer.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// Returns the seed.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the words that texts are made of.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the texts of blocks: those that a recording names are as far the same as `scope` says, made-up ones are of `tree` alone.
    pub fn texts(&self, scope: Scope<'_>, tree: &str) -> Texts<'_> {
        let digest = self.tokenizer.digest();
        let names = |purpose, scope| Names::new(self.seed, digest, purpose, scope);
        let recorded = match scope {
            Scope::Corpus => names("block", ""),
            Scope::Tree(tree) => names("block-of-tree", tree),
        };
        Texts { vocabulary: &self.vocabulary, recorded, made_up: names("made-up-block", tree) }
    }

    /// Returns the fillers of a tree.
    pub fn fillers(&self, tree: &str) -> Fillers<'_> {
        let names = Names::new(self.seed, self.tokenizer.digest(), "filler", tree);
        Fillers { vocabulary: &self.vocabulary, names }
    }

    /// Returns how many tokens a text of words is under the tokenizer.
    ///
    /// The tokenizer in the binary splits such a text at its spaces and looks each piece up, and that is what is done here; it was held
    /// against the tokenizer itself for every word as the vocabulary was chosen. For the tokenizer of a file the text is encoded as it is.
    pub fn count(&self, words: &[u8]) -> Tokens {
        let known = self.tokenizer.splits_at_spaces().then(|| self.vocabulary.count(words));
        known.flatten().unwrap_or_else(|| self.encoded(words))
    }

    /// Returns how many tokens a text is, encoded as it is.
    pub fn encoded(&self, text: &[u8]) -> Tokens {
        self.tokenizer.count(&String::from_utf8_lossy(text))
    }
}

impl Texts<'_> {
    /// Appends the text of a block that the recording names.
    ///
    /// Blocks of enough tokens for 64 bits (6 with 2048 words) differ in their text whenever they differ in their name.
    pub fn recorded(&self, name: u64, size: BlockSize, out: &mut Vec<u8>) {
        append(self.vocabulary, Use::Block, self.recorded.draws(name), u64::from(size.get()), out);
    }

    /// Appends the text of a made-up block.
    pub fn made_up(&self, name: u64, size: BlockSize, out: &mut Vec<u8>) {
        append(self.vocabulary, Use::Block, self.made_up.draws(name), u64::from(size.get()), out);
    }
}

impl Fillers<'_> {
    /// Appends the text of so many tokens that is a node's own. None of its words is a block's; of two nodes of a tree the texts differ from
    /// the first word on, but for every so many nodes ([`Vocabulary::filler_words`]), which differ from the second on.
    pub fn append(&self, node: NodeIndex, tokens: Tokens, out: &mut Vec<u8>) {
        let number = u64::try_from(node.0).expect("a tree has less than 2^64 nodes");
        append(self.vocabulary, Use::Filler, self.names.numbered(number), tokens.get(), out);
    }
}

fn append(vocabulary: &Vocabulary, of: Use, mut draws: Draws, tokens: u64, out: &mut Vec<u8>) {
    let (words, width) = (vocabulary.words(of), vocabulary.width());
    let bits = (words.len() / width).ilog2();
    for _ in 0..tokens {
        let at = draws.next(bits) * width;
        out.extend_from_slice(&words[at..at + width]);
    }
}
