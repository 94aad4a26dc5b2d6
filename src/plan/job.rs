//! A job, its id and its key.

use std::fmt;
use std::sync::Arc;

use crate::deployment::{Backend, ContextLength, Deployment, KvCache, WorkerRole};
use crate::diag::{Bag, Code, Problem, SourceFile, Span};
use crate::digest::canonical::{Value, object};
use crate::digest::{Domain, Sha256};
use crate::pin::{Registry, TracePin};
use crate::units::{Blocks, Tokens};
use crate::workload::live::{LiveBounds, ReplaySettings};
use crate::workload::{Sla, Workload};

use super::{EngineIdentity, Origin, PoolInputs};

/// The schema of job keys and reports; a change moves every key.
pub const SCHEMA: &str = "touchstone.report/1";

/// A readable, unique name: `routing/chat/agg/native/replicas=2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(String);

/// SHA-256 over the canonical job: same key, same report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobKey(Sha256);

/// One run of one thing.
#[derive(Debug, Clone)]
pub struct Job {
    /// Position in the plan.
    pub index: usize,
    /// Its name.
    pub id: JobId,
    /// What is run.
    pub kind: JobKind,
    /// Where the scenario states its parts.
    pub places: Places,
}

/// A part of a job that a build may be unable to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The `simulate` or `replay` node itself.
    Declaration,
    /// The workload.
    Workload,
    /// The deployment.
    Deployment,
    /// The engine pin.
    Engine,
}

/// Where the scenario states the parts of a job: spans into [`super::Plan::source`].
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The `simulate` or `replay` node.
    pub declaration: Span,
    /// The `workload` node.
    pub workload: Span,
    /// The `deployment` node.
    pub deployment: Span,
    /// The engine's pin.
    pub engine: Span,
    /// The declarations themselves, by which single settings are found; a replay has none.
    pub origin: Option<Arc<Origin>>,
}

impl Places {
    /// Returns where a part is stated.
    pub const fn of(&self, part: Part) -> Span {
        match part {
            Part::Declaration => self.declaration,
            Part::Workload => self.workload,
            Part::Deployment => self.deployment,
            Part::Engine => self.engine,
        }
    }
}

/// What is run.
#[derive(Debug, Clone)]
pub enum JobKind {
    /// An engine in virtual time.
    Simulation(Box<SimulationJob>),
    /// Live traffic.
    Replay(Box<ReplayJob>),
}

/// An engine in virtual time.
#[derive(Debug, Clone)]
pub struct SimulationJob {
    /// The scenario's seed.
    pub seed: u64,
    /// What is asked.
    pub workload: Workload,
    /// The trace, where the workload has one.
    pub trace: Option<TraceInput>,
    /// What serves.
    pub deployment: Deployment,
    /// The model pin's digest.
    pub model_digest: Sha256,
    /// The model's context limit in tokens: what `context-length "max"` means.
    pub model_context_limit: u64,
    /// KV bytes of one token as the model pin derives them for the aggregated or decode worker.
    pub model_kv_bytes_per_token: u64,
    /// KV bytes of one token as the model pin derives them for the prefill worker, where there is one; also what a transfer moves.
    pub model_prefill_kv_bytes_per_token: u64,
    /// The hardware pin's digest.
    pub hardware_digest: Sha256,
    /// The digest of the timing tables that its passes are timed by, where there are any.
    pub timing_digest: Option<Sha256>,
    /// What the pins say of each pool, in the order of the mode's roles.
    pub pools: Vec<PoolInputs>,
    /// Which engine.
    pub engine: EngineIdentity,
    /// What a good request is.
    pub sla: Option<Sla>,
}

impl SimulationJob {
    /// Returns the KV bytes of one token that a worker's capacity is divided by: those stated, else the model's.
    pub fn kv_bytes_per_token(&self, role: WorkerRole, kv_cache: &KvCache) -> u64 {
        kv_cache.bytes_per_token.unwrap_or(match role {
            WorkerRole::Prefill => self.model_prefill_kv_bytes_per_token,
            WorkerRole::Aggregated | WorkerRole::Decode => self.model_kv_bytes_per_token,
        })
    }

    /// Returns the longest sequence that a request may reach, where there is a limit.
    ///
    /// Of the engines only vLLM takes `max` from the model; the others run without a limit then. Source: the reference's
    /// compiler hands a limit to vLLM, or a stated number to any; oracle cases with `context_length: max`.
    pub fn context_limit(&self) -> Option<Tokens> {
        match (self.deployment.context_length, self.deployment.backend) {
            (ContextLength::Tokens(tokens), _) => Some(tokens),
            (ContextLength::Max, Backend::Vllm) => Some(Tokens::new(self.model_context_limit)),
            (ContextLength::Unlimited, _)
            | (ContextLength::Max, Backend::Sglang | Backend::Trtllm) => None,
        }
    }

    /// Returns what the pins say of the pool of a role; nothing where it was not looked up.
    pub fn pool(&self, role: WorkerRole) -> Option<&PoolInputs> {
        let roles = self.deployment.mode().roles();
        self.pools.get(roles.iter().position(|known| *known == role)?)
    }

    /// Returns the KV blocks of a rank of a role's pool: those stated, else those that the pins say.
    pub fn kv_blocks(&self, role: WorkerRole, kv_cache: &KvCache) -> Option<Blocks> {
        let stated = self.kv_bytes_per_token(role, kv_cache);
        let stated = kv_cache.capacity.stated_blocks(kv_cache.block_size, Some(stated));
        stated.or_else(|| self.pool(role)?.kv_blocks)
    }
}

