//! `native` and an upstream engine on the same jobs: those of scenarios, or those that recorded cases asked.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::args::{Format, ParityArgs};
use crate::cli::cmd::distinct::distinct;
use crate::cli::cmd::{engines, predict, prepared::Prepared};
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::{Bag, Problem, SourceFile};
use crate::exec::runner::RunnerError;
use crate::exec::{Engines, Executor, JobError, Native, guard};
use crate::gate::parity::Parity;
use crate::pin::{Registry, accepted_partings};
use crate::plan::{Compat, EngineIdentity, JobKind, SimulationJob, load_plan};
use crate::record::RunRecord;
use crate::scenario::dynosim;
use crate::sim::{Options, SimError, Unsupported};
use crate::trace::Shard;
use crate::workload::Corpus;

use super::answer::beside;
use super::command::{folders, none_wanted};
use super::recording::{Asked, Recording, of_folder};
use super::sides::{End, Sides, Standing, document, text};

/// Both engines.
struct Pair {
    upstream: EngineIdentity,
    engines: Engines,
    compat: Compat,
    stop: &'static AtomicBool,
}

/// Runs the command with an engine that is there: exit 1 where an engine broke, 3 where a job differs and nobody accepted
/// that, or does not although somebody did, 4 where one could not be compared.
pub(super) fn run(
    (name, version): (&str, &str),
    args: &ParityArgs,
    context: &Context,
) -> Result<Exit, Failure> {
    let stop = stop_on_signal();
    match compared((name, version), (args, stop), context) {
        _ if stop.load(Ordering::SeqCst) => Ok(Exit::Interrupted), // half a table would be taken for a whole one
        Err(failure) => Err(failure),
        Ok(sides) if sides.is_empty() => Err(none_wanted(args).into()),
        Ok(sides) => {
            print(match args.format {
                Format::Table => text(&sides),
                Format::Json => document(&sides),
            })?;
            Ok(exit(&sides))
        }
    }
}

/// Returns how the command ends.
fn exit(sides: &[Sides]) -> Exit {
    let any = |standing: Standing| sides.iter().any(|side| side.standing() == standing);
    if any(Standing::Broken) {
        Exit::JobFailed
    } else if any(Standing::Differs) || any(Standing::Stale) {
        Exit::Drift
    } else if any(Standing::NotComparable) {
        Exit::NoVerdict
    } else {
        Exit::Success
    }
}

