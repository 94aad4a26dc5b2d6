//! What a runner answers. Of the engine's own records only what is used is read; times are milliseconds on the engine's clock.

use serde::Deserialize;

use super::RunnerEngine;

/// An answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerResponse {
    /// [`super::PROTOCOL`].
    pub protocol: String,
    /// The key of the job that was asked.
    pub job: String,
    /// Who answers.
    pub engine: RunnerEngine,
    /// How the job ended.
    pub outcome: RunnerOutcome,
}

/// How a job ended.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RunnerOutcome {
    /// The engine ran it.
    Completed(Box<EngineRun>),
    /// The engine would not run it, or gave it up.
    Refused {
        /// Its words.
        message: String,
    },
}

/// What an engine says of a run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineRun {
    /// A record for each request that ended.
    pub requests: Vec<EngineRequest>,
    /// Totals.
    pub summary: EngineSummary,
    /// Preemptions.
    #[serde(default)]
    pub evidence: EngineEvidence,
}

/// A request as an engine records it.
#[derive(Debug, Clone, Deserialize)]
pub struct EngineRequest {
    /// The name that the specification gave it.
    #[serde(default)]
    pub request_id: Option<String>,
    /// The session that it belongs to.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Its position in the session.
    #[serde(default)]
    pub turn_index: Option<u32>,
    /// The engine's own name for it.
    pub uuid: String,
    /// When it arrived.
    pub arrival_time_ms: f64,
    /// When it ended.
    pub terminal_time_ms: f64,
    /// When the first output token was visible.
    pub first_token_ms: Option<f64>,
    /// When the last was.
    pub last_token_ms: Option<f64>,
    /// The gap between the first and the second.
    pub ttst_ms: Option<f64>,
    /// Prompt tokens.
    pub input_length: u64,
    /// Output tokens asked for.
    pub requested_output_length: u64,
    /// Output tokens produced.
    pub output_length: u64,
    /// When the prefill worker held the prompt's KV.
    #[serde(default)]
    pub source_held_ms: Option<f64>,
    /// When the decode worker had set room apart.
    #[serde(default)]
    pub destination_reserved_ms: Option<f64>,
    /// When the decode worker took the request up.
    #[serde(default)]
    pub destination_activated_ms: Option<f64>,
    /// When the prefill worker gave up the KV.
    #[serde(default)]
    pub source_released_ms: Option<f64>,
    /// The worker that decodes, where the engine says that one took the request: a choice alone is not that.
    #[serde(default)]
    pub decode_worker_idx: Option<u64>,
    /// The ranks that were chosen, in order.
    pub routing_history: Vec<EngineRoute>,
    /// Each admission, in order.
    pub admission_history: Vec<EngineAdmission>,
    /// `completed`, `rejected`, `canceled` or `failed`.
    pub terminal_status: String,
}

/// A rank that was chosen.
#[derive(Debug, Clone, Deserialize)]
pub struct EngineRoute {
    /// `agg`, `prefill` or `decode`.
    pub pool: String,
    /// The rank, counted over the workers of the pool.
    pub scheduler_id: Option<u32>,
}

/// An admission to a rank's running set.
#[derive(Debug, Clone, Deserialize)]
pub struct EngineAdmission {
    /// `agg`, `prefill` or `decode`.
    pub pool: String,
    /// When.
    pub at_ms: f64,
    /// Prompt tokens served from cache.
    pub reused_input_tokens: u64,
    /// Those of them that the host tier gave back.
    #[serde(default)]
    pub host_reused_input_tokens: Option<u64>,
}

/// Totals of a run.
#[derive(Debug, Clone, Deserialize)]
pub struct EngineSummary {
    /// Requests that arrived, those that had not ended with them.
    pub num_requests: u64,
    /// The end of the last request.
    pub duration_ms: f64,
    /// Prompt tokens computed, recomputation included; engines before 0.13.0 do not say.
    #[serde(default)]
    pub committed_prefill_tokens: Option<u64>,
}

/// What an engine tells beside records and totals.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EngineEvidence {
    /// Preemptions, where the engine has such.
    #[serde(default)]
    pub pressure: Option<EnginePressure>,
}

/// Preemptions of a run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct EnginePressure {
    /// Each of them, in order.
    pub records: Vec<PressureRecord>,
}

/// A preemption.
#[derive(Debug, Clone, Deserialize)]
pub struct PressureRecord {
    /// When.
    pub at_ms: f64,
    /// `agg`, `prefill` or `decode`.
    pub pool: String,
    /// The request's internal name.
    pub request_uuid: String,
}
