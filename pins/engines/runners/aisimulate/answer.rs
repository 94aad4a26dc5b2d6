//! The runner of every pinned version of AISimulate's core: one request on stdin, one response on stdout.
//!
//! It holds no policy: it builds what the request states, runs it in the engine's deterministic mode, and hands back what the engine
//! says, without the fields that tell the host's clock. The protocol is described in docs/engines.md.

use std::io::{Read, Write};
use std::process::ExitCode;

use aisimulate_core::replay::loadgen::{SessionTrace, Trace, TurnTrace, WorkloadDriver};
use aisimulate_core::replay::{
    ReplayCaptureOptions, ReplayDeterminism, ReplayEngineFactory, ReplayReport, ReplayRuntimeInput,
    ReplaySpec, Replayer,
};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the protocol.
const PROTOCOL: &str = "touchstone.runner/1";
/// The name of the engine.
const ENGINE: &str = "aisimulate";
/// Fields of the engine's summary that depend on the host's clock.
const VOLATILE: [&str; 3] =
    ["wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"];

/// A job to run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    protocol: String,
    /// The key of the job, repeated in the answer.
    job: String,
    engine: Engine,
    /// The specification in the engine's own terms.
    spec: Value,
    /// Sessions whose turns depend on each other; without them the specification lists its requests.
    #[serde(default)]
    traffic: Option<Traffic>,
}

/// Which engine is meant.
#[derive(Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Engine {
    name: String,
    version: String,
}

/// Sessions of turns.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Traffic {
    /// Tokens that a number of `blocks` stands for.
    block_size: usize,
    /// Tokens of a block of the engine.
    engine_block_size: usize,
    /// Whether a turn's tokens follow all that its session has said.
    accumulates: bool,
    /// How many sessions are under way at a time; without it each starts at its own time.
    concurrency: Option<usize>,
    sessions: Vec<Session>,
}

/// A session; its name is its place in the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    start_ms: Option<f64>,
    turns: Vec<Turn>,
}

/// A request of a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    input_tokens: usize,
    output_tokens: usize,
    /// Think time before it.
    delay_ms: f64,
    /// Equal numbers are blocks of equal tokens.
    blocks: Vec<u32>,
}

/// What the engine made of a job.
#[derive(Serialize)]
struct Response {
    protocol: &'static str,
    job: String,
    engine: Engine,
    outcome: Outcome,
}

/// How a job ended.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// The engine ran it.
    Completed {
        /// A record for each request that ended.
        requests: Value,
        /// The engine's own summary.
        summary: Value,
        /// What it says of preemptions and of workers.
        evidence: Value,
    },
    /// The engine would not run it, or gave it up.
    Refused {
        /// Its words.
        message: String,
    },
}

/// Answers the request on stdin; `version` is that of the engine that is linked.
///
/// Exits with 0 after an answer, also where the engine refuses the job; with 2 where there is no request that it can read; with 1 where the
/// answer cannot be written.
pub fn main(version: &str) -> ExitCode {
    let request = match read(version) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("runner: no request: {error:#}");
            return ExitCode::from(2);
        }
    };
    let Request { job, engine, spec, traffic, .. } = request;
    let outcome = run(spec, traffic)
        .unwrap_or_else(|error| Outcome::Refused { message: format!("{error:#}") });
    let response = Response { protocol: PROTOCOL, job, engine, outcome };
    match write(&response) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("runner: no answer: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the request and checks that it is for this runner.
fn read(version: &str) -> Result<Request> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("stdin")?;
    let request: Request = serde_json::from_str(&text).context("stdin")?;
    anyhow::ensure!(
        request.protocol == PROTOCOL,
        "protocol `{}`, this runner speaks `{PROTOCOL}`",
        request.protocol
    );
    anyhow::ensure!(
        request.engine.name == ENGINE && request.engine.version == version,
        "engine `{}` {}, this runner is `{ENGINE}` {version}",
        request.engine.name,
        request.engine.version
    );
    Ok(request)
}

/// Writes the answer and one newline.
fn write(response: &Response) -> Result<()> {
    let mut text = serde_json::to_vec(response)?;
    text.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}

/// Runs a job.
fn run(spec: Value, traffic: Option<Traffic>) -> Result<Outcome> {
    let spec: ReplaySpec = serde_json::from_value(spec).context("the specification")?;
    let capture = ReplayCaptureOptions {
        capture_per_request: true,
        capture_lifecycle_evidence: true,
        capture_canonical_evidence: true,
        determinism: ReplayDeterminism::CanonicalV1,
    };
    let mut replayer =
        Replayer::new(spec, ReplayEngineFactory::default())?.with_capture_options(capture);
    if let Some(traffic) = traffic {
        replayer = replayer.with_runtime_input(ReplayRuntimeInput::Workload(driver(traffic)?));
    }
    answer(&replayer.run()?)
}

/// Returns the engine's own driver of sessions.
fn driver(traffic: Traffic) -> Result<WorkloadDriver> {
    let Traffic { block_size, engine_block_size: engine, accumulates, concurrency, sessions } =
        traffic;
    let sessions = sessions.into_iter().enumerate().map(|(place, session)| SessionTrace {
        session_id: place.to_string(),
        first_arrival_timestamp_ms: session.start_ms,
        turns: session.turns.into_iter().map(turn).collect(),
    });
    let trace = Trace { block_size, sessions: sessions.collect() };
    match (concurrency, accumulates) {
        (None, false) => WorkloadDriver::new_trace(trace, engine),
        (None, true) => WorkloadDriver::new_trace_accumulating_deltas(trace, engine),
        (Some(most), false) => WorkloadDriver::new_concurrency(trace, engine, most),
        (Some(most), true) => WorkloadDriver::new_concurrency_accumulating_deltas(trace, engine, most),
    }
    .context("the traffic")
}

/// Returns a turn in the engine's terms.
fn turn(turn: Turn) -> TurnTrace {
    TurnTrace {
        input_length: turn.input_tokens,
        max_output_tokens: turn.output_tokens,
        hash_ids: turn.blocks,
        delay_after_previous_ms: turn.delay_ms,
        ..TurnTrace::default()
    }
}

/// Returns what the engine says of a run, without the host's clock.
fn answer(report: &ReplayReport) -> Result<Outcome> {
    let mut summary = serde_json::to_value(report).context("the engine's summary")?;
    let fields: &mut Map<String, Value> =
        summary.as_object_mut().context("the engine's summary is no object")?;
    for name in VOLATILE {
        fields.remove(name);
    }
    Ok(Outcome::Completed {
        requests: serde_json::to_value(&report.per_request).context("the engine's records")?,
        evidence: serde_json::to_value(&report.runtime_evidence)
            .context("the engine's evidence")?,
        summary,
    })
}
