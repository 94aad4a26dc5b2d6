//! Seeds come from identity, never from order; each consumer has a stream of its own.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::Hasher;

/// What a random stream is for. Adding one moves no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Gaps between arrivals.
    Arrivals,
    /// Which prefix group a session belongs to.
    PrefixGroups,
    /// Which drafts of a speculating engine are accepted.
    Acceptance,
    /// Which dataset entries are drawn, and in which order.
    Selection,
}

/// A 64-bit seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(u64);

/// ChaCha12 as rand 0.9's `StdRng` seeds it, with samplers whose bits are fixed here.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha12Rng);

impl Purpose {
    /// Returns the word that names the stream.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrivals => "arrivals",
            Self::PrefixGroups => "prefix-groups",
            Self::Acceptance => "acceptance",
            Self::Selection => "selection",
        }
    }
}

impl Seed {
    /// Returns a seed that a file states.
    pub const fn stated(value: u64) -> Self {
        Self(value)
    }

    /// Returns the seed of one stream of one workload.
    ///
    /// Source: docs/determinism.md#seeds: the first 8 bytes, little-endian, of SHA-256 over
    /// `touchstone-seed-v1` NUL scenario seed (u64 LE) NUL stream NUL purpose.
    pub fn derive(scenario_seed: u64, stream: &str, purpose: Purpose) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(b"touchstone-seed-v1\0");
        hasher.update(&scenario_seed.to_le_bytes());
        hasher.update(b"\0");
        hasher.update(stream.as_bytes());
        hasher.update(b"\0");
        hasher.update(purpose.name().as_bytes());
        let digest = hasher.finish();
        let mut first = [0_u8; 8];
        first.copy_from_slice(&digest.bytes()[..8]);
        Self(u64::from_le_bytes(first))
    }

    /// Returns the value.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the stream that the seed starts.
    pub fn stream(self) -> Stream {
        Stream(ChaCha12Rng::seed_from_u64(self.0))
    }
}

impl Stream {
    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform draw in [0, 1) from the top 53 bits of the next 64.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Returns an exponential draw with mean 1: `-ln(1 - u)`, `ln` from `libm`.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }
}
