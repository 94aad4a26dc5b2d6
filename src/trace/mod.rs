//! Recorded requests: from the bytes of trace files to a [`crate::workload::Corpus`], the statistics of one, and parts of traces.
//!
//! Owns the file formats, how strict each is read, and what was let through. The only home of `flate2`. A trace is read as a
//! whole and judged as a whole before anything is run; a file is never mapped, because its owner may change it.
//! Uses `workload`, `units` and `diag`; knows nothing of pins or scenarios.

mod assemble;
mod calendar;
mod columns;
mod convert;
mod copy;
mod counts;
mod detect;
mod dynamo;
mod field;
mod hash_ids;
mod json;
mod mooncake;
mod options;
mod plain;
mod plays;
mod quick;
mod ragpulse;
mod read;
mod recorded;
mod row;
mod session;
mod stats;
mod table;
mod tolerated;
mod weka;

pub use columns::{ColumnTime, Columns};
#[cfg(test)]
pub(crate) use convert::{Conversion, in_memory as convert_in_memory};
pub use convert::{ConvertError, ConvertTarget, ConvertedSource, LOSSES, convert};
pub use copy::{Copied, CopyError, Head, Picked, Scan, Tree};
pub use counts::{ArrivalSpan, ReadCounts, TOO_LONG};
pub use detect::{detect_format, detect_recording};
pub use dynamo::{Alone, DynamoRead, read_dynamo, read_dynamo_as};
pub use options::{ArrivalRule, HashIds, ReadOptions, RowOrder, Strictness, TimeUnit, TraceFormat};
pub use read::{
    CorpusView, PackWriter, Seen, Shard, TraceInput, WatchedRead, count_rows, found_trace_files,
    gzip_length, is_named_packed, is_trace_name, pack_gzip, read_corpus, read_views, read_watched,
    segment_name, trace_files,
};
pub use recorded::{
    HashScope, Place, RecordedCounts, RecordedEdge, RecordedOptions, RecordedRequest,
    RecordedSession, RecordedSource, RecordedSpawn, RecordedTool, RecordedTree, SpawnMode,
    TimestampBasis, ToolMode,
};
pub use stats::{Distribution, PrefixHit, Ties, TraceStats};
pub use weka::{read_weka, read_weka_as};
