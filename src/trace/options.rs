//! How a trace is read: its format, and what is let through.

use std::sync::Arc;

use crate::units::BlockSize;

use super::columns::Columns;
use super::recorded::{RecordedSource, TimestampBasis};

/// After how many faulty rows reading stops, where nobody asks for more.
const FAULTY_ROWS_MAX: u64 = 10;

/// How a trace is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The file format.
    pub format: TraceFormat,
    /// Tokens that one hash id stands for.
    pub block_size: BlockSize,
    /// What is let through.
    pub strictness: Strictness,
    /// Whether rows carry hash ids.
    pub hashes: HashIds,
    /// Whether every session needs an arrival.
    pub arrivals: ArrivalRule,
    /// Whether rows are sorted.
    pub order: RowOrder,
    /// The unit of `timestamp`; calendar times have none.
    pub unit: TimeUnit,
    /// Take the first rows in file order, before sorting; all where absent.
    pub first_rows: Option<u64>,
    /// What times below a sub-agent's marker are counted from; of `weka` alone.
    pub basis: TimestampBasis,
    /// Whether a file that states its block size must state this one.
    pub is_block_size_stated: bool,
    /// Which columns say what; of `csv` alone.
    pub columns: Option<Arc<Columns>>,
    /// After this many faulty rows reading stops: the rest is most likely wrong in the same way.
    pub faulty_rows_max: u64,
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceFormat {
    /// JSON lines with lengths and block hash ids. Source: spec/SIMULATION.md §9.3.
    Mooncake,
    /// The same, each row being what its turn adds to the prompt.
    MooncakeDelta,
    /// Requests that wait for one another: version 2 with a header, or rows without one.
    AgenticMooncake,
    /// Weka's traces of coding agents.
    Weka,
    /// Sessions of tool calls, by their lengths.
    AppliedComputeAgentic,
    /// Dynamo's request trace.
    Dynamo,
    /// CSV `TIMESTAMP,ContextTokens,GeneratedTokens` with calendar times.
    Azure,
    /// CSV of `BurstGPT`: seconds and lengths.
    BurstGpt,
    /// JSON lines of `RAGPulse`: seconds and lengths.
    RagPulse,
    /// CSV whose columns are named.
    Csv,
}

/// What is let through; DSL.md, "How strict a trace is read".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// What `DynoSim` lets through: unsorted rows, missing timestamps, surplus hash ids, empty prompts.
    DynoSim,
    /// Nothing that can change a number.
    Scenario,
    /// What can be given a meaning; all of it is counted.
    Lenient,
}

/// Whether rows carry hash ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashIds {
    /// Each row names its blocks.
    Expected,
    /// Every prompt is unique; ids that are there are ignored and counted.
    Absent,
}

/// Whether every session needs an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalRule {
    /// The load replays recorded times.
    Required,
    /// The load makes its own times.
    Ignored,
    /// The load begins plays in their middle: as `Required`, and the plays get the digest by which such cuts are drawn.
    Snapshot,
}

/// Whether rows are sorted by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// File order counts; [`Strictness::Scenario`] refuses a row that arrives before the one above it.
    AsWritten,
    /// Rows are sorted stably.
    Sorted,
}

/// The unit of a trace's numeric timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl ReadOptions {
    /// Returns the options of a scenario for a format: strict, timestamps in milliseconds, every row.
    pub fn strict(format: TraceFormat, block_size: BlockSize) -> Self {
        Self {
            format,
            block_size,
            strictness: Strictness::Scenario,
            hashes: match format {
                TraceFormat::Mooncake
                | TraceFormat::MooncakeDelta
                | TraceFormat::AgenticMooncake
                | TraceFormat::Weka
                | TraceFormat::AppliedComputeAgentic
                | TraceFormat::Dynamo => HashIds::Expected,
                TraceFormat::Azure
                | TraceFormat::BurstGpt
                | TraceFormat::RagPulse
                | TraceFormat::Csv => HashIds::Absent,
            },
            arrivals: ArrivalRule::Required,
            order: RowOrder::AsWritten,
            unit: TimeUnit::Milliseconds,
            first_rows: None,
            basis: TimestampBasis::Auto,
            is_block_size_stated: false,
            columns: None,
            faulty_rows_max: FAULTY_ROWS_MAX,
        }
    }

    /// Returns the options of `predict`: a file read as `DynoSim` reads it.
    pub fn dynosim(format: TraceFormat, block_size: BlockSize, arrivals: ArrivalRule) -> Self {
        Self { strictness: Strictness::DynoSim, arrivals, ..Self::strict(format, block_size) }
    }
}

impl TraceFormat {
    /// Every format.
    pub const ALL: &'static [Self] = &[
        Self::Mooncake,
        Self::MooncakeDelta,
        Self::AgenticMooncake,
        Self::Weka,
        Self::AppliedComputeAgentic,
        Self::Dynamo,
        Self::Azure,
        Self::BurstGpt,
        Self::RagPulse,
        Self::Csv,
    ];

    /// Returns the word of pins and of `--trace-format`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mooncake => "mooncake",
            Self::MooncakeDelta => "mooncake-delta",
            Self::AgenticMooncake => "agentic-mooncake",
            Self::Weka => "weka",
            Self::AppliedComputeAgentic => "applied-compute-agentic",
            Self::Dynamo => "dynamo",
            Self::Azure => "azure",
            Self::BurstGpt => "burstgpt",
            Self::RagPulse => "ragpulse",
            Self::Csv => "csv",
        }
    }
}

impl TraceFormat {
    /// Returns what writes recordings of sessions in this format, where it is one of those that graphs are lowered from.
    pub const fn source(self) -> Option<RecordedSource> {
        match self {
            Self::Weka => Some(RecordedSource::Weka),
            Self::Dynamo => Some(RecordedSource::Dynamo),
            Self::Mooncake
            | Self::MooncakeDelta
            | Self::AgenticMooncake
            | Self::AppliedComputeAgentic
            | Self::Azure
            | Self::BurstGpt
            | Self::RagPulse
            | Self::Csv => None,
        }
    }

    /// Returns whether files are tables, each with a header.
    pub const fn is_table(self) -> bool {
        matches!(self, Self::Azure | Self::BurstGpt | Self::Csv)
    }
}

impl TimeUnit {
    /// Every unit.
    pub const ALL: &'static [Self] =
        &[Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// Returns the word of pins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// Returns the power of ten that turns the unit into milliseconds.
    pub(super) const fn milliseconds_exponent(self) -> i64 {
        match self {
            Self::Seconds => 3,
            Self::Milliseconds => 0,
            Self::Microseconds => -3,
            Self::Nanoseconds => -6,
        }
    }
}
