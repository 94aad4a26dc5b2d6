//! Commands that write parts of a trace.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::graph::milliseconds;
use super::{Format, TraceTableArgs};

/// Arguments of `trace head`.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("length").required(true).args(["rows", "trees", "within"])))]
pub(crate) struct TraceHeadArgs {
    /// Files of one trace in order, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// The first N requests, where requests stand one a row and name none that they wait for
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: Option<u64>,

    /// The first N trees: sessions with their sub-agents, plays, rows that stand alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trees: Option<u64>,

    /// The trees that start less than this long after the earliest: a number above 0 and `ms`, `s`, `m` or `h`, such as `90s` or `1.5h`.
    /// Times without a unit of their own (`mooncake`) count as milliseconds
    #[arg(long, value_name = "DURATION", value_parser = within)]
    pub(crate) within: Option<f64>,

    #[command(flatten)]
    pub(crate) output: TracePartArgs,

    #[command(flatten)]
    pub(crate) table: TraceTableArgs,
}

/// Arguments of `trace sample`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceSampleArgs {
    /// Files of one trace in order, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// How many trees to draw: sessions with their sub-agents, plays, rows that stand alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) trees: u64,

    /// What to draw them by: the same seed draws the same trees
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) output: TracePartArgs,

    #[command(flatten)]
    pub(crate) table: TraceTableArgs,
}

/// Arguments of `trace split`.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("length").required(true).args(["parts", "trees"])))]
pub(crate) struct TraceSplitArgs {
    /// Files of one trace in order, plain, gzip or Zstandard; folders and starts of names of segments
    #[arg(value_name = "FILE", required = true)]
    pub(crate) traces: Vec<PathBuf>,

    /// How many parts to write, of as many trees each as can be
    #[arg(long, value_name = "N")]
    pub(crate) parts: Option<usize>,

    /// How many trees each part holds; the last may hold fewer
    #[arg(long, value_name = "N")]
    pub(crate) trees: Option<usize>,

    /// What the names of the parts start with: `p` and `p.jsonl` write `p.000000.jsonl` and so on, `p.jsonl.gz` packs them
    #[arg(long, short, value_name = "NAME")]
    pub(crate) output: PathBuf,

    /// How to print what was written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) table: TraceTableArgs,
}

/// Where a part of a trace goes.
#[derive(Debug, Clone, Args)]
pub(crate) struct TracePartArgs {
    /// Where to write, packed as the end of the name says (`.gz`, `.zst`) [default: standard output, as it is]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// How to print what was written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table, requires = "output")]
    pub(crate) format: Format,
}

/// Reads a duration.
fn within(text: &str) -> Result<f64, String> {
    // Nothing starts less than no time after the earliest.
    let ms = milliseconds(text).filter(|ms| *ms > 0.0);
    ms.ok_or_else(|| {
        "write a number above 0 and its unit: `90s`, `500ms`, `10m` or `2h`".to_owned()
    })
}