/// The trace of a job: the pin's name for people, its digest for the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceInput {
    /// The pin's name.
    pub pin: String,
    /// The pin's digest.
    pub digest: Sha256,
}

impl TraceInput {
    /// Opens its pin, which must be the one that was planned with.
    ///
    /// # Errors
    /// What is wrong with the pin, and [`Code::ScenarioDigestMismatch`] where it is another by now.
    pub fn open(&self, registry: &Registry) -> Result<TracePin, Bag> {
        let pin = registry.trace(&self.pin)?;
        let found = pin.digest();
        if found == self.digest {
            return Ok(pin);
        }
        let message = format!("the pin of trace `{}` changed while it was used", self.pin);
        let both = format!("planned {}\nfound   {found}", self.digest);
        Err(Problem::new(Code::ScenarioDigestMismatch, message).help(both).into())
    }
}

/// Live traffic.
#[derive(Debug, Clone)]
pub struct ReplayJob {
    /// The scenario's seed.
    pub seed: u64,
    /// What is asked.
    pub workload: Workload,
    /// The trace, where the workload has one.
    pub trace: Option<TraceInput>,
    /// How it is sent.
    pub settings: ReplaySettings,
    /// What answers, where the endpoint is the native engine behind the server in `bench`: the simulation of a job with that deployment.
    pub served_by: Option<Box<SimulationJob>>,
    /// What its measurements are held to, where the scenario's `gate` says so. It changes nothing that is sent.
    pub gate: Option<LiveGate>,
}

/// What the measurements of a replay are held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveGate {
    /// The bounds.
    pub bounds: LiveBounds,
    /// Where the scenario names the replay that it holds to them.
    pub place: Span,
}

impl Job {
    /// Adds the place of a setting to a problem: where it is stated, or at the job's declaration in `source` where that is not known.
    pub fn label(
        &self,
        problem: Problem,
        source: &SourceFile,
        setting: &str,
        text: &str,
    ) -> Problem {
        match &self.places.origin {
            Some(origin) => origin.place(setting).also(problem, text),
            None => problem.label(source, self.places.declaration, text),
        }
    }
}

impl JobId {
    /// Returns an id; its parts are joined with `/`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id of a simulation job without its engine, as `bench upgrade` tells it: `simulate/workload/deployment[/axes]`.
    #[must_use]
    pub fn without_engine(&self) -> Self {
        let mut parts: Vec<&str> = self.0.splitn(5, '/').collect();
        if parts.len() > 3 {
            parts.remove(3);
        }
        Self(parts.join("/"))
    }

    /// Returns whether a name means this job where its engine does not matter: with it or without.
    pub fn is_meant_by(&self, name: &str) -> bool {
        self.0 == name || self.without_engine().0 == name
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JobKey {
    /// Returns a key from its digest.
    pub const fn from_digest(digest: Sha256) -> Self {
        Self(digest)
    }

    /// Returns the digest.
    pub const fn digest(&self) -> &Sha256 {
        &self.0
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Job {
    /// Returns the canonical description: every input that can change the report, and nothing else.
    pub fn canonical(&self) -> Value {
        match &self.kind {
            JobKind::Simulation(job) => job.canonical(),
            JobKind::Replay(job) => job.canonical(),
        }
    }

    /// Returns the same job on another engine: same id, place in the plan and inputs, another key. Live traffic has no engine and
    /// stays as it is.
    #[must_use]
    pub fn under(&self, engine: &EngineIdentity) -> Self {
        let mut job = self.clone();
        if let JobKind::Simulation(simulation) = &mut job.kind {
            simulation.engine = engine.clone();
        }
        job
    }

    /// Returns the job's key.
    pub fn key(&self) -> JobKey {
        JobKey(Domain::Job.digest(&self.canonical().to_bytes()))
    }
}

impl SimulationJob {
    /// Returns the key that a job of this simulation has.
    pub fn key(&self) -> JobKey {
        JobKey(Domain::Job.digest(&self.canonical().to_bytes()))
    }

    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("deployment", self.deployment.canonical()),
            ("engine", self.engine.canonical()),
            ("hardware", self.hardware_digest.into()),
            ("kind", Value::text("simulation")),
            ("model", self.model_digest.into()),
            ("schema", Value::text(SCHEMA)),
            ("seed", Value::wide(self.seed)),
            ("sla", self.sla.as_ref().map_or(Value::Null, Sla::canonical)),
            ("timing", self.timing_digest.map_or(Value::Null, Value::from)),
            ("trace", self.trace.as_ref().map_or(Value::Null, |trace| trace.digest.into())),
            ("workload", self.workload.canonical()),
        ])
    }
}

impl ReplayJob {
    /// Returns the canonical description.
    fn canonical(&self) -> Value {
        object([
            ("kind", Value::text("replay")),
            ("schema", Value::text(SCHEMA)),
            ("seed", Value::wide(self.seed)),
            ("settings", self.settings.canonical()),
            ("trace", self.trace.as_ref().map_or(Value::Null, |trace| trace.digest.into())),
            ("workload", self.workload.canonical()),
        ])
        .with("served_by", self.served_by.as_ref().map(|job| job.canonical()))
    }
}
