//! The command on pinned engines and their runners.

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

/// Arguments of `engines`.
#[derive(Debug, Clone, Args)]
pub(crate) struct EnginesArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: EnginesAction,
}

/// What `engines` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum EnginesAction {
    /// List every pinned engine: version, what it can run, whether its runner is there
    #[command(after_help = "Example:\n  bench engines list --format json")]
    List {
        /// How to print the list
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
        format: Format,
    },
    /// Build runners that are not there; `run` does so by itself
    #[command(
        after_help = "Examples:\n  bench engines build aisimulate --version 0.13.0-dev.87\n  bench engines build aisimulate"
    )]
    Build {
        /// The engines
        #[command(flatten)]
        engines: WantedEngines,
        /// Whether to build a runner that is there
        #[arg(long, value_enum, value_name = "WHICH", default_value_t = Rebuild::Missing)]
        rebuild: Rebuild,
    },
    /// Check that runners are what was built, and their lock files those of the pins
    #[command(
        after_help = "Examples:\n  bench engines verify aisimulate\n  bench engines verify aisimulate --version 0.13.0-dev.87 --conformance"
    )]
    Verify {
        /// The engines
        #[command(flatten)]
        engines: WantedEngines,
        /// Also put the cases of the protocol to each runner that is there
        #[arg(long)]
        conformance: bool,
    },
    /// Remove built runners
    #[command(after_help = "Example:\n  bench engines remove aisimulate --version 0.12.1")]
    Remove {
        /// The engines
        #[command(flatten)]
        engines: WantedEngines,
    },
}

/// Engines that are meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct WantedEngines {
    /// The engine; every upstream one without it
    #[arg(value_name = "ENGINE")]
    pub(crate) engine: Option<String>,

    /// A version of it, a nightly by its number too; every pinned one without it
    #[arg(long = "version", value_name = "VERSION", requires = "engine")]
    pub(crate) versions: Vec<String>,
}

/// Which runners are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rebuild {
    /// Those that are not there.
    Missing,
    /// All.
    All,
}
