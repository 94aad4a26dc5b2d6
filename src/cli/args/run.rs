//! Commands that run jobs, or compare what they left.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{Format, side_by_side};
use crate::exec::Partition;

/// Arguments of `run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Compute every job; neither read nor write the result cache
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Keep the transcript of every job as `events.jsonl`
    #[arg(long)]
    pub(crate) events: bool,

    /// Run one share of the jobs, `hash:M/N` or `count:M/N`, for `merge`: the M-th of N, by key or by place in the plan
    #[arg(long, value_name = "SHARE")]
    pub(crate) partition: Option<Partition>,

    /// Where run folders and the result cache are kept [default: `runs/` below the project root]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,

    /// How to print the results
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `merge`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MergeArgs {
    /// Folders that partitions left, or folders that hold them
    #[arg(value_name = "RUN", required = true)]
    pub(crate) parts: Vec<PathBuf>,

    /// The scenario they belong to [default: the one that they name]
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,

    /// Where run folders are kept [default: `runs/` below the project root]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,

    /// Merge what different builds of this program computed
    #[arg(long)]
    pub(crate) any_program: bool,

    /// Live traffic that no part holds is to be planned and not sent: its bounds are owed no verdict
    #[arg(long)]
    pub(crate) planned: bool,

    /// Tell neither host nor times in provenance.json, so that a build gives the same bytes again
    #[arg(long)]
    pub(crate) reproducible: bool,

    /// How to print the results
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `exec-batch`: one batch of a plan as data, for build derivations.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExecBatchArgs {
    /// The batch: one element of `batches` of `plan --format nix-json`
    #[arg(value_name = "BATCH")]
    pub(crate) batch: PathBuf,

    /// Where to leave the partial run: a folder that is empty or not there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Arguments of `check`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// The scenarios
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// How to print the verdicts
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `accept`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AcceptArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Why the golden changes; kept in the golden's header
    #[arg(long, value_name = "TEXT", value_parser = words)]
    pub(crate) reason: String,

    /// Who accepts; kept in the golden's header [default: the login name]
    #[arg(long, value_name = "NAME", value_parser = words)]
    pub(crate) by: Option<String>,

    /// Jobs side by side [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = side_by_side)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// How to print what changes
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Refuses a text that says nothing.
fn words(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is blank: say it in words".to_owned());
    }
    Ok(text.to_owned())
}

/// Arguments of `diff`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DiffArgs {
    /// A run folder, or a golden
    #[arg(value_name = "A")]
    pub(crate) left: PathBuf,

    /// The run folder or golden to compare with it
    #[arg(value_name = "B")]
    pub(crate) right: PathBuf,

    /// How to print the differences
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `exec-job`: one job in a process of its own, for `accept`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExecJobArgs {
    /// The scenario
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The job's id
    #[arg(long, value_name = "ID")]
    pub(crate) job: String,

    /// Live traffic is planned and not sent: its report holds nothing that is measured
    #[arg(long)]
    pub(crate) planned: bool,
}
