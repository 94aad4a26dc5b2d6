//! The trace of a configuration.

use std::path::Path;

use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::plan::SimulationJob;
use crate::scenario::dynosim::{self, TraceFile};
use crate::trace::{ArrivalRule, ReadOptions, Shard, TraceFormat, read_corpus, trace_files};
use crate::workload::{Corpus, Load};

/// Returns the bytes of a trace's first file.
///
/// # Errors
/// Exit 1 where it cannot be read, as DynoSim has it.
pub(super) fn load(trace: &TraceFile) -> Result<Shard, Failure> {
    Shard::load(Path::new(&trace.path), &trace.path).map_err(|problem| failed(trace, problem))
}

/// Returns the bytes of all files of a trace: paths of captures may be folders and starts of names.
///
/// # Errors
/// Exit 1 where one cannot be read, as DynoSim has it.
pub(super) fn load_all(trace: &TraceFile) -> Result<Vec<Shard>, Failure> {
    match trace.format {
        dynosim::TraceFormat::Weka | dynosim::TraceFormat::Dynamo => {}
        dynosim::TraceFormat::Mooncake
        | dynosim::TraceFormat::MooncakeDelta
        | dynosim::TraceFormat::AgenticMooncake
        | dynosim::TraceFormat::AppliedComputeAgentic => return Ok(vec![load(trace)?]),
    }
    let mut shards = Vec::new();
    for path in std::iter::once(&trace.path).chain(&trace.more) {
        let files = trace_files(Path::new(path), path).map_err(|problem| failed(trace, problem))?;
        for (path, name) in files {
            let shard = Shard::load(&path, &name).map_err(|problem| failed(trace, problem))?;
            shards.push(shard);
        }
    }
    Ok(shards)
}

fn failed(trace: &TraceFile, problem: Problem) -> Failure {
    Failure::new(Exit::JobFailed, trace.place.adopt(problem, "named here"))
}

/// Reads the trace as DynoSim reads it; whatever is wrong with it is exit 1, as it is there.
pub(in crate::cli::cmd) fn read(
    trace: &TraceFile,
    shards: &[Shard],
    job: &SimulationJob,
    context: &Context,
) -> Result<Corpus, Failure> {
    let failed = |bag: Bag| Failure::new(Exit::JobFailed, bag);
    let arrivals = match &job.workload.load {
        Load::TraceTimestamps { .. } => ArrivalRule::Required,
        Load::Recorded(load) if load.snapshot_seed.is_some() => ArrivalRule::Snapshot,
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::Recorded(_) => ArrivalRule::Ignored,
    };
    let read = ReadOptions {
        basis: trace.basis,
        is_block_size_stated: trace.is_block_size_stated,
        ..ReadOptions::dynosim(format(trace.format), trace.block_size, arrivals)
    };
    let (corpus, counts) = read_corpus(shards, &read).map_err(failed)?;
    let mut warnings = Bag::new();
    // The format fixes milliseconds: a short span hints at nothing here.
    let tolerated = counts.warnings(&trace.path).into_iter();
    tolerated
        .filter(|warning| warning.code() != Code::TraceTimeScale)
        .for_each(|warning| warnings.push(warning));
    context.report(warnings);
    Ok(corpus)
}

/// Returns the format that a configuration names.
const fn format(format: dynosim::TraceFormat) -> TraceFormat {
    match format {
        dynosim::TraceFormat::Mooncake => TraceFormat::Mooncake,
        dynosim::TraceFormat::MooncakeDelta => TraceFormat::MooncakeDelta,
        dynosim::TraceFormat::AgenticMooncake => TraceFormat::AgenticMooncake,
        dynosim::TraceFormat::AppliedComputeAgentic => TraceFormat::AppliedComputeAgentic,
        dynosim::TraceFormat::Dynamo => TraceFormat::Dynamo,
        dynosim::TraceFormat::Weka => TraceFormat::Weka,
    }
}
