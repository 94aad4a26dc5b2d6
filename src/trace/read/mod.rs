//! From bytes to rows: shards, gzip, text, and the reader of a whole trace.

mod corpus;
mod gzip;
mod shard;
#[cfg(test)]
mod tests;

pub use corpus::{count_rows, read_corpus};
pub use gzip::pack_gzip;
pub use shard::{Shard, is_named_gzip};
