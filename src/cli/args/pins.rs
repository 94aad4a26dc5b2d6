//! Commands on pinned inputs and on traces.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Format, PinsAuditArgs, PinsUpdateArgs, TimingArgs};

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
}

/// Arguments of `trace stats`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceStatsArgs {
    /// Trace files, plain or gzip, or names of trace pins; each is a trace of its own
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,

    /// The format of the files; a pin states its own [default: azure for .csv, else mooncake]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) trace_format: Option<TraceFileFormat>,

    /// Tokens that one hash id of the files stands for; a pin states its own
    #[arg(long, value_name = "TOKENS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) block_size: u32,
}

/// The format of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFileFormat {
    /// JSON lines with lengths and hash ids
    Mooncake,
    /// The same, each row being what its turn adds to the prompt
    MooncakeDelta,
    /// CSV with calendar times and lengths
    Azure,
}
