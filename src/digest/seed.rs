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
    /// Where in its trace a lane begins.
    Snapshot,
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
            Self::Snapshot => "snapshot",
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

    /// Returns the 32-bit words of the stream from word `first` on; the stream itself stays where it is.
    pub fn words(&self, first: u64) -> impl Iterator<Item = u32> + use<> {
        let mut words = self.0.clone();
        words.set_word_pos(u128::from(first));
        std::iter::repeat_with(move || words.next_u32())
    }

    /// Returns a uniform draw in [0, 1) from the top 53 bits of the next 64.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Returns whether something of this probability happens: the next 64 bits lie below `probability` × 2^64.
    ///
    /// What is certain takes no draw, as in rand 0.9's `random_bool`; what never happens takes one.
    ///
    /// # Panics
    /// Where `probability` is not in [0, 1].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share below 1 of 2^64 is below 2^64, and its fraction is dropped as there"
    )]
    pub fn happens(&mut self, probability: f64) -> bool {
        assert!((0.0..=1.0).contains(&probability), "bug: {probability} is no probability");
        probability >= 1.0 || self.next_u64() < (probability * 18_446_744_073_709_551_616.0) as u64
    }

    /// Returns a draw below `limit`, as rand 0.9's `random_range(0..limit)` makes it of two 32-bit words.
    ///
    /// Source: rand 0.9, `UniformInt::<u32>::sample_single` (Canon's method with one more word at the edge).
    ///
    /// # Panics
    /// When `limit` is 0: nothing lies below it.
    pub fn below(&mut self, limit: u32) -> u32 {
        assert!(limit > 0, "bug: a draw below 0");
        let mut product = |limit: u32| {
            let product = u64::from(self.0.next_u32()) * u64::from(limit);
            let low = u32::try_from(product & u64::from(u32::MAX)).expect("masked to 32 bits");
            (u32::try_from(product >> 32).expect("shifted to 32 bits"), low)
        };
        let (drawn, low) = product(limit);
        if low <= limit.wrapping_neg() {
            return drawn;
        }
        let (carry, _) = product(limit);
        drawn + u32::from(low.checked_add(carry).is_none())
    }

    /// Returns an exponential draw with mean 1: `-ln(1 - u)`, `ln` from `libm`.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_below_a_limit_takes_one_word_but_at_the_edge() {
        let mut stream = Seed::stated(0).stream();
        let mut words = Seed::stated(0).stream();
        for limit in [1, 2, 3, 7, 1 << 31, u32::MAX] {
            for _ in 0..200 {
                let drawn = stream.below(limit);
                let word = words.0.next_u32();
                let (high, low) = {
                    let product = u64::from(word) * u64::from(limit);
                    (product >> 32, product & u64::from(u32::MAX))
                };
                if low > u64::from(limit.wrapping_neg()) {
                    let more = (u64::from(words.0.next_u32()) * u64::from(limit)) >> 32;
                    assert_eq!(
                        u64::from(drawn),
                        high + u64::from(low + more > u64::from(u32::MAX))
                    );
                } else {
                    assert_eq!(u64::from(drawn), high);
                }
                assert!(drawn < limit);
            }
        }
    }

    /// Computed apart from this code: SHA-256 of the documented layout, first 8 bytes little-endian.
    #[test]
    fn derived_seeds_are_those_of_the_documented_layout() {
        let cases = [
            (0, "chat", Purpose::Arrivals, 2_016_363_721_535_072_587),
            (1234, "chat", Purpose::Arrivals, 3_476_828_425_555_995_733),
            (1234, "steady", Purpose::Arrivals, 16_438_434_916_069_627_416),
            (1234, "chat", Purpose::PrefixGroups, 18_200_263_938_385_790_344),
            (1234, "chat", Purpose::Acceptance, 16_262_600_465_839_036_561),
            (1234, "chat", Purpose::Selection, 14_576_410_030_317_275_999),
        ];
        for (scenario, stream, purpose, expected) in cases {
            assert_eq!(
                Seed::derive(scenario, stream, purpose).get(),
                expected,
                "{stream} {purpose:?}"
            );
        }
    }

    /// Computed apart from this code: `ChaCha12` keyed by the PCG32 expansion of 42.
    #[test]
    fn the_first_draws_of_a_seed_are_pinned() {
        let expected = [
            9_713_269_763_989_775_522,
            10_011_513_049_433_592_189,
            11_740_708_795_755_607_249,
            7_487_565_853_151_867_058,
            633_513_173_585_076_202,
            7_654_602_743_214_997_928,
            13_603_079_691_933_612_283,
            15_665_927_001_465_599_799,
            2_421_668_070_752_551_774,
            59_990_589_126_097_438,
            17_195_042_692_806_716_983,
            9_336_807_752_121_363_465,
            7_206_207_196_509_697_618,
            2_598_777_197_943_013_338,
            9_648_369_018_563_374_588,
            4_034_406_043_281_793_424,
        ];
        let mut stream = Seed::stated(42).stream();
        assert_eq!([0; 16].map(|_: u64| stream.next_u64()), expected);
        let uniform = Seed::stated(42).stream().uniform();
        assert_eq!(uniform.to_bits(), 4_602_918_027_047_224_548);
    }

    /// The first draw of seed 42 is 0.5265… of 2^64.
    #[test]
    fn a_certain_thing_takes_no_draw_and_an_impossible_one_takes_one() {
        let mut stream = Seed::stated(42).stream();
        assert!(stream.happens(1.0) && !stream.happens(0.526) && !stream.happens(0.0));
        assert_eq!(stream.next_u64(), 11_740_708_795_755_607_249, "the third draw");
        let mut stream = Seed::stated(42).stream();
        assert!(stream.happens(0.527));
    }
}
