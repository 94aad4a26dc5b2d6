//! A store, looked at as a whole.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;

use crate::diag::{Code, Problem};
use crate::digest::Sha256;
use crate::graph::content::Synthesis;
use crate::graph::ir::NodeIndex;
use crate::units::Tokens;

use super::bytes::wide;
use super::manifest::StoreCounts;
use super::program::{ProgramMessage, Span};
use super::read::Store;

/// What was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Verified {
    /// Segments whose digest is right.
    pub segments: u64,
    /// Synthesised messages that were encoded, and by how much they are off; absent without the tokenizer.
    pub encoded: Option<StoreCounts>,
}

impl Store {
    /// Holds every segment against its digest, puts every program together, and encodes every synthesised message with the tokenizer itself,
    /// each once where several prompts of a tree have it. [`Store::open`] has held the files against theirs.
    ///
    /// # Errors
    /// [`Code::StoreDamaged`] where a segment is another, or `synthesis` has another tokenizer than the store.
    pub fn verify(
        &self,
        folder: &Path,
        synthesis: Option<&Synthesis>,
    ) -> Result<Verified, Problem> {
        let damaged = |message: String| {
            let message = format!("the store `{}`: {message}", folder.display());
            Problem::new(Code::StoreDamaged, message)
        };
        for number in 0..self.info.segments {
            let number = usize::try_from(number).expect("fewer than 2^32");
            let (digest, bytes) = self.stored(number);
            if Sha256::of(bytes).bytes() != digest {
                return Err(damaged(format!("segment {number} is not what its digest says")));
            }
        }
        let (wanted, segments) = (self.info.tokenizer_digest, self.info.segments);
        let Some(synthesis) = synthesis else { return Ok(Verified { segments, encoded: None }) };
        if synthesis.tokenizer().digest() != wanted {
            let found = synthesis.tokenizer().digest();
            return Err(damaged(format!("its tokenizer is {wanted}, not {found}"))
                .help("give the `tokenizer.json` that it was built with"));
        }
        let trees = (0..self.tree_count()).into_par_iter();
        let counts = trees.map(|tree| self.encoded(tree, synthesis)).reduce(
            StoreCounts::default,
            |mut sum, counts| {
                sum.add(counts);
                sum
            },
        );
        Ok(Verified { segments, encoded: Some(counts) })
    }

    /// Encodes the synthesised messages of a tree, each once.
    fn encoded(&self, tree: usize, synthesis: &Synthesis) -> StoreCounts {
        let (mut counts, mut seen) = (StoreCounts::default(), BTreeSet::new());
        for node in (0..self.node_count(tree)).map(NodeIndex) {
            counts.nodes += 1;
            for message in self.program(tree, node).messages() {
                let Some(parts) = self.words(message) else { continue };
                let place = |part: &&[u8]| (part.as_ptr().addr(), part.len());
                if !seen.insert(parts.iter().map(place).collect::<Vec<_>>()) {
                    continue;
                }
                let text = parts.concat();
                let expected = Tokens::new(wide(text.len() / self.info.width));
                counts.prove(synthesis.encoded(&text), expected);
            }
        }
        counts
    }

    /// Returns the words of a message that was synthesised.
    fn words<'s>(&self, message: &ProgramMessage<'s>) -> Option<Vec<&'s [u8]>> {
        let ProgramMessage::Written { spans, .. } = message else { return None };
        let bytes = |span: &Span<'s>| match span {
            Span::Static(bytes) => Some(*bytes),
            Span::Text(_) => None,
        };
        let (first, rest) = spans.split_first()?;
        let is_ours = self
            .openings
            .iter()
            .any(|own| bytes(first).is_some_and(|first| std::ptr::eq(first, own.as_bytes())));
        let (_, words) = rest.split_last()?;
        is_ours.then(|| words.iter().filter_map(bytes).collect())
    }
}
