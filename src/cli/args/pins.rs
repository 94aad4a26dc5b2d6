//! Commands on pinned inputs and on traces.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::trace::{ConvertTarget, LOSSES, TraceFormat};

use super::{
    Format, PinsAuditArgs, PinsUpdateArgs, TimingArgs, TraceHeadArgs, TraceSampleArgs,
    TraceSplitArgs,
};

/// Arguments of `pins`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PinsArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: PinsAction,
}

/// What `pins` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PinsAction {
    /// Check that all places of another repository state one version of an engine
    #[command(
        after_help = "Example:\n  bench pins audit ../dynamo --rules pins/audits/dynamo-aisimulate.kdl"
    )]
    Audit(PinsAuditArgs),
    /// List every pin with its digest
    #[command(after_help = "Example:\n  bench pins list --format json")]
    List {
        /// How to print the list
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
        format: Format,
    },
    /// Make timing tables
    Timing(TimingArgs),
    /// Move all places of another repository to another version of an engine
    #[command(
        after_help = "Example:\n  bench pins update ../dynamo --rules pins/audits/dynamo-aisimulate.kdl --to 0.13.0 --dry-run"
    )]
    Update(PinsUpdateArgs),
    /// Verify size and digest of every pinned file
    #[command(after_help = "Example:\n  bench pins verify")]
    Verify {
        /// How to print the verdicts
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
        format: Format,
    },
}

/// Arguments of `trace`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: TraceAction,
}

/// What `trace` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TraceAction {
    /// Print what is in a trace: rows, rate, lengths, prefix reuse
    #[command(
        after_help = "Examples:\n  bench trace stats conversation azure-code\n  bench trace stats my-trace.jsonl --block-size 64 --format json"
    )]
    Stats(TraceStatsArgs),
    /// Say everything that is wrong with a trace, or count what is in it
    #[command(
        after_help = "Examples:\n  bench trace validate capture.jsonl.gz\n  bench trace validate corpus/ --trace-format weka --format json"
    )]
    Validate(TraceValidateArgs),
    /// Write a trace in another format; what that cannot hold is an error unless it is dropped by name
    #[command(
        after_help = "Examples:\n  bench trace convert capture/ --to agentic-mooncake --drop ttft --output plays.jsonl\n  bench trace convert capture/ --to weka --drop clock --drop request-id --output corpus.jsonl.gz"
    )]
    Convert(TraceConvertArgs),
    /// Copy the start of a trace
    #[command(
        after_help = "Examples:\n  bench trace head conversation.jsonl.gz --rows 1000 --output start.jsonl.gz\n  bench trace head corpus/ --trees 10 --output ten.jsonl"
    )]
    Head(TraceHeadArgs),
    /// Copy a trace in parts that cut no session
    #[command(
        after_help = "Example:\n  bench trace split corpus/ --parts 8 --output parts/corpus.jsonl.gz"
    )]
    Split(TraceSplitArgs),
    /// Copy sessions of a trace that are drawn by a seed
    #[command(
        after_help = "Example:\n  bench trace sample corpus/ --trees 50 --seed 7 --output fifty.jsonl.gz"
    )]
    Sample(TraceSampleArgs),
}

/// Arguments of `trace validate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceValidateArgs {
    /// Files of one trace in order, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// Let through, and count, what `lenient=#true` in a pin lets through
    #[arg(long)]
    pub(crate) lenient: bool,

    /// How to print the counts
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) files: TraceFileArgs,
}

/// Arguments of `trace convert`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceConvertArgs {
    /// Files of one trace in order, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: TraceTarget,

    /// A field that may be lost; may be given several times
    #[arg(long, value_name = "FIELD", hide_possible_values = true, value_parser = PossibleValuesParser::new(LOSSES.map(|(name, _)| name)))]
    pub(crate) drop: Vec<String>,

    /// Where to write, packed as the end of the name says (`.gz`, `.zst`) [default: standard output, as it is]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) files: TraceFileArgs,
}

