//! The name of a block in a tier behind the GPU.

use crate::digest::{xxh3_of_child, xxh3_of_tokens};
use crate::workload::{Content, Vocabulary};

/// The name of a block: the reference's chained hash of its tokens and all before them.
///
/// The order of names is the reference's tie-break between blocks that became evictable together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostKey(u64);

#[cfg(test)]
impl HostKey {
    /// Returns a key of these bits.
    pub(crate) const fn of(bits: u64) -> Self {
        Self(bits)
    }
}

/// Returns the names of the complete blocks of a prompt, in order.
pub(crate) fn prompt_keys(
    content: &Content,
    vocabulary: &Vocabulary,
    block_size: u32,
) -> Vec<HostKey> {
    let count = content.prompt_tokens() / block_size;
    let tokens = vocabulary.tokens(content);
    let (mut before, mut parent): (Option<(&[u32], u64)>, Option<u64>) = (None, None);
    let mut keys = Vec::with_capacity(count as usize);
    for block in tokens.chunks_exact(block_size as usize) {
        // A trace block is one token again and again, so neighbours are often the same block.
        let own = match before.take().filter(|(last, _)| *last == block) {
            Some((_, own)) => own,
            None => xxh3_of_tokens(block),
        };
        let name = parent.map_or(own, |parent| xxh3_of_child(parent, own));
        before = Some((block, own));
        parent = Some(name);
        keys.push(HostKey(name));
    }
    keys
}
