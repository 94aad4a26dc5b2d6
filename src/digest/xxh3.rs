//! XXH3, seeded as the engines seed it: what block names are made of.
//!
//! Nothing is identified by it here. The reference breaks ties between blocks that became evictable together by the order of
//! these hashes, so a simulation that agrees with it block by block must know them. Source: spec/SIMULATION.md §3.1.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of the engines' block hashes.
const SEED: u64 = 1337;

/// Returns the hash of a block's tokens.
pub(crate) fn xxh3_of_tokens(tokens: &[u32]) -> u64 {
    let bytes: Vec<u8> = tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
    xxh3_64_with_seed(&bytes, SEED)
}

/// Returns the hash of a name.
pub(crate) fn xxh3_of_bytes(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, SEED)
}

/// Returns the hash of a block behind its parent.
pub(crate) fn xxh3_of_child(parent: u64, own: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&parent.to_le_bytes());
    bytes[8..].copy_from_slice(&own.to_le_bytes());
    xxh3_64_with_seed(&bytes, SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with the `xxhash` package of Python.
    #[test]
    fn names_are_those_of_another_implementation() {
        let first = xxh3_of_tokens(&[1, 2, 3, 4]);
        assert_eq!(first, 14_643_705_804_678_351_452);
        let second = xxh3_of_child(first, xxh3_of_tokens(&[5, 6, 7, 8]));
        assert_eq!(second, 4_945_711_292_740_353_085);
        assert_eq!(xxh3_of_tokens(&[7; 64]), 17_903_371_052_352_623_343);
    }
}
