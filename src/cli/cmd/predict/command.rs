//! The command from arguments to files.

use std::path::Path;

use crate::cli::args::{Format, PredictArgs};
use crate::cli::{Context, Exit, Failure, Stopwatch, print, print_as_written, stop_on_signal};
use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::plan::{Compat, SimulationJob};
use crate::record::{GapUnit, RunRecord};
use crate::report::dynosim::{self as output, Folder, FolderError, Host, Overwrite, Rows, Summary};
use crate::scenario::dynosim::{self, Prediction};
use crate::sim::{self, Options, SimError};
use crate::workload::Corpus;

use super::model::Model;
use super::unserved::{advised, report_unserved};
use super::{job, laws, memory, options, trace};

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &PredictArgs, context: &Context) -> Result<Exit, Failure> {
    let compat = options::check(args)?;
    let (path, prediction) = read(args)?;
    let job = job_of(&prediction, path, context, compat)?;
    let overwrite = if args.overwrite { Overwrite::KnownNames } else { Overwrite::Refuse };
    let folder =
        Folder::check(&args.output_dir, overwrite).map_err(|error| refuse_folder(&error))?;
    report_warnings(&prediction, context);
    let corpus = match &prediction.trace {
        None => None,
        Some(file) => Some(trace::read(file, &trace::load_all(file)?, &job, context)?),
    };
    memory::check(prediction.memory_limit_gb)?;
    let (record, host) = simulate(&job, corpus.as_ref())?;
    memory::check(prediction.memory_limit_gb)?;
    laws::check(&job, corpus.as_ref(), &record)?;
    report_unserved(&record, context);
    let summary = summarize(&record, &job, corpus.as_ref(), host);
    let rows = args.capture_per_request.then(|| Rows::new(&record, &job.deployment)).transpose();
    let rows = rows.map_err(|error| failed_run(&SimError::spill(&error)))?;
    write(&folder, &summary, rows.as_ref()).map_err(|error| failed_write(&error))?;
    context.detail(&format!("wrote `{}`", args.output_dir.display()));
    show(args.format, &summary, rows.as_ref())?;
    Ok(Exit::Success)
}

/// Returns the job of a configuration that lies at `path`.
///
/// # Errors
/// As the command has them.
pub(in crate::cli::cmd) fn job_of(
    prediction: &Prediction,
    path: &Path,
    context: &Context,
    compat: Compat,
) -> Result<SimulationJob, Failure> {
    let model = Model::find(prediction, path, context)?;
    job::simulation_job(prediction, &model, compat)
}

/// Returns what `prediction.json` and `requests.jsonl` hold of a job that is run here.
///
/// # Errors
/// As the command has them.
pub(in crate::cli::cmd) fn answer(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
) -> Result<(serde_json::Value, serde_json::Value), Failure> {
    let (record, host) = simulate(job, corpus)?;
    laws::check(job, corpus, &record)?;
    let mut document = Vec::new();
    let summary = summarize(&record, job, corpus, host);
    summary.write(None, &mut document).expect("a Vec takes every write");
    let rows = Rows::new(&record, &job.deployment);
    let rows = serde_json::to_value(rows.map_err(|error| failed_run(&SimError::spill(&error)))?);
    let summary = serde_json::from_slice(&document).expect("what was written is JSON");
    Ok((summary, rows.expect("rows are JSON")))
}

/// Runs a job, holds it to the laws, writes its summary to nowhere, and returns how many requests there were.
///
/// # Errors
/// As the command has them.
pub(in crate::cli::cmd) fn summary(
    job: &SimulationJob,
    corpus: Option<&Corpus>,
) -> Result<u64, Failure> {
    let (record, host) = simulate(job, corpus)?;
    laws::check(job, corpus, &record)?;
    let written = summarize(&record, job, corpus, host).write(None, &mut std::io::sink());
    written.expect("a sink takes every write");
    Ok(record.requests.len() as u64)
}

