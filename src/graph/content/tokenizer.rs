//! Tokenizers: the one in the binary, and those in files.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use tiktoken_rs::{CoreBPE, o200k_base_singleton};

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::units::Tokens;

/// Digest of the file `o200k_base.tiktoken`, as its publisher states it. A test holds it against the bytes in the binary.
const O200K: &str = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d";

/// Ranks of o200k: its tokens are numbered from 0 without a gap, special tokens apart.
pub(super) const O200K_RANKS: u32 = 199_998;

/// Turns text into tokens. Special tokens are text like any other, and nothing is put before or behind.
pub struct Tokenizer {
    kind: Kind,
    digest: Sha256,
}

enum Kind {
    Builtin(&'static CoreBPE),
    File(Box<tokenizers::Tokenizer>),
}

impl Tokenizer {
    /// Returns the tokenizer in the binary: o200k.
    pub fn builtin() -> Self {
        let digest = O200K.parse().expect("64 hexadecimal digits");
        Self { kind: Kind::Builtin(o200k_base_singleton()), digest }
    }

    /// Returns the tokenizer of a `tokenizer.json` in the format of Hugging Face. What it says of truncation and padding is left out.
    ///
    /// # Errors
    /// [`Code::GraphTokenizer`] where the bytes are none.
    pub fn from_json(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let refused = |error: &dyn fmt::Display| {
            let message = format!("`{name}` is no tokenizer: {error}");
            Problem::new(Code::GraphTokenizer, message).help(
                "name the `tokenizer.json` of the served model, in the format of Hugging Face",
            )
        };
        let mut tokenizer =
            tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| refused(&error))?;
        tokenizer.with_truncation(None).map_err(|error| refused(&error))?;
        tokenizer.with_padding(None);
        Ok(Self { kind: Kind::File(Box::new(tokenizer)), digest: Sha256::of(bytes) })
    }

    /// Returns the word of scenarios: `builtin` or `file`.
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Builtin(_) => "builtin",
            Kind::File(_) => "file",
        }
    }

    /// Returns the digest of the file of ranks, or of the `tokenizer.json`.
    pub const fn digest(&self) -> Sha256 {
        self.digest
    }

    /// Returns the tokens of a text, without the marks that begin or end a sequence.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        match &self.kind {
            Kind::Builtin(ranks) => ranks.encode_ordinary(text),
            Kind::File(file) => match file.encode_fast(text, false) {
                Ok(encoding) => encoding.get_ids().to_vec(),
                Err(_) => Vec::new(), // a model without a token for unknown text
            },
        }
    }

    /// Returns how many tokens a text is.
    pub fn count(&self, text: &str) -> Tokens {
        Tokens::new(
            u64::try_from(self.encode(text).len()).expect("a text has less than 2^64 bytes"),
        )
    }

    /// Returns the lower-case ASCII words that some token is, with or without a mark for a space before: a list for each number of letters,
    /// in the order of the tokens' numbers, each word once.
    pub(super) fn words(&self, letters: RangeInclusive<usize>) -> Vec<Vec<String>> {
        let word = |(rank, text): (u32, &str)| {
            // A space, GPT-2's sign for one, and SentencePiece's.
            let bare = text.strip_prefix([' ', '\u{120}', '\u{2581}']).unwrap_or(text);
            let fits = letters.contains(&bare.len());
            let is_word = fits && bare.bytes().all(|byte| byte.is_ascii_lowercase());
            is_word.then(|| (rank, bare.to_owned()))
        };
        let mut words: Vec<(u32, String)> = match &self.kind {
            Kind::Builtin(ranks) => {
                let token = |rank| Some((rank, ranks.decode_bytes(&[rank]).ok()?));
                let tokens = (0..O200K_RANKS).filter_map(token);
                tokens
                    .filter_map(|(rank, text)| word((rank, str::from_utf8(&text).ok()?)))
                    .collect()
            }
            Kind::File(file) => {
                let tokens = file.get_vocab(false);
                tokens.iter().filter_map(|(text, id)| word((*id, text))).collect()
            }
        };
        words.sort_unstable();
        let mut seen = BTreeSet::new();
        words.retain(|(_, word)| seen.insert(word.clone()));
        // One pass over the tokens serves all lengths: every live run begins with it.
        let of_length = |length| {
            let of = words.iter().filter(|(_, word)| word.len() == length);
            of.map(|(_, word)| word.clone()).collect()
        };
        letters.clone().map(of_length).collect()
    }

    /// Returns whether a text that is made of words which are one token each, every one with a space before, is split at the
    /// spaces whatever the words are. o200k's pattern begins a match at each space before a lower-case letter and ends it before the next space; of
    /// the tokenizer of a file nothing is known.
    pub(super) const fn splits_at_spaces(&self) -> bool {
        matches!(self.kind, Kind::Builtin(_))
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokenizer({} {})", self.name(), self.digest)
    }
}
