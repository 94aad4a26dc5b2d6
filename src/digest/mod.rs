//! Digests, the one writer of hashed bytes, domain separation and seeds.
//!
//! The only home of `sha2` and `rand_chacha`. Knows nothing of what it hashes.

pub mod canonical;
#[cfg(test)]
mod canonical_laws;
mod domain;
mod seed;
mod sha256;

pub use domain::Domain;
pub use seed::{Purpose, Seed, Stream};
pub use sha256::{DigestParseError, Hasher, Sha256};
