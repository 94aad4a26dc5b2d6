//! What a store is: its inputs, what was made, and the length and digest of each of its files.

use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::graph::content::Synthesis;
use crate::units::Tokens;

use super::bytes::wide;

/// The form of the files. Another number is another form, which is not read.
pub(super) const SCHEMA: &str = "touchstone.store/1";

/// The file that names all others.
pub(super) const MANIFEST: &str = "store.json";

/// The file that holds the digest of the manifest, as `sha256sum` writes it.
pub(super) const SUM: &str = "store.sha256";

/// The files of a store beside the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The segments, one behind the other.
    Segments,
    /// Where each segment is, and its digest.
    Index,
    /// What each node sends.
    Programs,
    /// The graphs without prompts.
    Topology,
    /// Where the trees are.
    Trees,
}

/// What was made. Only counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Nodes.
    pub nodes: u64,
    /// Synthesised messages whose tokens were counted; each once where several prompts of a tree have it.
    pub messages: u64,
    /// Tokens that they stand for.
    pub tokens: Tokens,
    /// Messages that are more or fewer tokens than they stand for.
    pub residue_messages: u64,
    /// By how many tokens, more and fewer added up.
    pub residue_tokens: Tokens,
}

/// What a store was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// The seed of its text.
    pub seed: u64,
    /// The word for its tokenizer: `builtin` or `file`.
    pub tokenizer: String,
    /// The digest of its tokenizer.
    pub tokenizer_digest: Sha256,
    /// How many trees it holds.
    pub trees: u64,
    /// How many segments.
    pub segments: u64,
    /// What was made.
    pub counts: StoreCounts,
    /// Bytes of a synthesised word.
    pub(super) width: usize,
}

impl Part {
    /// Every file.
    pub(super) const ALL: [Self; 5] =
        [Self::Segments, Self::Index, Self::Programs, Self::Topology, Self::Trees];

    /// Returns the name of the file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Segments => "segments.bin",
            Self::Index => "segments.idx",
            Self::Programs => "programs.bin",
            Self::Topology => "topology.bin",
            Self::Trees => "trees.idx",
        }
    }
}

impl StoreCounts {
    /// Adds what another tree was given.
    pub fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.residue_messages += other.residue_messages;
        self.residue_tokens += other.residue_tokens;
    }

    /// Counts a message that stands for `expected` tokens and is `counted`.
    pub(super) fn prove(&mut self, counted: Tokens, expected: Tokens) {
        self.messages += 1;
        self.tokens += expected;
        self.residue_messages += u64::from(counted != expected);
        let off = counted.get().abs_diff(expected.get());
        self.residue_tokens += Tokens::new(off);
    }
}

/// Returns what [`SUM`] holds for a manifest.
pub(super) fn sum(manifest: &[u8]) -> String {
    let digest = Sha256::of(manifest).to_string();
    format!("{}  {MANIFEST}\n", digest.trim_start_matches("sha256:"))
}

impl StoreInfo {
    /// Returns what a store of nothing is made from.
    pub(super) fn of(synthesis: &Synthesis) -> Self {
        Self {
            seed: synthesis.seed(),
            tokenizer: synthesis.tokenizer().name().to_owned(),
            tokenizer_digest: synthesis.tokenizer().digest(),
            trees: 0,
            segments: 0,
            counts: StoreCounts::default(),
            width: synthesis.vocabulary().width(),
        }
    }

    /// Returns the manifest: canonical, so that its digest is the store's.
    pub(super) fn document(&self, files: &[(Part, u64, Sha256)]) -> Vec<u8> {
        let Self { seed, tokenizer, tokenizer_digest, trees, segments, counts, width } = self;
        let StoreCounts { nodes, messages, tokens, residue_messages, residue_tokens } = counts;
        let file = |(part, bytes, digest): &(Part, u64, Sha256)| {
            object([
                ("bytes", Value::count(*bytes)),
                ("digest", Value::text(digest.to_string())),
                ("name", Value::text(part.name())),
            ])
        };
        object([
            ("files", Value::List(files.iter().map(file).collect())),
            ("messages", Value::count(*messages)),
            ("nodes", Value::count(*nodes)),
            ("residue_messages", Value::count(*residue_messages)),
            ("residue_tokens", Value::count(residue_tokens.get())),
            ("schema", Value::text(SCHEMA)),
            ("seed", Value::text(seed.to_string())),
            ("segments", Value::count(*segments)),
            ("synthesised_tokens", Value::count(tokens.get())),
            ("tokenizer", Value::text(tokenizer.as_str())),
            ("tokenizer_digest", Value::text(tokenizer_digest.to_string())),
            ("trees", Value::count(*trees)),
            ("word_bytes", Value::count(wide(*width))),
        ])
        .to_document()
    }
}