/// Returns the summary of a run.
fn summarize(
    record: &RunRecord,
    job: &SimulationJob,
    corpus: Option<&Corpus>,
    host: Host,
) -> Summary {
    let mut summary = Summary::new(record, job.sla.as_ref(), host);
    summary.describe_pools(job);
    if let Some(corpus) = corpus.filter(|corpus| corpus.plays().is_some()) {
        summary.describe_plays(record, corpus, job);
    }
    summary
}

/// Reads the configuration, or the specification that stands for one, with its path.
fn read(args: &PredictArgs) -> Result<(&Path, Prediction), Bag> {
    let (path, prediction) = match (&args.replay_spec, &args.config) {
        (Some(spec), _) => (spec, dynosim::decode_spec(&read_config(spec)?)?),
        (None, Some(config)) => (config, dynosim::decode(&read_config(config)?, &args.overrides)?),
        (None, None) => unreachable!("the command line needs one of the two"),
    };
    Ok((path, prediction))
}

/// Reads the configuration file.
pub(in crate::cli::cmd) fn read_config(path: &Path) -> Result<SourceFile, Problem> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(Code::DynosimFile, format!("cannot read `{name}`: {error}"))
            .help("is the path right? it is relative to the working directory")
    })?;
    let text = diag::utf8(Code::DynosimFile, &name, bytes)?;
    Ok(SourceFile::new(&name, &text))
}

/// Says what a person should look at.
fn report_warnings(prediction: &Prediction, context: &Context) {
    let mut bag = Bag::new();
    prediction.warnings.iter().cloned().for_each(|warning| bag.push(warning));
    context.report(bag);
}

/// Runs the job and measures the wall time of doing so.
fn simulate(job: &SimulationJob, corpus: Option<&Corpus>) -> Result<(RunRecord, Host), Failure> {
    let asked = Options {
        no_transcript: true,
        stop: Some(stop_on_signal()),
        gaps: GapUnit::Exact,
        ..Options::default()
    };
    let stopwatch = Stopwatch::start();
    let record = sim::run(job, corpus, &asked).map_err(|error| failed_run(&error))?;
    Ok((record, Host { wall: stopwatch.elapsed() }))
}

/// Returns the failure of a run.
fn failed_run(error: &SimError) -> Failure {
    let exit = match error {
        SimError::Unsupported(_) => Exit::Refused,
        SimError::DeadEnd { .. }
        | SimError::ClockOverflow { .. }
        | SimError::BadTime { .. }
        | SimError::BadWorkload { .. }
        | SimError::Spill { .. }
        | SimError::ForwardExceedsCache { .. } => Exit::JobFailed,
        SimError::Interrupted => Exit::Interrupted,
    };
    Failure::new(exit, advised(Problem::new(Code::PredictRun, error.to_string()), error.advice()))
}

/// Writes the files.
fn write(folder: &Folder, summary: &Summary, rows: Option<&Rows>) -> Result<(), FolderError> {
    folder.clear()?;
    if let Some(rows) = rows {
        folder.write("requests.jsonl", |out| rows.write_lines(out))?;
    }
    folder.write("prediction.json", |out| summary.write(rows, out))
}

/// Prints the summary, or what was written to `prediction.json`.
fn show(format: Format, summary: &Summary, rows: Option<&Rows>) -> Result<(), Failure> {
    match format {
        Format::Table => print(output::table(summary)),
        Format::Json => print_as_written(|out| summary.write(rows, out)),
    }
}

/// Returns the failure of an output folder that could not be written after all.
fn failed_write(error: &FolderError) -> Failure {
    Failure::new(Exit::JobFailed, Problem::new(Code::PredictOutput, error.to_string()))
}

/// Returns the refusal of an output folder.
fn refuse_folder(error: &FolderError) -> Problem {
    let help = match error {
        FolderError::NotEmpty(_) => "pass `--overwrite` to replace what `predict` writes",
        FolderError::Io { .. } => "name another folder with `--output-dir`",
    };
    Problem::new(Code::PredictOutput, error.to_string()).help(help)
}
