//! Blocks in a list.

/// A token: its prompt's symbol, or the place of an output token of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Prompt(u64),
    Output { request: usize, place: u64 },
}

/// A block of the list.
#[derive(Debug, Clone, Default)]
struct Block {
    holders: u32,
    /// All tokens up to its end, where it can be found by them.
    content: Option<Vec<Token>>,
    /// When it was published, and when it was last given back, in events of the memory.
    published: u64,
    released: u64,
}

/// The blocks of a rank.
#[derive(Debug)]
pub(super) struct Memory {
    blocks: Vec<Block>,
    events: u64,
}

impl Memory {
    /// Returns `count` blocks with nothing in them.
    pub(super) fn new(count: u64) -> Self {
        Self { blocks: (0..count).map(|_| Block::default()).collect(), events: 0 }
    }

    /// Returns how many blocks nobody holds.
    pub(super) fn available(&self) -> u64 {
        self.blocks.iter().filter(|block| block.holders == 0).count() as u64
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Returns the block that was first published with these tokens, and whether somebody holds it.
    pub(super) fn find(&self, tokens: &[Token]) -> Option<(usize, bool)> {
        let is_it = |(_, block): &(usize, &Block)| block.content.as_deref() == Some(tokens);
        let found = self.blocks.iter().enumerate().filter(is_it);
        let first = found.min_by_key(|(_, block)| block.published);
        first.map(|(index, block)| (index, block.holders > 0))
    }

    /// Adds a holder.
    pub(super) fn hold(&mut self, block: usize) {
        self.blocks[block].holders += 1;
    }

    /// Takes a block: one with nothing in it, or else the one given back longest ago.
    pub(super) fn take(&mut self) -> usize {
        let idle = self.blocks.iter().enumerate().filter(|(_, block)| block.holders == 0);
        let next = idle.min_by_key(|(_, block)| (block.content.is_some(), block.released));
        let index = next.expect("the caller counted").0;
        self.blocks[index] = Block { holders: 1, ..Block::default() };
        index
    }

    /// Lets a block be found by these tokens, unless it can be found already.
    pub(super) fn publish(&mut self, block: usize, tokens: &[Token]) {
        self.events += 1;
        if self.blocks[block].content.is_none() {
            self.blocks[block].content = Some(tokens.to_vec());
            self.blocks[block].published = self.events;
        }
    }

    /// Takes a holder away.
    pub(super) fn give_back(&mut self, block: usize) {
        self.events += 1;
        self.blocks[block].holders -= 1;
        self.blocks[block].released = self.events;
    }
}
