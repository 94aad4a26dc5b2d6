//! The command: find the job, make it smaller, write it, prove it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::args::{Format, MinimiseArgs};
use crate::cli::cmd::engines::runnable;
use crate::cli::cmd::prepared::{Prepared, refuse_partial};
use crate::cli::cmd::same_version::refuse_same_version;
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{Bag, Code, Problem, agreed, counted};
use crate::digest::canonical::{Value, object};
use crate::exec::Engines;
use crate::gate::minimise::{Candidate, Found, Stop, Tried, minimise, scenario_of};
use crate::pin::{PinKind, Registry};
use crate::plan::{Alone, EngineIdentity, Job, Plan, load_plan, load_plan_alone};

use super::start::candidates;
use super::trial::{Answer, Answers, Trial};
use super::written::{Files, Project};

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &MinimiseArgs, context: &Context) -> Result<Exit, Failure> {
    refuse_partial(&args.file)?;
    let (plan, alone, warnings) = load_plan_alone(&args.file, context.root())?;
    context.report(warnings);
    let registry = Registry::open(&plan.root)?;
    let find = |version: &str| EngineIdentity::find(&registry, &args.engine, version);
    let (from, to) = (find(&args.from)?, find(&args.to)?);
    refuse_same_version((&from, &to), &registry, ["--from", "--to"])?;
    let engines = runnable(Engines::of([&from, &to], &registry)?, &registry, context)?;
    let prepared = Prepared::of_plan(asked(&plan, args)?, context)?;
    let mut trial = Trial::new(engines, (from, to), stop_on_signal());
    let job = differing(&prepared, &mut trial, args)?;
    let alone = &alone[job.index];
    let project = project(args, &registry, (&plan, alone), &trial)?;
    let start = start(&prepared, (&job, alone), trial, &project)?;
    let (mut trial, start) = (start.0, start.1);
    let rows = start.rows.as_ref().map(|rows| rows.rows.len());
    let found = search(start, (&mut trial, &project), args.budget, context);
    let story = Story { job: &job, rows, found: &found, trial: &trial, args };
    let files = project.finish(&found.smallest, &story.comment())?;
    // What an interrupted search has found is proven as well: whoever cannot wait asks a second time, which ends the program.
    let fresh = AtomicBool::new(false);
    let stop = if story.is_interrupted() { &fresh } else { trial.stop };
    let answers = prove(&files.scenario.0, &trial, stop, context)?;
    let files = project.publish(files)?;
    let answers = answers.ok_or_else(|| unproven(&files))?;
    if args.output.is_none() {
        context.note("nothing is written; `--output DIR` writes this with the pins that it needs");
    }
    match args.format {
        Format::Table => print(story.text(&files, &answers))?,
        Format::Json => print(story.json(&files, &answers))?,
    }
    Ok(if story.is_interrupted() { Exit::Interrupted } else { Exit::Success })
}

/// Returns the plan with the job that is asked for, or with all.
///
/// # Errors
/// [`Code::JobUnknown`] for a job that the plan lacks.
fn asked(plan: &Plan, args: &MinimiseArgs) -> Result<Plan, Failure> {
    let Some(id) = &args.job else { return Ok(Plan { golden: None, ..plan.clone() }) };
    let jobs: Vec<Job> = plan.jobs.iter().filter(|job| job.id.is_meant_by(id)).cloned().collect();
    if jobs.is_empty() {
        let message = format!("scenario `{}` has no job `{id}`", plan.scenario);
        let help = format!("`bench plan {}` lists its jobs", args.file.display());
        return Err(Problem::new(Code::JobUnknown, message).help(help).into());
    }
    Ok(Plan { jobs, golden: None, blocks: Vec::new(), ..plan.clone() })
}

/// Returns the first job that both versions answer differently; the trial is after that kind of difference from here on.
///
/// # Errors
/// [`Code::MinimiseEqual`], exit 4, where there is none.
fn differing(
    prepared: &Prepared,
    trial: &mut Trial<'_>,
    args: &MinimiseArgs,
) -> Result<Job, Failure> {
    let mut unanswered = None;
    for job in &prepared.plan.jobs {
        let corpus = prepared.corpora.of(job).map(|trace| &trace.corpus);
        let answers = trial.answers(job, corpus).map_err(interrupted)?;
        let Some(answers) = answers else { continue };
        if let Some(difference) = answers.difference() {
            trial.wanted = difference;
            return Ok(job.clone());
        }
        if let Answer::Failure(why) = answers.from {
            unanswered.get_or_insert_with(|| {
                format!("under both `{}` does not come to its end: {why}", job.id)
            });
        }
    }
    let (from, to) = (trial.from.shown_version(), trial.to.shown_version());
    let what = args.job.as_ref().map_or_else(|| "any job".to_owned(), |id| format!("job `{id}`"));
    let message = format!("{from} and {to} do not answer {what} differently");
    let help = unanswered.unwrap_or_else(|| {
        let (file, engine) = (args.file.display(), &args.engine);
        format!("bench explain {file} --engine {engine} --from {from} --to {to}")
    });
    let problem = Problem::new(Code::MinimiseEqual, message).help(help);
    Err(Failure::new(Exit::NoVerdict, problem))
}

