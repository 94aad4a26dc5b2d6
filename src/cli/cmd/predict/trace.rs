//! The trace of a configuration.

use std::path::Path;

use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code};
use crate::plan::SimulationJob;
use crate::scenario::dynosim::{self, TraceFile};
use crate::trace::{
    AgenticShape, ArrivalRule, ReadOptions, Shard, TraceFormat, agentic_shape, read_corpus,
};
use crate::workload::{Corpus, Load};

/// Returns a trace's file.
///
/// # Errors
/// Exit 1 where it cannot be read, as DynoSim has it.
pub(super) fn load(trace: &TraceFile) -> Result<Shard, Failure> {
    Shard::on_disk(Path::new(&trace.path), &trace.path)
        .map_err(|problem| Failure::new(Exit::JobFailed, trace.place.adopt(problem, "named here")))
}

/// Reads the trace as DynoSim reads it; whatever is wrong with it is exit 1, as it is there.
pub(in crate::cli::cmd) fn read(
    trace: &TraceFile,
    shard: Shard,
    job: &SimulationJob,
    context: &Context,
) -> Result<Corpus, Failure> {
    let failed = |bag: Bag| Failure::new(Exit::JobFailed, bag);
    let arrivals = match job.workload.load {
        Load::TraceTimestamps { .. } => ArrivalRule::Required,
        Load::Concurrency { .. }
        | Load::ConstantRate { .. }
        | Load::Poisson { .. }
        | Load::Recorded(_) => ArrivalRule::Ignored,
    };
    let format = read_as(trace, &shard)?;
    let read = ReadOptions::dynosim(format, trace.block_size, arrivals);
    let (corpus, counts) = read_corpus(&[shard], &read).map_err(failed)?;
    let mut warnings = Bag::new();
    // The format fixes milliseconds: a short span hints at nothing here.
    let tolerated = counts.warnings(&trace.path).into_iter();
    tolerated
        .filter(|warning| warning.code() != Code::TraceTimeScale)
        .for_each(|warning| warnings.push(warning));
    context.report(warnings);
    Ok(corpus)
}

/// Returns how the rows of a trace are read.
///
/// # Errors
/// Exit 1 for an agentic file that is wrong, as DynoSim has it; exit 2 for one that is right and whose graph this build cannot run.
fn read_as(trace: &TraceFile, shard: &Shard) -> Result<TraceFormat, Failure> {
    match trace.format {
        dynosim::TraceFormat::MooncakeDelta => Ok(TraceFormat::MooncakeDelta),
        dynosim::TraceFormat::AgenticMooncake => {
            let shape = agentic_shape(shard).map_err(|bag| Failure::new(Exit::JobFailed, bag))?;
            match shape {
                AgenticShape::Independent => Ok(TraceFormat::Mooncake),
                AgenticShape::Graph => {
                    let message =
                        "this build cannot run agentic requests that wait for one another";
                    let problem =
                        trace.place.problem(Code::DynosimUnsupported, message, "named here");
                    Err(problem.help("`docs/predict.md` lists what is covered").into())
                }
            }
        }
        dynosim::TraceFormat::Mooncake
        | dynosim::TraceFormat::AppliedComputeAgentic
        | dynosim::TraceFormat::Dynamo
        | dynosim::TraceFormat::Weka => Ok(TraceFormat::Mooncake),
    }
}
