//! Words that are one token each, wherever they stand.

use crate::diag::{Code, Problem};
use crate::units::Tokens;

use super::tokenizer::Tokenizer;

/// How many letters the words may have; all words of a vocabulary have the same number.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=6;

/// The fewest words that are enough.
const WORDS_MIN: usize = 320;

/// The fewest words that are kept for fillers.
const FILLERS_MIN: usize = 64;

/// Letters of the alphabet.
const ALPHABET: usize = 26;

/// Words of one length, each of them one token with a space before it, and one at the start of a text without.
///
/// A text of n words in any order is n tokens, and n words take n times [`Vocabulary::width`] bytes. Blocks and fillers have no word in common.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    /// Bytes of a word, the space before it counted.
    width: usize,
    /// Words of blocks, 2^k of them, one behind the other.
    blocks: Vec<u8>,
    /// Words of fillers, 2^k of them.
    fillers: Vec<u8>,
    /// Whether a word is known, by the number that its letters make.
    known: Vec<bool>,
}

/// What a word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Blocks.
    Block,
    /// What no block is: ends of prompts behind the last block, and prompts without one.
    Filler,
}

impl Vocabulary {
    /// Chooses the words of a tokenizer: of the lengths that it has most words of, those with the lowest numbers.
    ///
    /// # Errors
    /// [`Code::GraphVocabulary`] where too few words are one token each, or words in a row are not the tokens that each one is.
    pub fn of(tokenizer: &Tokenizer) -> Result<Self, Problem> {
        let fitting = |words: Vec<String>| -> Vec<String> {
            words.into_iter().filter(|word| is_one_token(tokenizer, word)).collect()
        };
        let words = tokenizer.words(LETTERS).into_iter().map(fitting).max_by_key(Vec::len);
        let words = words.unwrap_or_default();
        let refused = |message: String| {
            Problem::new(Code::GraphVocabulary, message)
                .help("text of an exact length needs words; use `builtin`, or the tokenizer of a model that reads text")
        };
        if words.len() < WORDS_MIN {
            let message = format!(
                "of words of one length, {} at most are one token each: {WORDS_MIN} are needed",
                words.len()
            );
            return Err(refused(message));
        }
        let vocabulary = Self::chosen(&words);
        if !vocabulary.stands_side_by_side(tokenizer) {
            return Err(refused("words in a row are not the tokens that each one is".to_owned()));
        }
        Ok(vocabulary)
    }

    /// Divides words among blocks and fillers: the most for blocks that leave enough.
    fn chosen(words: &[String]) -> Self {
        let power = |count: usize| 1_usize << count.ilog2();
        let mut blocks = power(words.len());
        if words.len() - blocks < FILLERS_MIN {
            blocks /= 2;
        }
        let fillers = power((words.len() - blocks).min(blocks));
        let width = words[0].len() + 1;
        let mut known = vec![false; ALPHABET.pow(u32::try_from(width - 1).expect("6 at most"))];
        let mut flat = Vec::new();
        for word in &words[..blocks + fillers] {
            known[number(word.as_bytes()).expect("lower-case letters")] = true;
            flat.push(b' ');
            flat.extend(word.bytes());
        }
        let fillers = flat.split_off(blocks * width);
        Self { width, blocks: flat, fillers, known }
    }

    /// Returns the bytes of a word, the space before it counted.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns how many words blocks are made of: a power of two.
    pub const fn block_words(&self) -> usize {
        self.blocks.len() / self.width
    }

    /// Returns how many words fillers are made of: a power of two.
    pub const fn filler_words(&self) -> usize {
        self.fillers.len() / self.width
    }

    /// Returns the words for a use, one behind the other.
    pub(super) fn words(&self, of: Use) -> &[u8] {
        match of {
            Use::Block => &self.blocks,
            Use::Filler => &self.fillers,
        }
    }

    /// Returns how many words a text is, where it is nothing but words of the vocabulary, each with its space.
    pub fn count(&self, text: &[u8]) -> Option<Tokens> {
        let words = text.chunks_exact(self.width);
        if !words.remainder().is_empty() {
            return None;
        }
        let mut count = 0;
        for word in words {
            let is_known = word[0] == b' ' && number(&word[1..]).is_some_and(|at| self.known[at]);
            if !is_known {
                return None;
            }
            count += 1;
        }
        Some(Tokens::new(count))
    }

    /// Returns whether all words in a row are as many tokens, in three orders in which no two words are neighbours twice.
    fn stands_side_by_side(&self, tokenizer: &Tokenizer) -> bool {
        let words: Vec<&[u8]> = self
            .blocks
            .chunks_exact(self.width)
            .chain(self.fillers.chunks_exact(self.width))
            .collect();
        let tokens: Vec<Vec<u32>> = words.iter().map(|word| tokenizer.encode(text(word))).collect();
        // Steps that share no factor with the number of words visit each of them once.
        let count = words.len();
        let steps = (1..count).filter(|step| greatest_common_divisor(*step, count) == 1).take(3);
        steps.into_iter().all(|step| {
            let order: Vec<usize> = (0..count).map(|at| at * step % count).collect();
            let row: Vec<u8> = order.iter().flat_map(|at| words[*at]).copied().collect();
            let expected: Vec<u32> = order.iter().flat_map(|at| &tokens[*at]).copied().collect();
            tokenizer.encode(text(&row)) == expected
        })
    }
}

/// Returns whether a word is one token with a space before it, and one without at the start of a text: templates may trim.
fn is_one_token(tokenizer: &Tokenizer, word: &str) -> bool {
    let spaced = format!(" {word}");
    let one = Tokens::new(1);
    // As a second word, so that what a tokenizer puts before a text does not count.
    let pair = format!(" {word} {word}");
    tokenizer.count(&spaced) == one
        && tokenizer.count(word) == one
        && tokenizer.count(&pair) == Tokens::new(2)
}

/// Returns the number that lower-case letters make.
fn number(letters: &[u8]) -> Option<usize> {
    letters.iter().try_fold(0, |number, letter| {
        let digit = letter.checked_sub(b'a').map(usize::from).filter(|digit| *digit < ALPHABET)?;
        Some(number * ALPHABET + digit)
    })
}

/// Returns ASCII bytes as text.
fn text(words: &[u8]) -> &str {
    std::str::from_utf8(words).expect("words are ASCII")
}

fn greatest_common_divisor(left: usize, right: usize) -> usize {
    if right == 0 { left } else { greatest_common_divisor(right, left % right) }
}
