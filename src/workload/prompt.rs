//! What a prompt is made of, as far as equality of tokens goes.
//!
//! Simulation never needs a token's value, only whether two prompts begin alike. A prompt is a list of runs; the identity of a
//! block is a chained 64-bit hash over the runs it covers, so equal prefixes have equal block identities and nothing else has
//! (up to hash collisions, as in the engines themselves).

/// A stretch of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// What the tokens are.
    pub symbol: Symbol,
    /// The position in an [`Symbol::Unique`] sequence where the stretch begins; 0 for repeated tokens.
    pub start: u32,
    /// How many tokens; at least 1.
    pub length: u32,
}

/// What the tokens of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// One token again and again: a trace's hash id stands for its block.
    Repeated(u64),
    /// Tokens that occur nowhere else: a synthetic prompt, a shared prefix, or an output.
    Unique(Origin),
}

/// Who owns a sequence of unique tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The prompt of this request.
    Prompt(u64),
    /// The output of this request.
    Output(u64),
    /// A prefix that requests of this group share.
    Prefix(u64),
}

/// The content of a growing sequence: prompt, then the request's own output.
#[derive(Debug, Clone)]
pub struct Content {
    runs: Vec<Run>,
    prompt: u32,
    /// The output, as far as its tokens are stated.
    planned: Vec<Run>,
    output: Origin,
}

/// The identity of a KV block: its own tokens and every token before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIdentity(u64);

/// A place in a content, advanced block by block.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockCursor {
    run: usize,
    taken: u32,
    parent: u64,
}

/// A place in a content, advanced token by token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunCursor {
    run: usize,
    taken: u32,
}

impl Content {
    /// Returns the content of a request whose prompt is `runs` and whose output is its own.
    ///
    /// Neighbouring runs that continue one another are joined, so that one content has one spelling.
    pub fn new(runs: impl IntoIterator<Item = Run>, request: u64) -> Self {
        let mut content = Self {
            runs: Vec::new(),
            prompt: 0,
            planned: Vec::new(),
            output: Origin::Output(request),
        };
        for run in runs {
            content.push(run);
        }
        content
    }

    /// Returns the content with the tokens of its output stated.
    #[must_use]
    pub fn planned(self, output: impl IntoIterator<Item = Run>) -> Self {
        Self { planned: output.into_iter().collect(), ..self }
    }

    /// Returns the runs of the prompt.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the tokens of the prompt.
    pub fn prompt_tokens(&self) -> u32 {
        self.prompt
    }

    /// Returns the run that the first `tokens` tokens of the output make.
    pub fn output_run(&self, tokens: u32) -> Run {
        Run { symbol: Symbol::Unique(self.output), start: 0, length: tokens }
    }

    /// Returns the identity of the block that follows `cursor` and moves the cursor behind it.
    ///
    /// Tokens behind the prompt are the request's output.
    pub fn next_block(&self, cursor: &mut BlockCursor, block_size: u32) -> BlockIdentity {
        let mut hash = mix(cursor.parent, u64::from(block_size));
        let mut missing = block_size;
        let mut open: Option<Run> = None;
        while missing > 0 {
            let piece = self.piece(*cursor, missing);
            missing -= piece.length;
            cursor.taken += piece.length;
            if self.run(cursor.run).is_some_and(|run| run.length == cursor.taken) {
                cursor.run += 1;
                cursor.taken = 0;
            }
            // Runs of prompt and output that continue each other are one, or a prompt that repeats both would have other blocks.
            open = match open {
                Some(last) if continues(last, piece) => {
                    Some(Run { length: last.length + piece.length, ..last })
                }
                Some(last) => {
                    hash = mix_piece(hash, last);
                    Some(piece)
                }
                None => Some(piece),
            };
        }
        cursor.parent = open.map_or(hash, |last| mix_piece(hash, last));
        BlockIdentity(cursor.parent)
    }

