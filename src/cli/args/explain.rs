//! Commands that say why results differ.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, side_by_side};

/// Arguments of `explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// A run folder, a golden, or a scenario, which is then run
    #[arg(value_name = "A")]
    pub(crate) left: PathBuf,

    /// What to hold against it: another of these [default: of a scenario, its golden is held against a run of it]
    #[arg(value_name = "B", conflicts_with_all = ["from", "to"])]
    pub(crate) right: Option<PathBuf>,

    /// With a scenario alone: run it under this version of the engine …
    #[arg(long, value_name = "VERSION", requires = "to")]
    pub(crate) from: Option<String>,

    /// … and under this one
    #[arg(long, value_name = "VERSION", requires = "from")]
    pub(crate) to: Option<String>,

    /// The engine that `--from` and `--to` are versions of; those of `native` are the behaviours that it imitates
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub(crate) engine: String,

    /// Explain these jobs only
    #[arg(long, value_name = "ID")]
    pub(crate) job: Vec<String>,

    /// The scenario that runs and goldens are run again from [default: the one that they name]
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// How to print the explanation
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = PageFormat::Text)]
    pub(crate) format: PageFormat,
}

/// Arguments of `minimise`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MinimiseArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The job [default: the first that differs]
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,

    /// The one version of the engine …
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: String,

    /// … and the other
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,

    /// The engine that `--from` and `--to` are versions of; those of `native` are the behaviours that it imitates
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub(crate) engine: String,

    /// Where the reproduction is written, as a project of its own: a folder that is empty or not there [default: it is printed alone]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// How many candidates are tried at the most
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) budget: u64,

    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// How a page is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// For a terminal.
    Text,
    /// To be pasted into a review.
    Markdown,
    /// For programs: one JSON document.
    Json,
}