/// What a trace can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceTarget {
    /// JSON lines with lengths and hash ids
    Mooncake,
    /// The same, each row being what its turn adds to the prompt
    MooncakeDelta,
    /// Requests that wait for one another, version 2 with its header
    AgenticMooncake,
    /// Traces of coding agents with their sub-agents
    Weka,
    /// Dynamo's request trace
    Dynamo,
    /// Sessions of tool calls, by their lengths
    AppliedComputeAgentic,
}

impl TraceTarget {
    /// Returns the target.
    pub(crate) const fn target(self) -> ConvertTarget {
        match self {
            Self::Mooncake => ConvertTarget::Mooncake,
            Self::MooncakeDelta => ConvertTarget::MooncakeDelta,
            Self::AgenticMooncake => ConvertTarget::AgenticMooncake,
            Self::Weka => ConvertTarget::Weka,
            Self::Dynamo => ConvertTarget::Dynamo,
            Self::AppliedComputeAgentic => ConvertTarget::AppliedComputeAgentic,
        }
    }
}

/// Arguments of `trace stats`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceStatsArgs {
    /// Trace files, plain, gzip or Zstandard, folders, starts of names of segments, or names of trace pins; each is a trace of its own
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) files: TraceFileArgs,
}

/// How trace files are read that no pin describes.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceFileArgs {
    #[command(flatten)]
    pub(crate) table: TraceTableArgs,

    /// Tokens that one hash id of the files stands for, where they do not say; a pin states its own
    #[arg(long, value_name = "TOKENS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) block_size: u32,
}

/// How trace files that no pin describes are told apart into records.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceTableArgs {
    /// The format of the files; a pin states its own [default: by what they hold]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) trace_format: Option<TraceFileFormat>,

    /// Which column of a `csv` says what: `input=NAME`, `output=NAME` and perhaps `timestamp=NAME`
    #[arg(long, value_name = "ROLE=NAME")]
    pub(crate) column: Vec<String>,

    /// How the column of timestamps of a `csv` is written [default: s]
    #[arg(long, value_name = "UNIT", value_parser = ["s", "ms", "us", "ns", "calendar"])]
    pub(crate) column_times: Option<String>,
}

/// The format of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFileFormat {
    /// JSON lines with lengths and hash ids
    Mooncake,
    /// The same, each row being what its turn adds to the prompt
    MooncakeDelta,
    /// Requests that wait for one another
    AgenticMooncake,
    /// Traces of coding agents with their sub-agents
    Weka,
    /// Sessions of tool calls, by their lengths
    AppliedComputeAgentic,
    /// Dynamo's request trace
    Dynamo,
    /// CSV with calendar times and lengths
    Azure,
    /// CSV with seconds and lengths by the names of their columns
    #[value(name = "burstgpt")]
    BurstGpt,
    /// JSON lines with seconds and lengths, and ids that name documents
    #[value(name = "ragpulse")]
    RagPulse,
    /// CSV with lengths, whose columns are named
    Csv,
}

impl TraceFileFormat {
    /// Returns the format.
    pub(crate) const fn format(self) -> TraceFormat {
        match self {
            Self::Mooncake => TraceFormat::Mooncake,
            Self::MooncakeDelta => TraceFormat::MooncakeDelta,
            Self::AgenticMooncake => TraceFormat::AgenticMooncake,
            Self::Weka => TraceFormat::Weka,
            Self::AppliedComputeAgentic => TraceFormat::AppliedComputeAgentic,
            Self::Dynamo => TraceFormat::Dynamo,
            Self::Azure => TraceFormat::Azure,
            Self::BurstGpt => TraceFormat::BurstGpt,
            Self::RagPulse => TraceFormat::RagPulse,
            Self::Csv => TraceFormat::Csv,
        }
    }
}
