//! `bisect`: the first version that answers otherwise.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{Format, side_by_side};

/// Arguments of `bisect`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BisectArgs {
    /// The scenario: what is asked of each version
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The engine
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: String,

    /// A version that answers as it should
    #[arg(long, value_name = "VERSION")]
    pub(crate) good: String,

    /// A later version that answers otherwise
    #[arg(long, value_name = "VERSION")]
    pub(crate) bad: String,

    /// Ask only this job, by its id without the engine; repeat for more
    #[arg(long, value_name = "ID")]
    pub(crate) job: Vec<String>,

    /// Ask the bad version, then halve what is left: few versions are asked, and a change that was taken back before the bad one is not seen
    #[arg(long)]
    pub(crate) halve: bool,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// How to print what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}
