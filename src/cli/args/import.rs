//! `import`: DynoSim's configurations as scenarios.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `import`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ImportArgs {
    /// The DynoSim configuration (YAML)
    #[arg(value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Where the scenario goes, in a project that has `pins/`; a trace gets a pin there [default: beside
    /// the configuration, as `.kdl`]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace one value of the configuration, as `predict` does; repeat for more
    #[arg(long = "set", value_name = "PATH=YAML")]
    pub(crate) overrides: Vec<String>,

    /// Replace the scenario where it exists
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// The model's pin, where it has another name than the configuration gives
    #[arg(long, value_name = "PIN")]
    pub(crate) model: Option<String>,

    /// The hardware's pin, likewise
    #[arg(long, value_name = "PIN")]
    pub(crate) hardware: Option<String>,

    /// Reproduce this version of the reference [default: the newest known]
    #[arg(long, value_name = "VERSION")]
    pub(crate) compat: Option<String>,
}

impl ImportArgs {
    /// Returns where the scenario goes: what was said, or beside the configuration.
    pub(crate) fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| self.config.with_extension("kdl"))
    }
}