/// Runs every job that is asked for on both engines.
fn compared(
    (name, version): (&str, &str),
    (args, stop): (&ParityArgs, &'static AtomicBool),
    context: &Context,
) -> Result<Vec<Sides>, Failure> {
    let root = context.root().unwrap_or(Path::new("."));
    let registry = Registry::open(root)?;
    let upstream = EngineIdentity::find(&registry, name, version)?;
    let accepted = accepted_partings(root, name)?;
    let store = engines::store(&registry, context)?;
    let engines =
        Engines::of([&upstream], &registry)?.with_runners(&store, &|line| context.note(line))?;
    let pair = Pair { compat: imitating(&upstream), upstream, engines, stop };
    let mut sides = Vec::new();
    for path in distinct(&folders(args, context)) {
        if path.is_dir() {
            let mut seen = Vec::new();
            for recording in of_folder(&path)? {
                // What was asked of two versions is one job here.
                let name = recording.name.split(" (").next().unwrap_or_default().to_owned();
                if !seen.contains(&name) && args.is_wanted(&name) {
                    sides.push(pair.of_recording(&name, &recording, &context.quiet()));
                    seen.push(name);
                }
            }
        } else {
            pair.of_scenario(&path, (args, context), &mut sides)?;
        }
    }
    for side in &mut sides {
        side.hold_against(&accepted, &pair.upstream.version);
    }
    Ok(sides)
}

/// Returns the behaviour that `native` imitates of an engine: that of its own version, or the nearest older one.
fn imitating(engine: &EngineIdentity) -> Compat {
    let parse = |text: &str| crate::pin::EngineVersion::parse(text);
    let Some(version) = parse(&engine.version) else { return Compat::NEWEST };
    // A nightly's id begins with its date, so that numbers compare as dates do.
    let shared = parse("0.13.0-dev.202610290000000087").expect("a version");
    let release = parse("0.13.0").expect("a version");
    if version >= shared && version != release { Compat::Dev87 } else { Compat::V0_13_0 }
}

impl Pair {
    /// Compares every job of a scenario, those that differ in their engine alone once.
    fn of_scenario(
        &self,
        path: &Path,
        (args, context): (&ParityArgs, &Context),
        sides: &mut Vec<Sides>,
    ) -> Result<(), Failure> {
        let (plan, warnings) = load_plan(path, context.root())?;
        context.report(warnings);
        let mut plan = plan.under(&EngineIdentity::native(self.compat));
        let mut seen = Vec::new();
        let mut runnable = Vec::new();
        for job in plan.jobs {
            if seen.contains(&job.key()) || !args.is_wanted(job.id.as_str()) {
                continue; // told once, or not asked for
            }
            seen.push(job.key());
            let JobKind::Simulation(simulation) = &job.kind else {
                let what = "live traffic runs on no engine".to_owned();
                sides.push(Sides::not_comparable(job.id.as_str(), what));
                continue;
            };
            match self.lacking(simulation) {
                None => runnable.push(crate::plan::Job { index: runnable.len(), ..job }),
                Some(what) => sides.push(Sides::not_comparable(job.id.as_str(), what)),
            }
        }
        plan.jobs = runnable;
        plan.golden = None;
        if plan.jobs.is_empty() {
            return Ok(());
        }
        let prepared = Prepared::of_plan(plan, context)?;
        for job in &prepared.plan.jobs {
            let JobKind::Simulation(simulation) = &job.kind else { continue }; // they were left out
            let corpus = prepared.corpora.of(job).map(|trace| trace.corpus.as_ref());
            sides.push(self.compared(job.id.as_str(), simulation, corpus));
        }
        Ok(())
    }

    /// Compares what a recording asked.
    fn of_recording(&self, name: &str, recording: &Recording, context: &Context) -> Sides {
        match self.job_of(&recording.asked, context) {
            Ok((job, corpus)) => match self.lacking(&job) {
                None => self.compared(name, &job, corpus.as_ref()),
                Some(what) => Sides::not_comparable(name, what),
            },
            Err(problem) => Sides::not_comparable(name, problem.to_string()),
        }
    }

    /// Returns the job that a recording asked, with its trace.
    fn job_of(
        &self,
        asked: &Asked,
        context: &Context,
    ) -> Result<(SimulationJob, Option<Corpus>), Problem> {
        let first =
            |bag: Bag| bag.into_sorted().into_iter().next().expect("a refusal has a reason");
        let failed = |failure: Failure| first(failure.into_bag());
        let (prediction, shard, folder) = match asked {
            Asked::Specification { text } => {
                let source = SourceFile::new("spec.json", text);
                (dynosim::decode_spec(&source).map_err(first)?, None, Path::new("."))
            }
            Asked::Beside(what) => {
                let code = crate::diag::Code::ParityCase;
                return Err(Problem::new(code, (*what).to_owned()));
            }
            Asked::Configuration { text, trace, folder } => {
                let source = SourceFile::new("config.yaml", text);
                let shard = trace.as_ref().map(|text| Shard::new("trace.jsonl", text.clone()));
                let prediction = dynosim::decode(&source, &beside(folder)).map_err(first)?;
                (prediction, shard, folder.as_path())
            }
        };
        let job = predict::job_of(&prediction, folder, context, self.compat).map_err(failed)?;
        let corpus = match &prediction.trace {
            None => None,
            Some(file) => {
                let shard = match shard {
                    Some(shard) => shard,
                    None => Shard::load(&folder.join(&file.path), &file.path)?,
                };
                Some(predict::read_trace(file, &[shard], &job, context).map_err(failed)?)
            }
        };
        Ok((job, corpus))
    }

    /// Returns what one of the two cannot run of a job.
    fn lacking(&self, job: &SimulationJob) -> Option<String> {
        let upstream = self.of_upstream(job);
        let lacking =
            Native.unsupported(job).into_iter().chain(self.engines.unsupported(&upstream));
        lacking.map(|lacking: Unsupported| lacking.what).next()
    }

    /// Returns a job on the upstream engine.
    fn of_upstream(&self, job: &SimulationJob) -> SimulationJob {
        SimulationJob { engine: self.upstream.clone(), ..job.clone() }
    }

    /// Runs a job on both and compares.
    fn compared(&self, name: &str, job: &SimulationJob, corpus: Option<&Corpus>) -> Sides {
        let options = Options { stop: Some(self.stop), ..Options::default() };
        let native = guard(|| Native.run(job, corpus, &options));
        let upstream = guard(|| self.engines.run(&self.of_upstream(job), corpus, &options));
        match (native, upstream) {
            (Ok(native), Ok(upstream)) => Sides::compared(name, Parity::of(&native, &upstream)),
            (native, upstream) => Sides::ended(name, (ending(native), ending(upstream))),
        }
    }
}

/// Returns why a run has no record; nothing where it has one. An engine that says no has answered; of one that breaks nobody knows what it
/// would say.
fn ending(run: Result<RunRecord, JobError>) -> Option<End> {
    let error = run.err()?;
    if let JobError::Simulation(SimError::Unsupported(unsupported)) = &error {
        return Some(End::Unasked(unsupported.what.clone()));
    }
    let says_no = match &error {
        JobError::Simulation(error) => match error {
            SimError::DeadEnd { .. }
            | SimError::ClockOverflow { .. }
            | SimError::BadTime { .. }
            | SimError::ForwardExceedsCache { .. } => true,
            SimError::Unsupported(_)
            | SimError::BadWorkload { .. }
            | SimError::Spill { .. }
            | SimError::Interrupted => false,
        },
        JobError::Runner(RunnerError::Refused { .. }) => true,
        JobError::Runner(
            RunnerError::NotStarted { .. }
            | RunnerError::Crashed { .. }
            | RunnerError::TimedOut { .. }
            | RunnerError::Nonsense { .. },
        )
        | JobError::Interrupted
        | JobError::Panicked { .. }
        | JobError::Traffic { .. }
        | JobError::Unwritable { .. }
        | JobError::Elsewhere { .. } => false,
    };
    let why = error.to_string();
    Some(if says_no { End::Refused(why) } else { End::Broken(why) })
}
