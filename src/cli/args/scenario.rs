//! Commands on scenario files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `plan`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How to print the plan
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = PlanFormat::Table)]
    pub(crate) format: PlanFormat,

    /// Print what the `replay` jobs send instead: every request with its start, headers and the digest of its body
    #[arg(long)]
    pub(crate) wire: bool,

    /// As `--wire`, and write the bodies to a new folder, whole or not at all
    #[arg(long, value_name = "DIR")]
    pub(crate) wire_dir: Option<PathBuf>,
}

/// How `plan` prints a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people.
    Table,
    /// For programs: one JSON document.
    Json,
    /// For build derivations: batches of jobs with every file that they read.
    NixJson,
}

/// Arguments of `lint`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LintArgs {
    /// The scenarios
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// Arguments of `fmt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FmtArgs {
    /// The files: scenarios, pins, or other KDL 2 without type annotations
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Write nothing; exit 3 when a file is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}

/// Arguments of `pin`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PinArgs {
    /// The scenario, or the file of a pin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Replace the digest of this pin by what `pins/` holds; repeat for more. In a pin's file: describe the files beside it anew
    #[arg(long, value_name = "NAME")]
    pub(crate) update: Vec<String>,
}
