//! The command: ask both versions twice, judge, print, and say how it ends.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cli::args::{UpgradeArgs, UpgradeFormat};
use crate::cli::cmd::distinct::distinct;
use crate::cli::cmd::jobs::{Manner, Sending};
use crate::cli::cmd::same_version::refuse_same_version;
use crate::cli::{Context, Exit, Failure, print, stop_on_signal};
use crate::diag::Bag;
use crate::gate::upgrade::{
    Answer, Changes, ControlVerdict, Idle, PinSide, Question, ScenarioVerdict, Verdict,
    changes_path, judge, verdict_json, verdict_junit, verdict_markdown, verdict_table,
};
use crate::pin::Registry;
use crate::plan::{EngineIdentity, Job, JobId, Plan, load_plan, retarget};
use crate::report::EventLines;

use super::answers::{PinRun, simulation};
use super::controls::controls;
use super::findings::{exit, findings, other_from};
use super::twice::Second;

/// Runs the command.
pub(in crate::cli::cmd) fn run(args: &UpgradeArgs, context: &Context) -> Result<Exit, Failure> {
    let args = &UpgradeArgs { files: distinct(&args.files), ..args.clone() };
    let plans = plans(args, context)?;
    let registry = Registry::open(&plans[0].root)?;
    let pinned = |version: &str| EngineIdentity::find(&registry, &args.engine, version);
    let engines = (pinned(&args.from)?, pinned(&args.to)?);
    refuse_same_version((&engines.0, &engines.1), &registry, ["--from", "--to"])?;
    let changes = declared(args, &engines, &plans[0], context)?;
    let stop = stop_on_signal();
    let manner = Manner {
        threads: args.jobs,
        cache: None,
        events: EventLines::Digest,
        sending: Sending::Planned,
        stop,
        scratch: None,
    };
    let mut judging =
        Judging { args, engines: &engines, changes: changes.as_ref(), manner, context };
    let (mut scenarios, mut controls, mut questions) = (Vec::new(), Vec::new(), Vec::new());
    for (file, plan) in args.files.iter().zip(&plans) {
        let judged = judging.scenario(file, plan)?;
        scenarios.push(judged.verdict);
        controls.extend(judged.controls);
        questions.extend(judged.questions);
    }
    let verdict = Verdict {
        is_interrupted: stop.load(Ordering::SeqCst),
        engine: args.engine.clone(),
        from: engines.0.shown_version().to_owned(),
        to: engines.1.shown_version().to_owned(),
        idle: Idle::all(changes.as_ref(), &questions),
        changes,
        scenarios,
        controls,
    };
    print_verdict(args.format, &verdict)?;
    context.report(findings(&verdict));
    Ok(exit(&verdict))
}

/// Reads every scenario before anything runs.
fn plans(args: &UpgradeArgs, context: &Context) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let (plan, warnings) = load_plan(file, context.root())?;
        context.report(warnings);
        plans.push(plan);
    }
    Ok(plans)
}

/// Reads what the newer version is declared to change against the older one.
fn declared(
    args: &UpgradeArgs,
    (from, to): &(EngineIdentity, EngineIdentity),
    plan: &Plan,
    context: &Context,
) -> Result<Option<Changes>, Failure> {
    let version = to.shown_version();
    let changes = if let Some(path) = &args.expect {
        Changes::read_stated(path, version)?
    } else {
        let registry = Registry::open(&plan.root)?;
        let pin = registry.engine_at(&to.name, &to.version).map_err(Bag::from)?;
        let path = changes_path(&pin.folder);
        let name = path.to_string_lossy().replace('\\', "/");
        Changes::read(&plan.root.join(&path), &name, version)?
    };
    let Some(changes) = changes else { return Ok(None) };
    if changes.from.iter().any(|known| known == from.shown_version()) {
        return Ok(Some(changes));
    }
    context.report(other_from(&changes, from.shown_version()).into());
    Ok(None)
}

/// What judging any scenario needs.
struct Judging<'a> {
    args: &'a UpgradeArgs,
    engines: &'a (EngineIdentity, EngineIdentity),
    changes: Option<&'a Changes>,
    manner: Manner<'a>,
    context: &'a Context,
}

/// What is said of one scenario.
struct JudgedScenario {
    verdict: ScenarioVerdict,
    controls: Vec<ControlVerdict>,
    questions: Vec<Question>,
}

impl Judging<'_> {
    /// Judges one scenario.
    fn scenario(&mut self, file: &Path, plan: &Plan) -> Result<JudgedScenario, Failure> {
        let (from, to) = self.engines;
        let (older, _) = self.sides(file, plan, (from, &self.args.from))?;
        let (newer, mut asked) = self.sides(file, plan, (to, &self.args.to))?;
        let jobs = retarget(plan, to).jobs;
        let question = |job: &Job| {
            simulation(job).map(|simulation| Question::of(&plan.scenario, &job.id, simulation))
        };
        let questions: Vec<Question> = jobs.iter().filter_map(question).collect();
        let judged = |question: &Question| {
            let pair = older.get(&question.id).zip(newer.get(&question.id));
            pair.map(|pair| judge(question, pair, self.changes))
        };
        let verdict = ScenarioVerdict {
            scenario: plan.scenario.clone(),
            file: plan.file.clone(),
            jobs: questions.iter().filter_map(judged).collect(),
        };
        let controls = if self.args.controls {
            let sound = newer.into_iter().map(|(id, side)| (id, side.answer)).collect();
            controls(&plan.scenario, (&mut asked, &sound), &self.manner, self.context)
        } else {
            Vec::new()
        };
        Ok(JudgedScenario { verdict, controls, questions })
    }

    /// Asks one version twice: here, and in another process.
    fn sides(
        &self,
        file: &Path,
        plan: &Plan,
        (engine, version): (&EngineIdentity, &str),
    ) -> Result<(BTreeMap<JobId, PinSide>, PinRun), Failure> {
        let asked = PinRun::new(plan, engine, self.context)?;
        let answers: BTreeMap<JobId, Answer> = asked.ask(&self.manner, self.context);
        let second = Second::ask((file, version), engine, &self.manner, self.context);
        let sides = answers.into_iter().map(|(id, answer)| {
            let again = second.of(&id, self.manner.stop);
            (id, PinSide { answer, again })
        });
        Ok((sides.collect(), asked))
    }
}

/// Prints the verdict on stdout.
fn print_verdict(format: UpgradeFormat, verdict: &Verdict) -> Result<(), Failure> {
    match format {
        UpgradeFormat::Table => print(verdict_table(verdict)),
        UpgradeFormat::Markdown => print(verdict_markdown(verdict)),
        UpgradeFormat::Json => print(verdict_json(verdict)),
        UpgradeFormat::Junit => print(verdict_junit(verdict)),
    }
}