fn interrupted(_: Stop) -> Failure {
    let problem = Problem::new(Code::MinimiseInterrupted, "interrupted: nothing is written");
    Failure::new(Exit::Interrupted, problem)
}

/// Makes the project that the reproduction becomes, with the pins of the job and of both versions.
fn project(
    args: &MinimiseArgs,
    registry: &Registry,
    (plan, alone): (&Plan, &Alone),
    trial: &Trial<'_>,
) -> Result<Project, Failure> {
    let mut pins = alone.pins.clone();
    for engine in [&trial.from, &trial.to] {
        let pin = if engine.is_native() {
            "native".to_owned()
        } else {
            registry.engine_at(&engine.name, &engine.version).map_err(Bag::from)?.folder
        };
        pins.insert((PinKind::Engine, pin));
    }
    Project::create(args.output.as_deref(), &plan.scenario, registry, pins)
}

/// Returns the first candidate of the job that still differs.
///
/// # Errors
/// [`Code::MinimiseEqual`] where none does: the job needs what a scenario alone cannot say.
fn start<'a>(
    prepared: &Prepared,
    (job, alone): (&Job, &Alone),
    mut trial: Trial<'a>,
    project: &Project,
) -> Result<(Trial<'a>, Candidate), Failure> {
    let scenario = scenario_of(&alone.text)?;
    let corpus = prepared.corpora.of(job).map(|trace| Arc::clone(&trace.corpus));
    let all = candidates(job, (&scenario, corpus.as_deref()), &trial, project);
    if trial.stop.load(Ordering::SeqCst) {
        return Err(interrupted(Stop::Interrupted));
    }
    for candidate in all.unwrap_or_default() {
        if trial.ask(&candidate, project.root()).map_err(interrupted)? == Tried::Differs {
            return Ok((trial, candidate));
        }
    }
    let message = format!("job `{}` as a scenario of its own does not differ any more", job.id);
    let problem = Problem::new(Code::MinimiseEqual, message);
    Err(Failure::new(Exit::NoVerdict, problem))
}

/// Searches, and says after each phase how far it came.
fn search(
    start: Candidate,
    (trial, project): (&mut Trial<'_>, &Project),
    budget: u64,
    context: &Context,
) -> Found {
    let root = project.root();
    let mut ask = |candidate: &Candidate| trial.ask(candidate, root);
    let mut before = 0;
    let mut tell = |phase: &'static str, best: &Candidate, tried: u64| {
        if std::mem::replace(&mut before, tried) == tried {
            return;
        }
        let rows = best.rows.as_ref().map_or(0, |rows| rows.rows.len());
        let lines = best.text().lines().count();
        context.note(&format!(
            "after {phase}: {}, {} of scenario, {} tried",
            counted(rows, "row"),
            counted(lines, "line"),
            counted(tried, "candidate")
        ));
    };
    minimise(start, &mut ask, budget, &mut tell)
}

/// Reads the written files back, with the pins and runners beside them, and runs them under both versions; `None` where these do not
/// answer as was found.
fn prove(
    scenario: &Path,
    trial: &Trial<'_>,
    stop: &AtomicBool,
    context: &Context,
) -> Result<Option<Answers>, Failure> {
    let quiet = context.quiet();
    let (plan, _) = load_plan(scenario, None)?;
    let wanted = trial.wanted;
    let trial = again(&Registry::open(&plan.root)?, trial, stop, &quiet)?;
    let prepared = Prepared::of_plan(plan, &quiet)?;
    let job = prepared.plan.jobs.first();
    let corpus = job.and_then(|job| prepared.corpora.of(job)).map(|trace| &trace.corpus);
    let answers = match job {
        Some(job) => trial.answers(job, corpus).map_err(interrupted)?,
        None => None,
    };
    Ok(answers.filter(|answers| answers.difference() == Some(wanted)))
}

/// Returns a trial between the same versions, as another project has them.
fn again<'a>(
    registry: &Registry,
    trial: &Trial<'_>,
    stop: &'a AtomicBool,
    context: &Context,
) -> Result<Trial<'a>, Failure> {
    let find = |engine: &EngineIdentity| {
        EngineIdentity::find(registry, &engine.name, engine.shown_version())
    };
    let (from, to) = (find(&trial.from)?, find(&trial.to)?);
    let engines = runnable(Engines::of([&from, &to], registry)?, registry, context)?;
    Ok(Trial::new(engines, (from, to), stop))
}

/// Returns the failure of files that do not do what was found.
fn unproven(files: &Files) -> Failure {
    let path = files.scenario.0.display();
    let message = format!("`{path}` does not differ when it is read back");
    Failure::new(Exit::JobFailed, Problem::new(Code::MinimiseUnproven, message))
}

/// What is told of a search.
struct Story<'s> {
    job: &'s Job,
    rows: Option<usize>,
    found: &'s Found,
    trial: &'s Trial<'s>,
    args: &'s MinimiseArgs,
}

