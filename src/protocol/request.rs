//! What a runner reads.

use serde::Serialize;

use super::RunnerEngine;

/// A job for a runner.
#[derive(Debug, Clone, Serialize)]
pub struct RunnerRequest {
    /// [`super::PROTOCOL`].
    pub protocol: &'static str,
    /// The key of the job; the answer repeats it.
    pub job: String,
    /// The engine that is to run it.
    pub engine: RunnerEngine,
    /// The job in the engine's own terms: of `AISimulate` a `ReplaySpec`.
    pub spec: serde_json::Value,
    /// Sessions whose turns depend on each other; without them the specification lists its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<RunnerTraffic>,
}

/// Sessions of turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerTraffic {
    /// Tokens that a number of [`RunnerTurn::blocks`] stands for.
    pub block_size: u32,
    /// Tokens of a block of the engine.
    pub engine_block_size: u32,
    /// Whether a turn's tokens follow all that its session has said.
    pub accumulates: bool,
    /// How many sessions are under way at a time; without it each starts at its own time.
    pub concurrency: Option<u32>,
    /// The sessions; a session's name in the answer is its place here.
    pub sessions: Vec<RunnerSession>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerSession {
    /// When it starts, in milliseconds; absent where others decide.
    pub start_ms: Option<f64>,
    /// Its requests, in order.
    pub turns: Vec<RunnerTurn>,
}

/// A request of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunnerTurn {
    /// Tokens of its prompt, or what it adds to the session's.
    pub input_tokens: u64,
    /// Output tokens asked for.
    pub output_tokens: u64,
    /// Think time before it, in milliseconds.
    pub delay_ms: f64,
    /// The blocks of those tokens: equal numbers are blocks of equal tokens.
    pub blocks: Vec<u32>,
}
