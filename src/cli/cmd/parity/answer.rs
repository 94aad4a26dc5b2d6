//! Who answers a recorded case: this program.

use std::path::Path;

use crate::cli::cmd::predict;
use crate::cli::{Context, Failure};
use crate::deployment::{Timing, Workers};
use crate::diag::{Code, SourceFile};
use crate::plan::SimulationJob;
use crate::report::dynosim::{Answer, Bounds};
use crate::scenario::dynosim;
use crate::trace::Shard;

use super::areas::Area;
use super::recording::{Asked, Recording};

/// An answer, or why there is none.
#[derive(Debug)]
pub(super) enum Answered {
    /// The run ended, and its answer may be so far off.
    Ended(Answer, Bounds),
    /// It is refused or fails, for this reason.
    Failed(String),
    /// This program lacks something that the case asks for: this, in a few words.
    NotCovered(String),
}

/// Returns this program's answer to what a recording asked, and notes what that exercises. Its warnings are of no interest here.
pub(super) fn answer(recording: &Recording, context: &Context, areas: &mut Vec<Area>) -> Answered {
    run(recording, &context.quiet(), areas).unwrap_or_else(refused)
}

fn run(
    recording: &Recording,
    context: &Context,
    areas: &mut Vec<Area>,
) -> Result<Answered, Failure> {
    let (prediction, shard, folder) = match &recording.asked {
        Asked::Specification { text } => {
            (dynosim::decode_spec(&SourceFile::new("spec.json", text))?, None, Path::new("."))
        }
        Asked::Beside(what) => return Ok(Answered::NotCovered((*what).to_owned())),
        Asked::Configuration { text, trace, folder } => {
            let source = SourceFile::new("config.yaml", text);
            let shard = trace.as_ref().map(|text| Shard::new("trace.jsonl", text.clone()));
            (dynosim::decode(&source, &beside(folder))?, shard, folder.as_path())
        }
    };
    let job = predict::job_of(&prediction, folder, context, recording.compat)?;
    let corpus = match &prediction.trace {
        None => None,
        Some(file) => {
            let shard = match shard {
                Some(shard) => shard,
                None => Shard::load(&folder.join(&file.path), &file.path)?,
            };
            Some(predict::read_trace(file, &[shard], &job, context)?)
        }
    };
    *areas = Area::of(&job, corpus.as_ref());
    let (summary, rows) = predict::answer(&job, corpus.as_ref())?;
    let summary = summary.as_object().cloned().unwrap_or_default();
    let rows = rows.as_array().cloned().unwrap_or_default();
    Ok(Answered::Ended(Answer::new(summary, rows), bounds(&job)))
}

/// Returns the override that finds a model's folder beside the configuration, where there is one.
pub(super) fn beside(folder: &Path) -> Vec<String> {
    let model = folder.join("model");
    let found = model.join("config.json").is_file();
    found.then(|| format!("engine.model={}", model.display())).into_iter().collect()
}

/// Returns what is lacking, where a refusal says so, or the first thing that is wrong.
fn refused(failure: Failure) -> Answered {
    let problems = failure.into_bag().into_sorted();
    if let Some(problem) = problems.iter().find(|one| one.code() == Code::DynosimUnsupported) {
        let message = problem.to_string();
        let short = message.strip_prefix("this build cannot run ").unwrap_or(&message);
        return Answered::NotCovered(short.to_owned());
    }
    Answered::Failed(problems.first().map_or_else(String::new, ToString::to_string))
}

/// Returns how far an answer may be off: the reference's own arithmetic, or a table's.
fn bounds(job: &SimulationJob) -> Bounds {
    let is_priced = |timing: &Timing| match timing {
        Timing::Fixed { .. } | Timing::Polynomial => false,
        Timing::Default | Timing::Table { .. } | Timing::Roofline(_) => true,
    };
    let priced = match &job.deployment.workers {
        Workers::Aggregated(worker) => is_priced(&worker.timing),
        Workers::Disaggregated { prefill, decode } => {
            is_priced(&prefill.timing) || is_priced(&decode.timing)
        }
    };
    if priced { Bounds::PRICED } else { Bounds::EXACT }
}
