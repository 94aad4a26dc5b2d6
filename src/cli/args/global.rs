//! Options that every command takes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Project root: the folder that holds `pins/` [default: the nearest one above the scenario]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// When to colour diagnostics and help; results on stdout have no colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,

    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Also say what is read and written
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs: one JSON document.
    Json,
}

/// Reads how many jobs run side by side.
///
/// # Errors
/// What is wrong, in the program's own words.
pub(crate) fn side_by_side(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "at least one job must run: a whole number from 1 on".to_owned())
}
