//! What is known of the model beyond its name: a folder with its `config.json`, a pin of the project, or one that the program
//! carries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{Context, Exit, Failure};
use crate::deployment::{Backend, ContextLength, Worker, Workers};
use crate::diag::{Bag, Code, Problem};
use crate::pin::{Bundle, HardwarePin, HubConfig, ModelPin, PinKind, Registry, TimingPin};
use crate::plan::{PoolSource, Shortfall, TableInput, TableWanted, WorkerPart};
use crate::scenario::dynosim::Prediction;
use crate::units::Tokens;

/// What is known of the model beyond its name.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// The longest sequence, where anything asks for it.
    pub(super) context_limit: Tokens,
    /// KV bytes of one token on the fullest GPU of an aggregated or decode worker.
    pub(super) kv_bytes_per_token: u64,
    /// KV bytes of one token on the fullest GPU of a prefill worker, where there is one.
    pub(super) prefill_kv_bytes_per_token: u64,
    /// Its shape, where it is known.
    pin: Option<ModelPin>,
    /// The project's pins, where there is a project.
    registry: Option<Registry>,
}

impl Model {
    /// Returns the model as the configuration states it, completed by whoever describes it.
    ///
    /// # Errors
    /// Exit 1 where its folder or a pin is wrong, or vLLM's context length is `max` and nobody knows it.
    pub(super) fn find(
        prediction: &Prediction,
        config: &Path,
        context: &Context,
    ) -> Result<Self, Failure> {
        let deployment = &prediction.deployment;
        let (prefill, worker) = match &deployment.workers {
            Workers::Aggregated(worker) => (worker, worker),
            Workers::Disaggregated { prefill, decode } => (prefill, decode),
        };
        let registry = project_root(config, context).and_then(|root| Registry::open(&root).ok());
        let folder = local_config(&deployment.model, prediction)?;
        let pin = match &folder {
            Some(config) => described(config, &deployment.model, registry.as_ref())?,
            None => pinned(&deployment.model, registry.as_ref())?,
        };
        let limit = match deployment.context_length {
            ContextLength::Tokens(tokens) => Some(tokens),
            // Nothing asks for the limit then.
            ContextLength::Unlimited => Some(Tokens::ZERO),
            ContextLength::Max => pin
                .as_ref()
                .map(ModelPin::context_limit)
                .or_else(|| folder.as_ref().and_then(HubConfig::context_limit)),
        };
        // Only vLLM reads the limit of the model; the others run without one.
        let context_limit = match (limit, deployment.backend) {
            (Some(limit), _) => limit,
            (None, Backend::Sglang | Backend::Trtllm) => Tokens::ZERO,
            (None, Backend::Vllm) => return Err(unknown(prediction, registry.as_ref())),
        };
        // Without a pin nothing that runs reads the bytes: a capacity in bytes states them.
        let of = |worker: &Worker| {
            pin.as_ref().map_or(0, |pin| pin.kv_bytes_per_token(&worker.parallelism))
        };
        Ok(Self {
            context_limit,
            kv_bytes_per_token: worker.kv_cache.bytes_per_token.unwrap_or(of(worker)),
            prefill_kv_bytes_per_token: of(prefill),
            pin,
            registry,
        })
    }

    /// Returns every timing pin of the project, then those that the program carries under other names.
    fn timings(&self) -> Result<Vec<(TimingPin, From)>, Bag> {
        let mut pins = Vec::new();
        if let Some(registry) = &self.registry {
            for name in registry.names(PinKind::Timing)? {
                pins.push((registry.timing(&name)?, From::Project));
            }
        }
        for pin in Bundle.timings()? {
            if !pins.iter().any(|(known, _)| known.name == pin.name) {
                pins.push((pin, From::Program));
            }
        }
        Ok(pins)
    }

    /// Returns the table of a pin.
    fn open(&self, pin: &TimingPin, from: From) -> Result<TableInput, Problem> {
        let table = match (from, &self.registry) {
            (From::Project, Some(registry)) => pin.open(registry.root())?,
            (From::Project | From::Program, _) => Bundle.table(pin)?,
        };
        Ok(TableInput { name: pin.name.clone(), digest: pin.digest(), table: Arc::new(table) })
    }
}

/// Where a timing pin was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Project,
    Program,
}

impl PoolSource for Model {
    fn model(&self) -> Option<&ModelPin> {
        self.pin.as_ref()
    }

