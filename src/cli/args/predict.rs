//! `predict`: DynoSim's own command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Format;

/// Arguments of `predict`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PredictArgs {
    /// The DynoSim configuration (YAML)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Which stack predicts
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Stack::Engine)]
    pub(crate) stack: Stack,

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
}

/// Which stack predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stack {
    /// The engine alone.
    Engine,
    /// The engine behind DynoSim's router and planner.
    Dynamo,
}
