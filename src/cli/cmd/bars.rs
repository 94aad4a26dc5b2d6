//! `bench perf sim`: predictions of fixed shapes against the CPU time and the memory that they may take.
//!
//! Each is what `bench predict` does of its configuration, from the text to the finished summary, on one thread. Their work is the
//! one that the reference was measured with; docs/fidelity.md has its figures.

use std::path::Path;
use std::time::Duration;

use super::predict;
use crate::cli::args::{Format, PerfSimArgs};
use crate::cli::{Align, Context, Exit, Failure, Stopwatch, columns, cpu_time, print};
use crate::diag::SourceFile;
use crate::digest::canonical::{Value, object};
use crate::plan::Compat;
use crate::scenario::dynosim;
use crate::trace::Shard;

/// One shape and what it may take.
struct Bar {
    name: &'static str,
    /// The sections `traffic` and `engine` of its configuration; nothing measures what the process took to start.
    config: Option<String>,
    /// CPU milliseconds.
    limit_ms: u64,
}

/// What a shape took.
#[derive(Debug)]
struct Taken {
    name: &'static str,
    limit_ms: u64,
    requests: u64,
    cpu: Duration,
}

/// Runs the command.
pub(super) fn run(args: &PerfSimArgs, context: &Context) -> Result<Exit, Failure> {
    let started = cpu_time().unwrap_or_default();
    let mut taken = Vec::new();
    for bar in bars(args.trace.as_deref()) {
        let (name, limit_ms) = (bar.name, bar.limit_ms);
        let (requests, cpu) = match &bar.config {
            None => (0, started),
            Some(config) => measure(name, config, args.trace.as_deref(), context)?,
        };
        taken.push(Taken { name, limit_ms, requests, cpu });
    }
    let peak = predict::peak_gb();
    print(match args.format {
        Format::Table => table(&taken, peak).into_bytes(),
        Format::Json => json(&taken).to_document(),
    })?;
    let misses = taken.iter().any(|one| one.cpu > Duration::from_millis(one.limit_ms));
    Ok(if args.strict && misses { Exit::Drift } else { Exit::Success })
}

/// Returns the shapes, those of a trace where there is one.
fn bars(trace: Option<&Path>) -> Vec<Bar> {
    let fixed = "{type: fixed, prefill_ms: 20, decode_ms: 5}";
    let mut bars = vec![
        Bar { name: "start-up", config: None, limit_ms: 30 },
        Bar {
            name: "synthetic 100k, concurrency 64, fixed",
            config: Some(config(&synthetic(100_000), 1, 64, fixed)),
            limit_ms: 500,
        },
        Bar {
            name: "synthetic 1M, concurrency 64, fixed",
            config: Some(config(&synthetic(1_000_000), 1, 64, fixed)),
            limit_ms: 15_000,
        },
    ];
    if let Some(path) = trace {
        let recorded = recorded(path);
        let polynomial = "{type: polynomial}";
        for (name, replicas, block, limit_ms) in [
            ("trace, 4 replicas, polynomial", 4, 64, 900),
            ("trace, 8 replicas, 512-token blocks", 8, 512, 1000),
        ] {
            let config = Some(config(&recorded, replicas, block, polynomial));
            bars.push(Bar { name, config, limit_ms });
        }
    }
    bars
}

/// Simulates a Mooncake trace, streamed from the disk, at its own times on workers that do not fall behind; returns the requests and the CPU
/// time.
pub(super) fn streamed(trace: &Path, context: &Context) -> Result<(u64, Duration), Failure> {
    let config = config(&recorded(trace), 8, 512, "{type: fixed, prefill_ms: 20, decode_ms: 5}");
    measure("streamed", &config, Some(trace), context)
}

/// Returns the traffic of a Mooncake trace at its own times.
fn recorded(path: &Path) -> String {
    format!(
        "{{source: {{type: trace, paths: ['{}'], format: mooncake, block_size: 512}}, load: {{type: trace_timestamps}}}}",
        path.display()
    )
}

/// Returns the traffic of equal requests in a closed loop.
fn synthetic(requests: u32) -> String {
    format!(
        "{{source: {{type: synthetic, input_tokens: 1024, output_tokens: 128}}, load: {{type: concurrency, concurrency: 64}}, stop: {{requests: {requests}}}}}"
    )
}

/// Returns a configuration: a million tokens of KV a worker, contexts up to 256 Ki tokens.
fn config(traffic: &str, replicas: u32, block: u32, timing: &str) -> String {
    let blocks = (1 << 20) / block;
    format!(
        "traffic: {traffic}\n\
         engine: {{mode: aggregated, model: measured, hardware: measured, backend: vllm, context_length: 262144, workers: {{aggregated: {{parallelism: {{replicas: {replicas}}}, scheduler: {{max_batched_tokens: 8192, max_sequences: 256}}, kv_cache: {{block_size: {block}, bytes_per_token: 131072, capacity: {{type: fixed, blocks: {blocks}}}}}, timing: {timing}}}}}}}\n"
    )
}

/// Predicts, and returns the requests and the CPU time from the configuration to the summary.
fn measure(
    name: &str,
    config: &str,
    trace: Option<&Path>,
    context: &Context,
) -> Result<(u64, Duration), Failure> {
    let (clock, before) = (Stopwatch::start(), cpu_time());
    let prediction = dynosim::decode(&SourceFile::new(name, config), &[])?;
    let job = predict::job_of(&prediction, Path::new(name), context, Compat::NEWEST)?;
    let corpus = match (&prediction.trace, trace) {
        (Some(file), Some(path)) => {
            let shard = Shard::on_disk(path, &file.path)?;
            Some(predict::read_trace(file, &[shard], &job, context)?)
        }
        _ => None,
    };
    let requests = predict::summary(&job, corpus.as_ref())?;
    let cpu = cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    Ok((requests, cpu.unwrap_or_else(|| clock.elapsed())))
}

/// Returns the figures as a table.
fn table(taken: &[Taken], peak_gb: Option<f64>) -> String {
    let mut rows = vec![["prediction", "requests", "CPU ms", "limit"].map(str::to_owned).to_vec()];
    for one in taken {
        let ms = format!("{:.1}", one.cpu.as_secs_f64() * 1000.0);
        rows.push(vec![
            one.name.to_owned(),
            one.requests.to_string(),
            ms,
            one.limit_ms.to_string(),
        ]);
    }
    let mut text = columns(&rows, &[Align::Left, Align::Right]);
    if let Some(peak) = peak_gb {
        text.push_str("\nmost memory held: ");
        text.push_str(&(peak * 1000.0).round().to_string());
        text.push_str(" MB\n");
    }
    text
}

/// Returns the figures as JSON.
fn json(taken: &[Taken]) -> Value {
    let one = |one: &Taken| {
        object([
            ("cpu_ns", Value::count(u64::try_from(one.cpu.as_nanos()).unwrap_or(u64::MAX))),
            ("limit_ms", Value::count(one.limit_ms)),
            ("prediction", Value::text(one.name)),
            ("requests", Value::count(one.requests)),
        ])
    };
    object([("predictions", Value::List(taken.iter().map(one).collect()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_configuration_that_decodes() {
        for bar in bars(Some(Path::new("trace.jsonl"))) {
            let Some(config) = bar.config else { continue };
            let decoded = dynosim::decode(&SourceFile::new(bar.name, &config), &[]);
            assert!(
                decoded.is_ok(),
                "{}: {:?}",
                bar.name,
                decoded.err().map(crate::diag::Bag::into_sorted)
            );
        }
        assert_eq!(bars(None).len(), 3);
    }
}