impl Story<'_> {
    /// Returns the comment above the scenario.
    fn comment(&self) -> Vec<String> {
        let (from, to) = (self.trial.from.shown_version(), self.trial.to.shown_version());
        let mut lines = vec![
            format!(
                "The smallest job of `{}` that {} {from} and {to} answer differently.",
                self.job.id, self.args.engine
            ),
            format!("{}.", self.size()),
            format!(
                "bench explain THIS-FILE --engine {} --from {from} --to {to}",
                self.args.engine
            ),
        ];
        lines.extend(self.unfinished().map(str::to_owned));
        lines
    }

    /// Returns how much is left of it.
    fn size(&self) -> String {
        let left = self.found.smallest.rows.as_ref().map(|rows| rows.rows.len());
        let tried = counted(self.found.tried, "candidate");
        if let Some((all, left)) = self.rows.zip(left) {
            let (all, are) = (counted(all, "request"), agreed(left, "is", "are"));
            return format!("{left} of {all} {are} left, after {tried}");
        }
        let were = agreed(self.found.tried, "was", "were");
        format!("Its workload is not made of rows; {tried} {were} tried")
    }

    /// Returns whether someone asked to stop before the search had come to its end.
    fn is_interrupted(&self) -> bool {
        self.found.stopped == Some(Stop::Interrupted)
    }

    /// Returns why it may not be the smallest.
    fn unfinished(&self) -> Option<&'static str> {
        match self.found.stopped? {
            Stop::Budget => Some("The search ended at its budget: a smaller one may exist."),
            Stop::Interrupted => Some("The search was interrupted: a smaller one may exist."),
        }
    }

    /// Returns what the command prints for people.
    fn text(&self, files: &Files, answers: &Answers) -> String {
        let (of_from, of_to) = (self.trial.from.shown_version(), self.trial.to.shown_version());
        let mut text = format!("{}\n", self.size());
        text.extend(self.unfinished().map(|line| format!("{line}\n")));
        let both = std::iter::once(&files.scenario).chain(&files.trace);
        text.extend(both.map(|(path, held)| format!("\n{}\n\n{held}", path.display())));
        let (left, right) = (said(&answers.from), said(&answers.to));
        let explain = self.explain(&files.scenario.0);
        text + &format!("\n{of_from}: {left}\n{of_to}: {right}\n{explain}\n")
    }

    /// Returns the command that explains it.
    fn explain(&self, scenario: &Path) -> String {
        let (from, to) = (self.trial.from.shown_version(), self.trial.to.shown_version());
        let (file, engine) = (scenario.display(), &self.args.engine);
        format!("bench explain {file} --engine {engine} --from {from} --to {to}")
    }

    /// Returns the same as JSON.
    fn json(&self, files: &Files, answers: &Answers) -> Vec<u8> {
        let count = |count: Option<usize>| {
            count
                .map_or(Value::Null, |count| Value::count(u64::try_from(count).unwrap_or(u64::MAX)))
        };
        let left = self.found.smallest.rows.as_ref().map(|rows| rows.rows.len());
        let path = |path: &Path| Value::text(path.to_string_lossy());
        object([
            ("explain", Value::text(self.explain(&files.scenario.0))),
            ("from", Value::text(self.trial.from.shown_version())),
            ("from_answer", Value::text(said(&answers.from))),
            ("is_minimal", Value::Bool(self.found.stopped.is_none())),
            ("job", Value::text(self.job.id.as_str())),
            ("requests_left", count(left)),
            ("requests_of", count(self.rows)),
            ("scenario", path(&files.scenario.0)),
            ("schema", Value::text("touchstone.minimise/1")),
            ("to", Value::text(self.trial.to.shown_version())),
            ("to_answer", Value::text(said(&answers.to))),
            ("trace", files.trace.as_ref().map_or(Value::Null, |(trace, _)| path(trace))),
            ("tried", Value::count(self.found.tried)),
        ])
        .to_document()
    }
}

/// Returns an answer in words.
fn said(answer: &Answer) -> String {
    match answer {
        Answer::Report(report) => format!("report {}", report.digest()),
        Answer::Failure(why) => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Arguments;
    use crate::plan::Compat;

    #[test]
    fn files_that_do_not_differ_when_they_are_read_back_are_not_told() {
        let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/smoke.kdl");
        let versions =
            (EngineIdentity::native(Compat::V0_13_0), EngineIdentity::native(Compat::Dev87));
        let stop = AtomicBool::new(false);
        let trial = Trial::new(Engines::default(), versions, &stop);
        let context = Context::new(&Arguments::parse_from(["bench", "man"]));
        let answers = prove(&scenario, &trial, &stop, &context).expect("it runs");
        assert!(answers.is_none(), "both answer alike");
        let refused = unproven(&Files { scenario: (scenario, String::new()), trace: None });
        assert_eq!(refused.exit(), Exit::JobFailed);
        assert_eq!(refused.into_bag().into_sorted()[0].code(), Code::MinimiseUnproven);
    }
}
