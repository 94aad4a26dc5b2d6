//! `predict`: DynoSim's own command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::Format;

/// Arguments of `predict`.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("input").required(true).args(["config", "replay_spec"])))]
pub(crate) struct PredictArgs {
    /// The DynoSim configuration (YAML)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The reference crate's own `ReplaySpec` (JSON) instead of a configuration
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "overrides"])]
    pub(crate) replay_spec: Option<PathBuf>,

    /// Which stack predicts; this build has `engine`
    #[arg(long, value_name = "NAME", default_value = "engine")]
    pub(crate) stack: String,

    /// Replace one value of the configuration: `engine.backend=vllm`; the value is YAML; repeat for more
    #[arg(long = "set", value_name = "PATH=YAML")]
    pub(crate) overrides: Vec<String>,

    /// Where `prediction.json` and `requests.jsonl` go
    #[arg(long, value_name = "DIR", default_value = "aisimulate-output")]
    pub(crate) output_dir: PathBuf,

    /// Replace the known files of an output folder that is not empty
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// Also write one record a request
    #[arg(long)]
    pub(crate) capture_per_request: bool,

    /// How to print the prediction
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub(crate) format: Format,

    /// Reproduce this version of the reference [default: the newest known]
    #[arg(long, value_name = "VERSION")]
    pub(crate) compat: Option<String>,

    #[command(flatten)]
    pub(crate) unavailable: Unavailable,
}

/// Options of DynoSim that this build lacks; they parse so that they can be refused by name.
#[derive(Debug, Clone, Args)]
pub(crate) struct Unavailable {
    /// Sections of a detailed report
    #[arg(long, hide = true, value_name = "SECTIONS")]
    pub(crate) detail: Option<String>,

    /// How many entries a detailed report lists
    #[arg(long, hide = true, value_name = "N")]
    pub(crate) detail_top_n: Option<String>,

    /// Diagnostics of power
    #[arg(long, hide = true, value_name = "KIND")]
    pub(crate) diagnostics: Option<String>,

    /// Run an engine in real time
    #[arg(long, hide = true)]
    pub(crate) online: bool,
}
