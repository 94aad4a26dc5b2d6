//! Commands that say why results differ.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::side_by_side;

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
