//! Commands on pinned inputs and on traces.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

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
    /// List every pin with its digest
    #[command(after_help = "Example:\n  bench pins list --format json")]
    List {
        /// How to print the list
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
        format: Format,
    },
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
    #[command(after_help = "Example:\n  bench trace stats pins/traces/conversation.jsonl.gz")]
    Stats(TraceStatsArgs),
}

/// Arguments of `trace stats`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceStatsArgs {
    /// The trace file, plain or gzip
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}
