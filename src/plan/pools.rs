//! What the pins say of each pool: the KV blocks that fit, and what times its passes.

use std::sync::Arc;

use crate::deployment::{Backend, Capacity, Deployment, Parallelism, Timing, Worker, WorkerRole};
use crate::digest::canonical::object;
use crate::digest::{Domain, Sha256};
use crate::pin::{CapacityError, Dtype, HardwarePin, KvRequest, ModelPin, PassTable, TimingPin};
use crate::units::Blocks;

/// What the pins say of one pool.
#[derive(Debug, Clone, Default)]
pub struct PoolInputs {
    /// The KV blocks of a rank, where the capacity is `default`.
    pub kv_blocks: Option<Blocks>,
    /// The number format of the KV that those blocks hold.
    pub kv_dtype: Option<Dtype>,
    /// The table that times its passes, where one does.
    pub table: Option<TableInput>,
    /// What a roofline is drawn from, where one times its passes.
    pub roofline: Option<Arc<RooflineInput>>,
}

/// A table: its pin's name for people, its digest for the key.
#[derive(Debug, Clone)]
pub struct TableInput {
    /// The pin's name.
    pub name: String,
    /// The pin's digest.
    pub digest: Sha256,
    /// What it holds.
    pub table: Arc<PassTable>,
}

/// What a roofline is drawn from.
#[derive(Debug, Clone, PartialEq)]
pub struct RooflineInput {
    /// The model.
    pub model: ModelPin,
    /// The GPU.
    pub hardware: HardwarePin,
}

/// Which table a worker asks for.
#[derive(Debug, Clone, Copy)]
pub enum TableWanted<'a> {
    /// The one of this name.
    Named(&'a str),
    /// The one that timed the worker's deployment.
    For(SoughtTable<'a>),
}

/// A deployment as tables are looked up by.
#[derive(Debug, Clone, Copy)]
pub struct SoughtTable<'a> {
    /// The model.
    pub model: &'a ModelPin,
    /// The hardware's name.
    pub hardware: &'a str,
    /// The engine.
    pub backend: Backend,
    /// Its version; any where absent.
    pub version: Option<&'a str>,
    /// The ranks.
    pub parallelism: &'a Parallelism,
}

/// What a worker asks for and the pins do not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// Which part of the worker asks.
    pub part: WorkerPart,
    /// What is lacking.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A part of a worker that pins complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerPart {
    /// How long its passes take.
    Timing,
    /// How many KV blocks it has.
    Capacity,
}

/// Where pools look things up.
pub trait PoolSource {
    /// Returns the model; `None` where nobody describes it.
    fn model(&self) -> Option<&ModelPin>;
    /// Returns a GPU; `None` where nobody describes it.
    fn hardware(&self, name: &str) -> Option<HardwarePin>;
    /// Returns a table.
    ///
    /// # Errors
    /// What is lacking and what to do.
    fn table(&self, wanted: TableWanted<'_>) -> Result<TableInput, Shortfall>;
}

/// Returns what the pins say of each pool, in the order of the mode's roles.
///
/// # Errors
/// Everything that they do not say, by role.
pub fn pools(
    deployment: &Deployment,
    source: &dyn PoolSource,
) -> Result<Vec<PoolInputs>, Vec<(WorkerRole, Shortfall)>> {
    let (mut pools, mut lacking) = (Vec::new(), Vec::new());
    for (role, worker) in deployment.workers_by_role() {
        let pool = Pool { deployment, worker, source };
        let (blocks, timed) = (pool.kv_blocks(), pool.timed());
        let errors = [blocks.as_ref().err(), timed.as_ref().err()];
        lacking.extend(errors.into_iter().flatten().map(|error| (role, error.clone())));
        if let (Ok(kv_blocks), Ok(timed)) = (blocks, timed) {
            let kv_dtype = source.model().map(ModelPin::pool_dtype);
            pools.push(PoolInputs { kv_blocks, kv_dtype, ..timed });
        }
    }
    if lacking.is_empty() { Ok(pools) } else { Err(lacking) }
}

/// Returns the digest of the tables that pools are timed by, or `None` where none is.
pub fn timing_digest(pools: &[PoolInputs]) -> Option<Sha256> {
    let tables: Vec<Option<Sha256>> =
        pools.iter().map(|pool| pool.table.as_ref().map(|table| table.digest)).collect();
    match tables.as_slice() {
        [Some(prefill), Some(decode)] if prefill != decode => {
            let both = object([("decode", (*decode).into()), ("prefill", (*prefill).into())]);
            Some(Domain::Pin.digest(&both.to_bytes()))
        }
        tables => tables.iter().flatten().next().copied(),
    }
}

/// One pool while its inputs are looked up.
struct Pool<'a> {
    deployment: &'a Deployment,
    worker: &'a Worker,
    source: &'a dyn PoolSource,
}