    fn hardware(&self, name: &str) -> Option<HardwarePin> {
        let of_project = self.registry.as_ref().and_then(|registry| registry.hardware(name).ok());
        of_project.or_else(|| Bundle.hardware(name).ok().flatten())
    }

    fn table(&self, wanted: TableWanted<'_>) -> Result<TableInput, Shortfall> {
        let wrong = |message: String| Shortfall {
            part: WorkerPart::Timing,
            message,
            help: "`bench pins verify` says what is wrong with the pins".to_owned(),
        };
        let all = |bag: Bag| {
            let problems = bag.into_sorted();
            wrong(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        };
        let pins = self.timings().map_err(all)?;
        let answers = |pin: &TimingPin| match wanted {
            TableWanted::Named(name) => pin.name == name,
            TableWanted::For(sought) => sought.is_answered_by(pin),
        };
        if let Some((pin, from)) = pins.iter().find(|(pin, _)| answers(pin)) {
            return self.open(pin, *from).map_err(|problem| wrong(problem.to_string()));
        }
        let known: Vec<TimingPin> = pins.into_iter().map(|(pin, _)| pin).collect();
        Err(match wanted {
            TableWanted::For(sought) => sought.unanswered(&known),
            TableWanted::Named(name) => {
                let names: Vec<String> =
                    known.iter().map(|pin| format!("`{}`", pin.name)).collect();
                Shortfall {
                    part: WorkerPart::Timing,
                    message: format!("no timing table is called `{name}`"),
                    help: format!("known are {}", names.join(", ")),
                }
            }
        })
    }
}

/// Returns the `config.json` of a model that is named by its folder.
fn local_config(model: &str, prediction: &Prediction) -> Result<Option<HubConfig>, Failure> {
    let file = Path::new(model).join("config.json");
    if !file.is_file() {
        return Ok(None);
    }
    let wrong = |why: String| {
        let message = format!("`{}` describes no model: {why}", file.display());
        failed(at_model(prediction, message, "described there"))
    };
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    HubConfig::read(&text).map(Some).map_err(wrong)
}

/// Returns the model that a folder describes, under the name of a pin that computes the same where there is one.
///
/// A folder that does not say enough describes a context length at the most; what needs more complains of that.
fn described(
    config: &HubConfig,
    name: &str,
    registry: Option<&Registry>,
) -> Result<Option<ModelPin>, Failure> {
    let Ok(model) = config.model(name) else { return Ok(None) };
    let mut known = Vec::new();
    if let Some(registry) = registry {
        for name in registry.names(PinKind::Model)? {
            known.push(registry.model(&name).map_err(Bag::from)?);
        }
    }
    known.extend(Bundle.models()?);
    let same = known.into_iter().find(|pin| model.has_shape_of(pin));
    let name = same.map_or_else(|| name.to_owned(), |pin| pin.name);
    Ok(Some(ModelPin { name, ..model }))
}

/// Returns the model that a pin of the project or of the program describes.
fn pinned(name: &str, registry: Option<&Registry>) -> Result<Option<ModelPin>, Failure> {
    if let Some(registry) = registry {
        for pin in registry.names(PinKind::Model)? {
            let pin = registry.model(&pin).map_err(Bag::from)?;
            if pin.is_called(name) {
                return Ok(Some(pin));
            }
        }
    }
    Ok(Bundle.model(name)?)
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
fn unknown(prediction: &Prediction, registry: Option<&Registry>) -> Failure {
    let model = &prediction.deployment.model;
    let message = format!("the context length of `{model}` is not known here");
    let of_project = registry.and_then(|registry| registry.names(PinKind::Model).ok());
    let mut names = of_project.unwrap_or_default();
    names.extend(Bundle.names(PinKind::Model));
    names.sort_unstable();
    names.dedup();
    let names = names.join(", ");
    let help = format!(
        "state `context_length` as a number, or name a folder with the model's config.json or a pinned model: {names}"
    );
    failed(at_model(prediction, message, "its limit is needed").help(help))
}

/// Returns a problem at the model's name.
fn at_model(prediction: &Prediction, message: String, label: &str) -> Problem {
    let place = prediction.place_named_in("context_length model");
    place.unwrap_or(&prediction.engine_place).problem(Code::DynosimUnsupported, message, label)
}

/// Returns the failure of a model that cannot be had: exit 1, as it is in DynoSim.
fn failed(problem: Problem) -> Failure {
    Failure::new(Exit::JobFailed, problem)
}
