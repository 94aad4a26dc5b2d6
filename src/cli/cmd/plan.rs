//! `bench plan`: list the jobs of a scenario, without running them.

use crate::cli::args::{PlanArgs, PlanFormat};
use crate::cli::{Context, Exit, Failure, print};
use crate::diag::Bag;
use crate::digest::canonical::{Value, object};
use crate::exec::{Engines, cautions, refusals};
use crate::pin::Registry;
use crate::plan::{Job, Plan, load_plan, load_plan_alone, nix_plan};

use super::plan_wire;

/// Runs the command.
pub(super) fn run(args: &PlanArgs, context: &Context) -> Result<Exit, Failure> {
    if args.wire || args.wire_dir.is_some() {
        return plan_wire::run(args, context);
    }
    let planned = || {
        let (plan, mut warnings) = load_plan(&args.file, context.root())?;
        warnings.extend(not_runnable(&plan)?);
        context.report(warnings);
        Ok::<Plan, Failure>(plan)
    };
    match args.format {
        PlanFormat::Table => print(table(&planned()?)),
        PlanFormat::Json => print(document(&planned()?).to_document()),
        PlanFormat::NixJson => print(lines(&for_derivations(args, context)?)),
    }?;
    Ok(Exit::Success)
}

/// Returns a warning for each thing that this build will refuse to run.
///
/// # Errors
/// Everything wrong with the pins of engines.
pub(super) fn not_runnable(plan: &Plan) -> Result<Bag, Bag> {
    let engines = Engines::of_plan(plan, &Registry::open(&plan.root)?)?;
    Ok(cautions(plan, &engines))
}

/// Returns the plan for build derivations; what this build cannot run is refused, because no derivation could either.
fn for_derivations(args: &PlanArgs, context: &Context) -> Result<Value, Failure> {
    let (plan, alone, warnings) = load_plan_alone(&args.file, context.root())?;
    context.report(warnings);
    let engines = Engines::of_plan(&plan, &Registry::open(&plan.root)?)?;
    let refused = refusals(&plan, &engines);
    if refused.has_errors() {
        return Err(refused.into());
    }
    Ok(nix_plan(&plan, &alone)?)
}

/// Returns a document with a line for each key: it is kept in the repository, and reviewed there. Keys are sorted; nothing hashes it.
fn lines(document: &Value) -> String {
    let written: serde_json::Value =
        serde_json::from_slice(&document.to_bytes()).expect("what we write is JSON");
    format!("{written:#}\n")
}

/// Returns one line a job: its id, and the beginning of its key.
fn table(plan: &Plan) -> String {
    let width = plan.jobs.iter().map(|job| job.id.as_str().chars().count()).max().unwrap_or(0);
    let width = width.max("job".len());
    let mut text = format!("{:width$}  key\n", "job");
    for job in &plan.jobs {
        let line = format!("{:width$}  {}\n", job.id.as_str(), job.key().digest().short());
        text.push_str(&line);
    }
    text
}

/// Returns the plan with everything that enters the keys.
fn document(plan: &Plan) -> Value {
    let includes = plan
        .includes
        .iter()
        .map(|(path, digest)| object([("path", Value::text(path)), ("sha256", (*digest).into())]));
    object([
        ("about", plan.about.as_ref().map_or(Value::Null, Value::text)),
        ("includes", Value::List(includes.collect())),
        ("jobs", Value::List(plan.jobs.iter().map(job).collect())),
        ("scenario", Value::text(&plan.scenario)),
        ("source", plan.source_digest.into()),
    ])
}

/// Returns a job: id, key, and the description that the key is the digest of.
fn job(job: &Job) -> Value {
    object([
        ("description", job.canonical()),
        ("id", Value::text(job.id.as_str())),
        ("key", (*job.key().digest()).into()),
    ])
}
