//! From the name of a text to the words that it is made of.

use crate::digest::{Hasher, Sha256};

/// The golden ratio in 64 bits: steps of it visit every number before one comes again.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A one-to-one map of names to draws, of one use in one scope. Another scope, another seed or another tokenizer is another map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    before: u64,
    between: u64,
    behind: u64,
}

/// The bits of a name's draws, taken a few at a time.
#[derive(Debug)]
pub(super) struct Draws {
    names: Names,
    first: u64,
    /// How many times 64 bits were drawn.
    drawn: u64,
    bits: u128,
    count: u32,
}

impl Names {
    /// Returns the map of a purpose and a scope.
    pub(super) fn new(seed: u64, tokenizer: Sha256, purpose: &str, scope: &str) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(b"touchstone-content-v1\0");
        hasher.update(&seed.to_le_bytes());
        hasher.update(tokenizer.bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(b"\0");
        hasher.update(scope.as_bytes());
        let digest = hasher.finish();
        let part = |at: usize| {
            let mut bytes = [0_u8; 8];
            bytes.copy_from_slice(&digest.bytes()[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        Self { before: part(0), between: part(8), behind: part(16) }
    }

    /// Returns the draws of a name. Their first 64 bits are another number for every name.
    pub(super) const fn draws(self, name: u64) -> Draws {
        // Each step can be undone, so no two names meet.
        let first = mix(mix(name ^ self.before).wrapping_add(self.between));
        Draws { names: self, first, drawn: 0, bits: 0, count: 0 }
    }

    /// Returns the draws of a small number. Their first bits are the number itself, but for some that are turned over: numbers that
    /// differ in their low bits differ in the first draw.
    pub(super) const fn numbered(self, number: u64) -> Draws {
        let first = number ^ self.before;
        Draws { names: self, first, drawn: 0, bits: 0, count: 0 }
    }
}

impl Draws {
    /// Returns the next `bits` bits, at most 32.
    pub(super) fn next(&mut self, bits: u32) -> usize {
        if self.count < bits {
            self.bits |= u128::from(self.more()) << self.count;
            self.count += 64;
        }
        let taken = self.bits & ((1_u128 << bits) - 1);
        self.bits >>= bits;
        self.count -= bits;
        usize::try_from(taken).expect("32 bits at most")
    }

    fn more(&mut self) -> u64 {
        let step = STEP.wrapping_mul(self.drawn);
        let is_first = self.drawn == 0;
        self.drawn += 1;
        if is_first { self.first } else { mix(self.first.wrapping_add(step) ^ self.names.behind) }
    }
}

/// Spreads every bit of a number over all of it; one-to-one. Source: the finaliser of `SplitMix64`.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
