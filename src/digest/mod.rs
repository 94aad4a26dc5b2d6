//! Digests, the one writer of hashed bytes, domain separation and seeds.
//!
//! The only home of `blake3`, `sha2`, `rand_chacha` and `xxhash_rust`. Knows nothing of what it hashes.

mod blake;
pub mod canonical;
#[cfg(test)]
mod canonical_laws;
mod domain;
mod seed;
mod sha256;
mod spread;
mod xxh3;

pub(crate) use blake::{blake3_name, blake3_number, blake3_of_json, blake3_share};
pub use domain::Domain;
pub use seed::{Purpose, Seed, Stream};
pub use sha256::{DigestParseError, Hasher, Sha256};
pub(crate) use spread::Spread;
pub(crate) use xxh3::{xxh3_of_bytes, xxh3_of_child, xxh3_of_tokens};
