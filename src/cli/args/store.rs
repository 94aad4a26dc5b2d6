//! Arguments of `store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::graph::IdleGapCap;

use super::{Format, GraphInput};

/// Arguments of `store`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: StoreAction,
}

/// What `store` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum StoreAction {
    /// Write what every call of a recording sends to a segment store
    Build(StoreBuildArgs),
    /// Hold a store against its digests, and encode its messages with the tokenizer itself
    Verify(StoreVerifyArgs),
}

/// Arguments of `store build`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreBuildArgs {
    /// Files of one recording or graph, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The folder to make; it must not be there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// What the files hold [default: weka or dynamo, by their first record]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input: Option<GraphInput>,

    /// The `tokenizer.json` of the served model [default: o200k, in the program]
    #[arg(long, value_name = "FILE")]
    pub(crate) tokenizer: Option<PathBuf>,

    /// The seed of the text
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// The longest idle time of a tree that is kept, or `none` to keep all
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = super::graph::cap)]
    pub(crate) idle_gap_cap: IdleGapCap,

    /// How to print what was made
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `store verify`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreVerifyArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) store: PathBuf,

    /// The `tokenizer.json` that it was built with, where it is not the one in the program
    #[arg(long, value_name = "FILE")]
    pub(crate) tokenizer: Option<PathBuf>,

    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}
