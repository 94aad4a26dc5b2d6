//! `bench perf`: measure the simulator: requests and passes per second.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::prepared::Prepared;
use super::{bars, perf_replay, perf_store, reading};
use crate::cli::args::{Format, PerfArgs, PerfCommand};
use crate::cli::{Align, Context, Exit, Failure, Stopwatch, columns, print};
use crate::diag::{Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::exec::{Executor, Native};
use crate::plan::{Job, JobKind, SimulationJob};
use crate::scenario::project_root;
use crate::sim::Options;
use crate::units::Micros6;

/// What one scenario's simulation took, those of its jobs that are simulations one after the other on one thread.
#[derive(Debug)]
struct Measured {
    scenario: String,
    /// Its jobs, live traffic included: that is sent in no round.
    jobs: u64,
    /// Those that were simulated.
    simulated: u64,
    requests: u64,
    passes: u64,
    output_tokens: u64,
    /// The median over all rounds.
    wall: Duration,
}

/// Runs the command.
pub(super) fn run(args: &PerfArgs, context: &Context) -> Result<Exit, Failure> {
    match &args.what {
        Some(PerfCommand::Sim(sim)) => return bars::run(sim, context),
        Some(PerfCommand::Trace(trace)) => return reading::run(trace, context),
        Some(PerfCommand::Store(store)) => return perf_store::run(store, context),
        Some(PerfCommand::Replay(replay)) => return perf_replay::run(replay, context),
        None => {}
    }
    let scenarios =
        if args.scenarios.is_empty() { every_scenario(context)? } else { args.scenarios.clone() };
    let mut measured = Vec::new();
    for file in &scenarios {
        let prepared = Prepared::new(file, context)?;
        measured.push(measure(&prepared, args.rounds)?);
    }
    print(match args.format {
        Format::Table => table(&measured).into_bytes(),
        Format::Json => json(&measured).to_document(),
    })?;
    Ok(Exit::Success)
}

/// Returns the scenarios of the project, by name.
fn every_scenario(context: &Context) -> Result<Vec<PathBuf>, Failure> {
    let root = match context.root() {
        Some(root) => root.to_owned(),
        // A file that need not exist: the search starts at the folder that would hold it.
        None => project_root(Path::new("pins"))?,
    };
    let folder = root.join("scenarios");
    let read = |error: std::io::Error| {
        let message = format!("cannot read `{}`: {error}", folder.display());
        Failure::from(
            Problem::new(Code::ScenarioFile, message).help("name the scenarios to measure"),
        )
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|extension| extension == "kdl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Simulates a scenario's jobs in turn, several rounds, and keeps the median round.
///
/// Transcripts are hashed, as in a run; traces are read before the watch starts.
fn measure(prepared: &Prepared, rounds: u32) -> Result<Measured, Failure> {
    let mut walls = Vec::new();
    let simulated: Vec<(&Job, &SimulationJob)> = prepared
        .plan
        .jobs
        .iter()
        .filter_map(|job| match &job.kind {
            JobKind::Simulation(simulation) => Some((job, simulation.as_ref())),
            JobKind::Replay(_) => None,
        })
        .collect();
    let mut measured = Measured {
        scenario: prepared.plan.scenario.clone(),
        jobs: prepared.plan.jobs.len() as u64,
        simulated: simulated.len() as u64,
        requests: 0,
        passes: 0,
        output_tokens: 0,
        wall: Duration::ZERO,
    };
    for _ in 0..rounds.max(1) {
        let watch = Stopwatch::start();
        (measured.requests, measured.passes, measured.output_tokens) = (0, 0, 0);
        for (job, simulation) in &simulated {
            let (requests, passes, tokens) = simulate(prepared, (job, simulation))?;
            measured.requests += requests;
            measured.passes += passes;
            measured.output_tokens += tokens;
        }
        walls.push(watch.elapsed());
    }
    walls.sort_unstable();
    measured.wall = walls[walls.len() / 2];
    Ok(measured)
}

/// Simulates one job and returns its requests, passes and output tokens.
fn simulate(
    prepared: &Prepared,
    (job, simulation): (&Job, &SimulationJob),
) -> Result<(u64, u64, u64), Failure> {
    let corpus = prepared.corpora.of(job).map(|trace| trace.corpus.as_ref());
    let record = Native.run(simulation, corpus, &Options::default()).map_err(|error| {
        let message = format!("job `{}` failed: {error}", job.id);
        Failure::new(Exit::JobFailed, Problem::new(Code::JobFailed, message))
    })?;
    let tokens = record.requests.iter().map(|request| request.output.get()).sum();
    Ok((record.requests.len() as u64, record.passes, tokens))
}

/// Returns `count` a second of wall time, or `None` for none at all.
fn rate(count: u64, wall: Duration) -> Option<Micros6> {
    let nanoseconds = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    Micros6::per_second(u128::from(count), nanoseconds)
}

/// Returns the figures as a table.
fn table(measured: &[Measured]) -> String {
    let whole = |rate: Option<Micros6>| {
        rate.map_or_else(|| "-".to_owned(), |rate| (rate.millionths() / 1_000_000).to_string())
    };
    let head = [
        "scenario",
        "jobs",
        "simulated",
        "requests",
        "passes",
        "tokens",
        "seconds",
        "requests/s",
        "passes/s",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for one in measured {
        rows.push(vec![
            one.scenario.clone(),
            one.jobs.to_string(),
            one.simulated.to_string(),
            one.requests.to_string(),
            one.passes.to_string(),
            one.output_tokens.to_string(),
            format!("{:.3}", one.wall.as_secs_f64()),
            whole(rate(one.requests, one.wall)),
            whole(rate(one.passes, one.wall)),
        ]);
    }
    columns(&rows, &[Align::Left, Align::Right])
}

/// Returns the figures as JSON.
fn json(measured: &[Measured]) -> Value {
    let one = |one: &Measured| {
        let rate = |count| rate(count, one.wall).map_or(Value::Null, Value::from);
        object([
            ("jobs", Value::count(one.jobs)),
            ("output_tokens", Value::count(one.output_tokens)),
            ("passes", Value::count(one.passes)),
            ("passes_per_second", rate(one.passes)),
            ("requests", Value::count(one.requests)),
            ("requests_per_second", rate(one.requests)),
            ("scenario", Value::text(&one.scenario)),
            ("simulated", Value::count(one.simulated)),
            ("wall_ns", Value::count(u64::try_from(one.wall.as_nanos()).unwrap_or(u64::MAX))),
        ])
    };
    object([("scenarios", Value::List(measured.iter().map(one).collect()))])
}
