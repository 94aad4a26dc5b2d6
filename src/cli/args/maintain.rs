//! Commands about the program itself.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Format, PerfReplayArgs};

/// Arguments of `perf`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PerfArgs {
    /// What to measure instead of scenarios
    #[command(subcommand)]
    pub(crate) what: Option<PerfCommand>,
    /// The scenarios to measure; every one in `scenarios/` where none is given
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenarios: Vec<PathBuf>,
    /// How often each is simulated; the median is printed
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `prune`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PruneArgs {
    /// Also remove all but the N newest runs of each scenario, and parts of all but the N newest plans; the run of `latest` stays
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u64>,
    /// Where run folders and the result cache are kept [default: `runs/` below the project root]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
    /// Remove nothing; list what would go
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// What `perf` measures instead of scenarios.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PerfCommand {
    /// Predictions of fixed shapes, against the CPU time that each may take
    Sim(PerfSimArgs),
    /// Reading a trace, against the speed and the memory that it should take
    Trace(PerfTraceArgs),
    /// A generated capture made into a segment store, against the speed and the memory that it should take
    Store(PerfStoreArgs),
    /// Streams of a mock server in another process: how true their times are and how many there can be, against the bars
    Replay(PerfReplayArgs),
}

/// Arguments of `perf store`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PerfStoreArgs {
    /// Records of the capture, 200 hashes each in the mean; some 4 kB each in the folder of temporary files
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) records: u64,
    /// Exit with 3 where it is slower or takes more memory than it should
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `perf trace`.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("measured").required(true).args(["trace", "corpus", "rows"]))]
pub(crate) struct PerfTraceArgs {
    /// A Mooncake trace, plain or gzip; a few megabytes and more. Its rows are read from text and from gzip
    #[arg(value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// A Weka corpus, plain or packed, of which every trace is validated and lowered. The limits are those of one of 460 MB
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<PathBuf>,
    /// Write a Mooncake file of so many rows, and simulate it request by request; some 200 bytes each in the folder of temporary files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) rows: Option<u64>,
    /// Exit with 3 where it is slower or takes more memory than it should
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `perf sim`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PerfSimArgs {
    /// A Mooncake trace with 512-token blocks: the shapes that replay one are measured with it
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Exit with 3 where one takes longer than it may
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print the figures
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `explain-code`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainCodeArgs {
    /// The code, as diagnostics print it: `area::name`
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
}

/// Arguments of `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// The command to describe [default: the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Arguments of `docs`: the generated pages.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct DocsArgs {
    /// Write the generated pages
    #[arg(long)]
    write: bool,

    /// Exit 3 when a generated page differs from what is in the tree
    #[arg(long)]
    check: bool,
}

/// What `docs` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocsMode {
    /// Write the pages.
    Write,
    /// Compare them.
    Check,
}

impl DocsArgs {
    /// Returns what is asked; clap sees to it that exactly one option is given.
    pub(crate) fn mode(self) -> DocsMode {
        if self.check { DocsMode::Check } else { DocsMode::Write }
    }
}
