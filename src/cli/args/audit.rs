//! Commands on the places in another repository that state an engine's version.

use std::path::PathBuf;

use clap::Args;

use super::Format;

/// Arguments of `pins audit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PinsAuditArgs {
    /// The other repository
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The rules: which places of it state the version
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: PathBuf,

    /// How to print the places
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Arguments of `pins update`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PinsUpdateArgs {
    /// The other repository, the rules and the format
    #[command(flatten)]
    pub(crate) audit: PinsAuditArgs,

    /// The version to move to, in either spelling; an engine pin has it
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: String,

    /// Print what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