    /// Returns a run of the prompt, or behind it of the stated output.
    fn run(&self, at: usize) -> Option<&Run> {
        self.runs.get(at).or_else(|| self.planned.get(at - self.runs.len()))
    }

    /// Returns the place `tokens` tokens behind the start.
    pub fn seek(&self, tokens: u64) -> RunCursor {
        let mut left = tokens;
        for (run, stretch) in self.runs.iter().chain(&self.planned).enumerate() {
            if left < u64::from(stretch.length) {
                return RunCursor { run, taken: u32::try_from(left).unwrap_or(u32::MAX) };
            }
            left -= u64::from(stretch.length);
        }
        RunCursor {
            run: self.runs.len() + self.planned.len(),
            taken: u32::try_from(left).unwrap_or(u32::MAX),
        }
    }

    /// Returns the stretch at `cursor`, at most `room` tokens of it, and moves the cursor behind it.
    pub fn take(&self, cursor: &mut RunCursor, room: u32) -> Run {
        let here = BlockCursor { run: cursor.run, taken: cursor.taken, parent: 0 };
        let piece = self.piece(here, room);
        cursor.taken += piece.length;
        if self.run(cursor.run).is_some_and(|run| run.length == cursor.taken) {
            *cursor = RunCursor { run: cursor.run + 1, taken: 0 };
        }
        piece
    }

    /// Returns the part of the run at `cursor` that fits into `room`; behind all that is stated, output of its own.
    fn piece(&self, cursor: BlockCursor, room: u32) -> Run {
        match self.run(cursor.run) {
            Some(run) => Run {
                symbol: run.symbol,
                start: run.start
                    + if matches!(run.symbol, Symbol::Unique(_)) { cursor.taken } else { 0 },
                length: room.min(run.length - cursor.taken),
            },
            None => Run { symbol: Symbol::Unique(self.output), start: cursor.taken, length: room },
        }
    }

    /// Adds a run, joining it to the last where it continues it.
    fn push(&mut self, run: Run) {
        if run.length == 0 {
            return;
        }
        self.prompt += run.length;
        match self.runs.last_mut() {
            Some(last) if continues(*last, run) => last.length += run.length,
            Some(_) | None => self.runs.push(run),
        }
    }
}

impl Run {
    /// Returns the run that is left behind the first `tokens` tokens; the caller keeps it within the length.
    #[must_use]
    pub fn behind(self, tokens: u32) -> Self {
        let start = match self.symbol {
            Symbol::Repeated(_) => self.start,
            Symbol::Unique(_) => self.start + tokens,
        };
        Self { symbol: self.symbol, start, length: self.length - tokens }
    }

    /// Returns whether both begin with the same token.
    pub fn begins_as(self, other: Self) -> bool {
        self.symbol == other.symbol
            && (matches!(self.symbol, Symbol::Repeated(_)) || self.start == other.start)
    }

    /// Returns whether `next` goes on where this run ends.
    pub fn continues_into(self, next: Self) -> bool {
        continues(self, next)
    }
}

/// Returns a hash of the tokens alone, whatever comes before them and however the runs are cut.
pub fn hash_of(runs: impl IntoIterator<Item = Run>) -> u64 {
    let (mut hash, mut open): (u64, Option<Run>) = (0, None);
    for run in runs {
        open = match open {
            Some(last) if continues(last, run) => {
                Some(Run { length: last.length + run.length, ..last })
            }
            Some(last) => {
                hash = mix_piece(hash, last);
                Some(run)
            }
            None => Some(run),
        };
    }
    open.map_or(hash, |last| mix_piece(hash, last))
}

impl BlockIdentity {
    /// Returns the identity of block `slot` of the state of recurrent layers behind this prefix.
    pub(crate) fn of_state(self, slot: u32) -> Self {
        Self(mix(self.0 ^ 0x5354_4154_4500_0000, u64::from(slot) + 1))
    }

