//! What is known of the model beyond its name: a pin of the project, where the configuration does not say enough.

use std::path::{Path, PathBuf};

use crate::cli::Context;
use crate::deployment::{ContextLength, Worker, Workers};
use crate::diag::{Code, Problem};
use crate::pin::{PinKind, Registry};
use crate::scenario::dynosim::Prediction;
use crate::units::Tokens;

/// What is known of the model beyond its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model {
    /// The longest sequence.
    pub(super) context_limit: Tokens,
    /// KV bytes of one token on the fullest GPU of an aggregated or decode worker.
    pub(super) kv_bytes_per_token: u64,
    /// KV bytes of one token on the fullest GPU of a prefill worker, where there is one.
    pub(super) prefill_kv_bytes_per_token: u64,
}

impl Model {
    /// Returns the model as the configuration states it, or as a pin of its name does where the context length is `max`.
    ///
    /// # Errors
    /// The context length is `max` and no pin of the project has the model's name.
    pub(super) fn find(
        prediction: &Prediction,
        config: &Path,
        context: &Context,
    ) -> Result<Self, Problem> {
        let deployment = &prediction.deployment;
        let (prefill, worker) = match &deployment.workers {
            Workers::Aggregated(worker) => (worker, worker),
            Workers::Disaggregated { prefill, decode } => (prefill, decode),
        };
        let registry = project_root(config, context).and_then(|root| Registry::open(&root).ok());
        let pin = registry.as_ref().and_then(|registry| registry.model(&deployment.model).ok());
        let stated = match (deployment.context_length, &pin) {
            (ContextLength::Tokens(tokens), _) => tokens,
            (ContextLength::Unlimited, _) => Tokens::new(u64::MAX),
            (ContextLength::Max, Some(pin)) => pin.context_limit(),
            (ContextLength::Max, None) => return Err(unknown(prediction, registry.as_ref())),
        };
        // Without a pin nothing that runs reads the bytes: a capacity in bytes states them.
        let of = |worker: &Worker| {
            pin.as_ref().map_or(0, |pin| pin.kv_bytes_per_token(&worker.parallelism))
        };
        Ok(Self {
            context_limit: stated,
            kv_bytes_per_token: worker.kv_cache.bytes_per_token.unwrap_or(of(worker)),
            prefill_kv_bytes_per_token: of(prefill),
        })
    }
}

/// Returns the folder with `pins/`: the one given, or the nearest above the configuration.
fn project_root(config: &Path, context: &Context) -> Option<PathBuf> {
    if let Some(root) = context.root() {
        return Some(root.to_owned());
    }
    let config = config.canonicalize().ok()?;
    config.ancestors().find(|folder| folder.join("pins").is_dir()).map(Path::to_owned)
}

/// Returns the refusal of a context length that nobody states.
fn unknown(prediction: &Prediction, registry: Option<&Registry>) -> Problem {
    let model = &prediction.deployment.model;
    let message = format!("the context length of `{model}` is not known here");
    let pinned = registry.and_then(|registry| registry.names(PinKind::Model).ok());
    let help = match pinned {
        Some(names) if !names.is_empty() => {
            format!(
                "state `context_length` as a number, or name a pinned model: {}",
                names.join(", ")
            )
        }
        _ => "state the number, for example `context_length: 16384`".to_owned(),
    };
    prediction
        .place_named_in("context_length model")
        .unwrap_or(&prediction.engine_place)
        .problem(Code::DynosimUnsupported, message, "its limit is needed")
        .help(help)
}
