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
    Virtual(Counted),
}

/// Made-up names, kept as the stretches in which they count up.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// The index of the first block of each stretch, and its name.
    stretches: Vec<(usize, u64)>,
    len: usize,
}

impl Counted {
    /// Keeps the first `len` blocks, or adds as many as are missing, called from `next` on.
    pub(super) fn resize(&mut self, len: usize, next: &mut u64) {
        self.stretches.truncate(self.stretches.partition_point(|(start, _)| *start < len));
        if len > self.len {
            if self
                .stretches
                .last()
                .is_none_or(|(start, name)| after(*name, self.len - start) != *next)
            {
                self.stretches.push((self.len, *next));
            }
            *next = after(*next, len - self.len);
        }
        self.len = len;
    }

    fn at(&self, index: usize) -> u64 {
        assert!(index < self.len, "bug: the prompt has {} blocks", self.len);
        let (start, name) = self.stretch(index);
        after(name, index - start)
    }

    /// Returns the stretch that a block is of.
    fn stretch(&self, index: usize) -> (usize, u64) {
        self.stretches[self.stretches.partition_point(|(start, _)| *start <= index) - 1]
    }

    /// Returns the index behind the stretch that a block is of.
    fn stretch_end(&self, index: usize) -> usize {
        let following = self.stretches.partition_point(|(start, _)| *start <= index);
        self.stretches.get(following).map_or(self.len, |(start, _)| *start)
    }

    /// As [`BlockList::common`]: names are unique, so two stretches agree as a whole or not at all.
    fn common(&self, other: &Self, from: usize, end: usize) -> usize {
        let end = end.min(self.len).min(other.len);
        let mut at = from.min(end);
        while at < end && self.at(at) == other.at(at) {
            at = self.stretch_end(at).min(other.stretch_end(at)).min(end);
        }
        at - from.min(end)
    }
}

/// Returns the name that comes `count` after another.
fn after(name: u64, count: usize) -> u64 {
    name + u64::try_from(count).expect("a prompt has less than 2^32 blocks")
}

impl BlockList<'_> {
    /// Returns how many blocks.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Recorded(numbers) => numbers.len(),
            Self::Virtual(counted) => counted.len,
        }
    }

    /// Returns the block at an index below [`BlockList::len`].
    pub(super) fn at(&self, index: usize) -> BlockId {
        match self {
            Self::Recorded(numbers) => BlockId::Recorded(numbers[index]),
            Self::Virtual(counted) => BlockId::Virtual(counted.at(index)),
        }
    }

    /// Returns how many blocks from `from` on, below `end`, are the same in both.
    pub(super) fn common(&self, other: &Self, from: usize, end: usize) -> usize {
        match (self, other) {
            (Self::Recorded(own), Self::Recorded(other)) => {
                let end = end.min(own.len()).min(other.len());
                let from = from.min(end);
                let pairs = own[from..end].iter().zip(&other[from..end]);
                pairs.take_while(|(left, right)| left == right).count()
            }
            (Self::Virtual(own), Self::Virtual(other)) => own.common(other, from, end),
            (Self::Recorded(_), Self::Virtual(_)) | (Self::Virtual(_), Self::Recorded(_)) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of a session whose prompts have so many blocks, kept one by one.
    fn one_by_one(lengths: &[usize]) -> Vec<Vec<u64>> {
        let (mut names, mut next) = (Vec::new(), 1);
        let list = |len: &usize| {
            names.truncate(*len);
            while names.len() < *len {
                names.push(next);
                next += 1;
            }
            names.clone()
        };
        lengths.iter().map(list).collect()
    }

    #[test]
    fn counted_names_are_those_kept_one_by_one() {
        let lengths = [3, 5, 0, 4, 2, 6, 6, 5, 9, 1];
        let (mut counted, mut next) = (Counted::default(), 1);
        let lists: Vec<Counted> = lengths
            .iter()
            .map(|len| {
                counted.resize(*len, &mut next);
                counted.clone()
            })
            .collect();
        let expected = one_by_one(&lengths);
        for (one, names) in lists.iter().zip(&expected) {
            assert_eq!((0..one.len).map(|at| one.at(at)).collect::<Vec<_>>(), *names);
            for (other, others) in lists.iter().zip(&expected) {
                for (from, end) in [(0, 9), (1, 3), (4, 4), (2, 7), (8, 5)] {
                    let until = end.min(names.len()).min(others.len());
                    let pairs = (from.min(until)..until).take_while(|at| names[*at] == others[*at]);
                    assert_eq!(one.common(other, from, end), pairs.count());
                }
            }
        }
    }
}