    /// Returns the identity of the part of a block with which this prefix ends.
    pub(crate) fn of_part(self) -> Self {
        Self(mix(self.0 ^ 0x5041_5254_0000_0000, 1))
    }

    /// Returns the 64 bits, well mixed.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// Says whether a run goes on where another ends.
fn continues(last: Run, next: Run) -> bool {
    last.symbol == next.symbol
        && match next.symbol {
            Symbol::Repeated(_) => true,
            Symbol::Unique(_) => last.start + last.length == next.start,
        }
}

/// Folds one piece of a run into a hash.
fn mix_piece(hash: u64, piece: Run) -> u64 {
    let (kind, name) = match piece.symbol {
        Symbol::Repeated(id) => (1, id),
        Symbol::Unique(Origin::Prompt(request)) => (2, request),
        Symbol::Unique(Origin::Output(request)) => (3, request),
        Symbol::Unique(Origin::Prefix(group)) => (4, group),
    };
    let place = u64::from(piece.start) << 32 | u64::from(piece.length);
    mix(mix(hash ^ kind, name), place)
}

/// Multiplies two words into one: the folded 128-bit product of well-spread halves.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
    let high = u64::try_from(product >> 64).unwrap_or(0);
    (low ^ high).wrapping_add(a.rotate_left(23)).wrapping_add(b.rotate_left(47))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(id: u64, length: u32) -> Run {
        Run { symbol: Symbol::Repeated(id), start: 0, length }
    }

    fn blocks(content: &Content, size: u32, count: usize) -> Vec<BlockIdentity> {
        let mut cursor = BlockCursor::default();
        (0..count).map(|_| content.next_block(&mut cursor, size)).collect()
    }

    #[test]
    fn equal_prefixes_have_equal_identities_and_a_difference_changes_all_that_follow() {
        let a = blocks(&Content::new([repeated(1, 512), repeated(2, 512)], 0), 64, 16);
        let b = blocks(&Content::new([repeated(1, 512), repeated(3, 512)], 1), 64, 16);
        assert_eq!(a[..8], b[..8]);
        assert!(a[8..].iter().zip(&b[8..]).all(|(a, b)| a != b));
    }

    #[test]
    fn ids_that_agree_in_their_low_32_bits_are_different_blocks() {
        let a = blocks(&Content::new([repeated(1, 512)], 0), 64, 1);
        let b = blocks(&Content::new([repeated(4_294_967_297, 512)], 0), 64, 1);
        assert_ne!(a, b);
    }

    #[test]
    fn the_spelling_of_a_run_does_not_matter() {
        let whole = blocks(&Content::new([repeated(7, 96)], 0), 32, 3);
        let parts = blocks(&Content::new([repeated(7, 40), repeated(7, 56)], 0), 32, 3);
        assert_eq!(whole, parts);
        let unique =
            |start, length| Run { symbol: Symbol::Unique(Origin::Prefix(3)), start, length };
        let whole = blocks(&Content::new([unique(0, 96)], 0), 32, 3);
        let parts = blocks(&Content::new([unique(0, 10), unique(10, 86)], 0), 32, 3);
        assert_eq!(whole, parts);
    }

    #[test]
    fn a_later_turn_that_repeats_prompt_and_output_finds_the_blocks_of_the_first() {
        let first = Content::new([repeated(1, 40)], 5);
        let turn = first.runs().iter().copied().chain([first.output_run(56), repeated(2, 32)]);
        let second = Content::new(turn, 6);
        assert_eq!(blocks(&first, 32, 3), blocks(&second, 32, 4)[..3]);
        let other = Content::new([repeated(1, 40)], 7);
        assert_eq!(blocks(&first, 32, 3)[0], blocks(&other, 32, 3)[0]);
        assert_ne!(blocks(&first, 32, 3)[1], blocks(&other, 32, 3)[1]);
    }
}