impl Pool<'_> {
    /// Returns the name of the pool's hardware.
    fn hardware_name(&self) -> &str {
        self.worker.hardware.as_deref().unwrap_or(&self.deployment.hardware)
    }

    /// Returns the model and the hardware.
    fn described(
        &self,
        part: WorkerPart,
        why: &str,
    ) -> Result<(&ModelPin, HardwarePin), Shortfall> {
        let lacks = |what: &str, name: &str, help: &str| Shortfall {
            part,
            message: format!("{why} needs the {what} `{name}`, and no pin describes it"),
            help: help.to_owned(),
        };
        let help = match part {
            WorkerPart::Timing => "time its passes with `fixed` or `polynomial`",
            WorkerPart::Capacity => "state the capacity as `fixed`, with blocks",
        };
        let model =
            self.source.model().ok_or_else(|| lacks("model", &self.deployment.model, help))?;
        let name = self.hardware_name();
        let hardware = self.source.hardware(name).ok_or_else(|| lacks("hardware", name, help))?;
        Ok((model, hardware))
    }

    /// Returns the KV blocks that a `default` capacity comes to.
    fn kv_blocks(&self) -> Result<Option<Blocks>, Shortfall> {
        let cache = &self.worker.kv_cache;
        let Capacity::Default { memory_fraction, cuda_graph_reserved_bytes } = cache.capacity
        else {
            return Ok(None);
        };
        let (model, hardware) = self.described(WorkerPart::Capacity, "a `default` KV capacity")?;
        let request = KvRequest {
            backend: self.deployment.backend,
            parallelism: &self.worker.parallelism,
            max_batched_tokens: self.worker.scheduler.max_batched_tokens,
            memory_fraction,
            cuda_graph_reserved_bytes,
            block_size: cache.block_size,
        };
        model.kv_blocks(&hardware, &request).map(Some).map_err(|error| Shortfall {
            part: WorkerPart::Capacity,
            message: format!("a `default` KV capacity of `{}` does not exist: {error}", model.name),
            help: match error {
                CapacityError::NothingLeft { .. } => {
                    "raise `memory-fraction`, lower `cuda-graph-reserved-bytes` or `max-batched-tokens`, spread the model wider, or state the capacity as `fixed`, with blocks"
                }
                CapacityError::TensorWidth { .. } | CapacityError::MoeWidth { .. } => {
                    "state the capacity as `fixed`, with blocks; or spread the model otherwise"
                }
            }
            .to_owned(),
        })
    }

    /// Returns what times the pool's passes.
    fn timed(&self) -> Result<PoolInputs, Shortfall> {
        let table = match &self.worker.timing {
            Timing::Fixed { .. } | Timing::Polynomial => return Ok(PoolInputs::default()),
            Timing::Roofline(_) => {
                let (model, hardware) = self.described(WorkerPart::Timing, "timing `roofline`")?;
                rates(model, &hardware)?;
                let roofline = RooflineInput { model: model.clone(), hardware };
                let roofline = Some(Arc::new(roofline));
                return Ok(PoolInputs { roofline, ..PoolInputs::default() });
            }
            Timing::Table { pin } => self.source.table(TableWanted::Named(pin))?,
            Timing::Default => self.default_table()?,
        };
        Ok(PoolInputs { table: Some(table), ..PoolInputs::default() })
    }

    /// Returns the table that timed the pool's deployment.
    fn default_table(&self) -> Result<TableInput, Shortfall> {
        let lacks = |message: String| Shortfall {
            part: WorkerPart::Timing,
            message,
            help: "time its passes with `fixed`, `polynomial` or a `table` of that name".to_owned(),
        };
        let model = self.source.model().ok_or_else(|| {
            lacks(format!(
                "no timing table is of `{}`: no pin describes the model",
                self.deployment.model
            ))
        })?;
        model
            .check_moe(&self.worker.parallelism)
            .map_err(|error| lacks(format!("no timing table can be: {error}")))?;
        if self.deployment.speculation.is_some() {
            return Err(lacks("no timing table is of passes with `speculation`".to_owned()));
        }
        self.source.table(TableWanted::For(SoughtTable {
            model,
            hardware: self.hardware_name(),
            backend: self.deployment.backend,
            version: self.deployment.backend_version.as_deref(),
            parallelism: &self.worker.parallelism,
        }))
    }
}

