//! `upgrade`: two versions of one engine.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::side_by_side;

/// Arguments of `upgrade`.
#[derive(Debug, Clone, Args)]
pub(crate) struct UpgradeArgs {
    /// The scenarios: what is asked of both versions
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The engine
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: String,

    /// The older version
    #[arg(long, value_name = "VERSION")]
    pub(crate) from: String,

    /// The newer version
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,

    /// What the newer version is declared to change [default: `changes.kdl` beside its pin, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,

    /// Also plant known perturbations into the newer version; a scenario that does not see one is blind
    #[arg(long)]
    pub(crate) controls: bool,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// How to print the verdict
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = UpgradeFormat::Table)]
    pub(crate) format: UpgradeFormat,
}

/// How a verdict on an upgrade is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpgradeFormat {
    /// For people.
    Table,
    /// For a pull request.
    Markdown,
    /// For programs: one JSON document.
    Json,
    /// For whatever shows test results.
    Junit,
}

/// Arguments of `exec-pin`: every job under one version in a process of its own, for `upgrade`.
#[derive(Debug, Clone, Args)]
#[command(disable_version_flag = true)]
pub(crate) struct ExecPinArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The engine
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: String,

    /// Its version
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: String,

    /// Only this job, by its id without the engine; repeat for more
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,
}
