//! Arguments of `pins timing`.

use clap::{Args, Subcommand, ValueEnum};

use crate::deployment::Backend;

/// Arguments of `pins timing`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TimingArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: TimingAction,
}

/// What `pins timing` does.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TimingAction {
    /// Make a table from the estimator of an installed `aisimulate`, and pin it
    #[command(
        after_help = "Example:\n  bench pins timing export --model llama-3.1-8b --hardware h200_sxm --backend vllm --tensor 4 --python venv/bin/python"
    )]
    Export(ExportArgs),
}

/// Arguments of `pins timing export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// The model's pin
    #[arg(long, value_name = "PIN")]
    pub(crate) model: String,

    /// The hardware's pin
    #[arg(long, value_name = "PIN")]
    pub(crate) hardware: String,

    /// The engine
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub(crate) backend: Engine,

    /// The engine's version [default: the estimator's current one]
    #[arg(long, value_name = "VERSION")]
    pub(crate) backend_version: Option<String>,

    /// Tensor parallelism
    #[arg(long, value_name = "RANKS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tensor: u32,

    /// Pipeline parallelism
    #[arg(long, value_name = "STAGES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pipeline: u32,

    /// Attention data parallelism
    #[arg(long, value_name = "RANKS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attention_data: u32,

    /// Tensor parallelism of the experts
    #[arg(long, value_name = "RANKS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) moe_tensor: u32,

    /// Expert parallelism
    #[arg(long, value_name = "RANKS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) moe_expert: u32,

    /// The interpreter that has the package `aisimulate`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub(crate) python: String,

    /// The table's name [default: model.hardware.engine.tpN…]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// An engine, as a word of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// vLLM
    Vllm,
    /// SGLang
    Sglang,
    /// TensorRT-LLM
    Trtllm,
}

impl From<Engine> for Backend {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Vllm => Self::Vllm,
            Engine::Sglang => Self::Sglang,
            Engine::Trtllm => Self::Trtllm,
        }
    }
}
