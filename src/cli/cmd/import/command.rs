//! The command from arguments to a scenario file.

use std::path::Path;

use crate::cli::args::ImportArgs;
use crate::cli::cmd::predict;
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::pin::Registry;
use crate::plan::{Compat, load_plan};
use crate::scenario::dynosim::{self, Prediction};
use crate::scenario::export::{self, Parts, Pinned};
use crate::scenario::{edit, project_root};

use super::pins::{self, Named};

/// Runs the command; stdout names the files that were written.
pub(in crate::cli::cmd) fn run(args: &ImportArgs, context: &Context) -> Result<Exit, Failure> {
    let compat = predict::compat(args.compat.as_deref())?;
    let source = predict::read_config(&args.config)?;
    let prediction = dynosim::decode(&source, &args.overrides)?;
    let output = args.output();
    if output.exists() && !args.overwrite {
        let message = format!("`{}` exists", output.display());
        let problem = Problem::new(Code::ImportOutput, message);
        return Err(problem.help("pass `--overwrite`, or name another file").into());
    }
    let root = match context.root() {
        Some(root) => root.to_owned(),
        None => project_root(&output)?,
    };
    let registry = Registry::open(&root)?;
    let stated =
        Stated { model: args.model.as_deref(), hardware: args.hardware.as_deref(), tables: &[] };
    let mut written = Vec::new();
    // Tables are found as `predict` finds them; what it cannot find has no scenario either.
    let tables = if pins::needs_tables(&prediction) {
        let job = predict::job_of(&prediction, &args.config, context, compat)?;
        pins::tables(&job, &registry)?
    } else {
        Vec::new()
    };
    let stated = Stated { tables: &tables, ..stated };
    let text = scenario(&prediction, &registry, stated, (compat, &output), &mut written)?;
    write(&output, &text)?;
    written.push(output.display().to_string());
    let (_, warnings) = load_plan(&output, Some(&root))?;
    let mut all = Bag::new();
    prediction.warnings.iter().cloned().for_each(|warning| all.push(warning));
    all.extend(warnings);
    context.report(all);
    print(written.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>())?;
    Ok(Exit::Success)
}

/// Pins that the command line names, and those that follow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stated<'a> {
    /// The model's.
    pub(super) model: Option<&'a str>,
    /// The hardware's.
    pub(super) hardware: Option<&'a str>,
    /// The timing tables that `default` timing means.
    pub(super) tables: &'a [(String, Sha256)],
}

/// Returns the scenario of a prediction; `written` gets the files that a trace's pin took.
///
/// # Errors
/// A model or hardware without a pin, a trace that cannot be pinned, a setting that scenarios do not have.
pub(super) fn scenario(
    prediction: &Prediction,
    registry: &Registry,
    stated: Stated<'_>,
    (compat, output): (Compat, &Path),
    written: &mut Vec<String>,
) -> Result<String, Bag> {
    let model = pins::model(prediction, registry, stated.model)?;
    let hardware = pins::hardware(prediction, registry, stated.hardware)?;
    let trace = match &prediction.trace {
        Some(trace) => Some(pins::trace(trace, registry, written)?),
        None => None,
    };
    let name =
        output.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let parts = Parts {
        name: &name,
        about: "Imported from a DynoSim configuration.",
        seed: predict::SEED,
        model: pinned(&model),
        hardware: pinned(&hardware),
        trace: trace.as_ref().map(pinned),
        timings: stated.tables,
        compat: compat.name(),
        workload: &prediction.workload,
        deployment: &prediction.deployment,
        sla: prediction.sla.as_ref(),
    };
    export::scenario(&parts).map_err(|unsayable| {
        let problem = prediction.engine_place.problem(
            Code::ImportUnsayable,
            unsayable.to_string(),
            "asks for it",
        );
        problem.help("`bench predict` runs the configuration as it is").into()
    })
}

fn pinned(named: &Named) -> Pinned<'_> {
    Pinned { name: &named.name, digest: named.digest }
}

/// Writes the scenario, with the folders above it.
fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(Code::ImportOutput, format!("cannot write `{}`: {error}", path.display()))
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    if path.exists() {
        return edit::replace_file(path, text);
    }
    std::fs::write(path, text).map_err(failed)
}
