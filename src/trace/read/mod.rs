//! From bytes to rows: shards, packed streams, text, and the reader of a whole trace.

mod corpus;
mod files;
mod gzip;
mod input;
mod pack;
mod packing;
mod pipe;
mod shard;
mod stream;
#[cfg(test)]
mod tests;

pub use corpus::{CorpusView, WatchedRead, count_rows, read_corpus, read_views, read_watched};
pub use files::{found_trace_files, is_trace_name, segment_name, trace_files};
pub use gzip::{gzip_length, pack_gzip};
pub(super) use input::Lines;
pub use input::TraceInput;
pub use pack::PackWriter;
pub use shard::{Shard, is_named_packed};
pub use stream::Seen;
