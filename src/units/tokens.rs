//! Tokens and KV blocks. Division between them always states its rounding.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Sub};

/// A number of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens(u64);

/// A number of KV blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blocks(u64);

/// Tokens in one block; at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockSize(NonZeroU32);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// Returns `count` tokens.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of tokens.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns how many whole blocks the tokens fill.
    pub fn blocks_full(self, size: BlockSize) -> Blocks {
        Blocks(self.0 / u64::from(size.get()))
    }

    /// Returns how many blocks hold the tokens, the last perhaps partly.
    pub fn blocks_ceil(self, size: BlockSize) -> Blocks {
        Blocks(self.0.div_ceil(u64::from(size.get())))
    }

    /// Returns the difference, or zero where `other` is larger.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Tokens {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Blocks {
    /// Returns `count` blocks.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the number of blocks.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the tokens that the blocks hold when full.
    pub fn tokens(self, size: BlockSize) -> Tokens {
        Tokens(self.0 * u64::from(size.get()))
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl BlockSize {
    /// Returns a block of `tokens` tokens, or `None` for zero.
    pub fn new(tokens: u32) -> Option<Self> {
        NonZeroU32::new(tokens).map(Self)
    }

    /// Returns the tokens in a block.
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for BlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
