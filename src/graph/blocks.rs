//! Names of the blocks of a prompt.

/// The name of one block of a prompt: equal names mean equal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockId {
    /// As the recording names it.
    Recorded(u64),
    /// Made up for a call whose blocks the recording does not name; unique in its tree.
    Virtual(u64),
}

/// The full blocks of a prompt, without a copy where the recording names them.
#[derive(Debug, Clone)]
pub(super) enum BlockList<'t> {
    /// As the recording names them.
    Recorded(&'t [u64]),
    /// Made up.
    Virtual(Vec<u64>),
}

impl BlockList<'_> {
    /// Returns how many blocks.
    pub(super) fn len(&self) -> usize {
        self.numbers().len()
    }

    /// Returns the block at an index below [`BlockList::len`].
    pub(super) fn at(&self, index: usize) -> BlockId {
        match self {
            Self::Recorded(numbers) => BlockId::Recorded(numbers[index]),
            Self::Virtual(numbers) => BlockId::Virtual(numbers[index]),
        }
    }

    /// Returns how many blocks from `from` on, below `end`, are the same in both.
    pub(super) fn common(&self, other: &Self, from: usize, end: usize) -> usize {
        let same_kind = matches!(
            (self, other),
            (Self::Recorded(_), Self::Recorded(_)) | (Self::Virtual(_), Self::Virtual(_))
        );
        if !same_kind {
            return 0;
        }
        let (own, other) = (self.numbers(), other.numbers());
        let end = end.min(own.len()).min(other.len());
        let pairs = own[from.min(end)..end].iter().zip(&other[from.min(end)..end]);
        pairs.take_while(|(left, right)| left == right).count()
    }

    fn numbers(&self) -> &[u64] {
        match self {
            Self::Recorded(numbers) => numbers,
            Self::Virtual(numbers) => numbers,
        }
    }
}