/// Checks that the hardware has a rate for each number format of a model.
fn rates(model: &ModelPin, hardware: &HardwarePin) -> Result<(), Shortfall> {
    let lacks = |dtype: &Dtype| !hardware.dense_tflops.contains_key(dtype);
    let Some(dtype) = [model.weights, model.kv].into_iter().find(lacks) else { return Ok(()) };
    Err(Shortfall {
        part: WorkerPart::Timing,
        message: format!(
            "timing `roofline` needs the rate of `{}` of `{}`, and its pin states none",
            dtype.name(),
            hardware.name
        ),
        help: "choose hardware that computes the model's number formats".to_owned(),
    })
}

impl SoughtTable<'_> {
    /// Returns whether a table timed this deployment.
    ///
    /// Replicas do not matter. A model without experts spends the same on a pass whatever the number of attention ranks, which
    /// each have passes of their own, and has no ranks of experts. A version that is not stated, and the estimator's word
    /// `current`, are any. Source: the tables' own description.
    pub fn is_answered_by(&self, pin: &TimingPin) -> bool {
        let (timed, asked) = (&pin.subject.parallelism, self.parallelism);
        let is_version =
            |version: &str| version == "current" || version == pin.subject.backend_version;
        let experts_agree = self.model.experts.is_none()
            || (timed.attention_data, timed.moe_tensor, timed.moe_expert)
                == (asked.attention_data, asked.moe_tensor, asked.moe_expert);
        pin.subject.model == self.model.name
            && pin.subject.hardware == self.hardware
            && pin.subject.backend == self.backend
            && self.version.is_none_or(is_version)
            && (timed.tensor, timed.pipeline) == (asked.tensor, asked.pipeline)
            && asked.prefill_context == 1
            && experts_agree
    }

    /// Returns what is lacking where no table answers; `known` are the pins that were looked through.
    pub fn unanswered(&self, known: &[TimingPin]) -> Shortfall {
        let factors = self.factors();
        let ranks: Vec<String> =
            factors.iter().map(|(name, factor)| format!("{name}={factor}")).collect();
        let ranks = ranks.join(" ");
        let version = self.version.map_or_else(String::new, |version| format!(" {version}"));
        let subject = format!(
            "`{}` on `{}` with `{}`{version} at {ranks}",
            self.model.name,
            self.hardware,
            self.backend.name()
        );
        let same_model = known.iter().filter(|pin| pin.subject.model == self.model.name);
        let names: Vec<String> = same_model.map(|pin| format!("`{}`", pin.name)).collect();
        let of_model = if names.is_empty() {
            "no table is of this model".to_owned()
        } else {
            format!("tables of this model are {}", names.join(", "))
        };
        Shortfall {
            part: WorkerPart::Timing,
            message: format!("no pinned timing table is of {subject}"),
            help: format!("{of_model}; make one with `{}`", self.export_command()),
        }
    }

    /// Returns the ranks that are not 1, and `tensor` always.
    fn factors(&self) -> Vec<(&'static str, u32)> {
        let parallelism = self.parallelism;
        let others = [
            ("pipeline", parallelism.pipeline),
            ("attention-data", parallelism.attention_data),
            ("moe-tensor", parallelism.moe_tensor),
            ("moe-expert", parallelism.moe_expert),
        ];
        let stated = others.into_iter().filter(|(_, factor)| *factor > 1);
        std::iter::once(("tensor", parallelism.tensor)).chain(stated).collect()
    }

    /// Returns the command that makes the table.
    fn export_command(&self) -> String {
        let flags: Vec<String> =
            self.factors().iter().map(|(name, factor)| format!(" --{name} {factor}")).collect();
        format!(
            "bench pins timing export --model {} --hardware {} --backend {}{}",
            self.model.name,
            self.hardware,
            self.backend.name(),
            flags.concat()
        )
    }
}
