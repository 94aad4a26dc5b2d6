//! `bench plan --wire`: what the `replay` jobs of a scenario send, before anything is sent.

use crate::cli::args::{PlanArgs, PlanFormat};
use crate::cli::{Context, Exit, Failure, print, print_as_written};
use crate::diag::{Bag, Code, Problem};
use crate::digest::canonical::{Value, object};
use crate::pin::Registry;
use crate::plan::{Job, JobId, JobKind, Plan, load_plan};
use crate::replay::wire::WirePlan;

use super::{plan_wire_folder, plan_wire_text};

/// The wire plan of a job.
pub(super) struct JobWire {
    /// The job's id.
    pub(super) job: JobId,
    /// What it sends.
    pub(super) wire: WirePlan,
}

/// Runs the command.
pub(super) fn run(args: &PlanArgs, context: &Context) -> Result<Exit, Failure> {
    if args.format == PlanFormat::NixJson {
        let problem = Problem::new(Code::ReplayWire, "`--wire` is printed as `table` or as `json`");
        return Err(problem.help("no derivation sends live traffic").into());
    }
    let (plan, warnings) = load_plan(&args.file, context.root())?;
    context.report(warnings);
    let wires = wires(&plan, context)?;
    if let Some(folder) = &args.wire_dir {
        plan_wire_folder::write(folder, &wires)?;
    }
    match args.format {
        PlanFormat::Json => print(document(&plan, &wires).to_document())?,
        PlanFormat::Table | PlanFormat::NixJson => print_as_written(|out| {
            wires.iter().try_for_each(|wire| plan_wire_text::write(wire, out))
        })?,
    }
    Ok(Exit::Success)
}

/// Makes the wire plan of every replay job.
fn wires(plan: &Plan, context: &Context) -> Result<Vec<JobWire>, Failure> {
    let registry = Registry::open(&plan.root)?;
    let (mut wires, mut wrong) = (Vec::new(), Bag::new());
    for job in &plan.jobs {
        let JobKind::Replay(replay) = &job.kind else { continue };
        match WirePlan::load(replay, &registry) {
            Ok(loaded) => {
                context.report(loaded.warnings);
                loaded.notes.iter().for_each(|note| context.note(note));
                wires.push(JobWire { job: job.id.clone(), wire: loaded.plan });
            }
            Err(problems) => wrong.extend(placed(problems, plan, job)),
        }
    }
    if wrong.has_errors() {
        return Err(wrong.into());
    }
    if wires.is_empty() {
        let message = format!("scenario `{}` has no `replay`", plan.scenario);
        let help = "`--wire` shows what live traffic sends; docs/replay.md says how it is written";
        return Err(Problem::new(Code::ReplayWire, message).help(help).into());
    }
    Ok(wires)
}

/// Returns problems with the job that has them, where they have no place of their own.
fn placed(problems: Bag, plan: &Plan, job: &Job) -> Bag {
    let mut bag = Bag::new();
    for problem in problems.into_sorted() {
        let problem = if problem.place().is_none() {
            let label = format!("needed by job `{}`", job.id);
            problem.label(&plan.source, job.places.declaration, label)
        } else {
            problem
        };
        bag.push(problem);
    }
    bag
}

/// Returns the plans as one document.
fn document(plan: &Plan, wires: &[JobWire]) -> Value {
    let jobs = wires.iter().map(|wire| {
        object([("id", Value::text(wire.job.as_str())), ("wire", wire.wire.describe())])
    });
    object([
        ("jobs", Value::List(jobs.collect())),
        ("scenario", Value::text(&plan.scenario)),
        ("source", plan.source_digest.into()),
    ])
}
