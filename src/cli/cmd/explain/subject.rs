//! A side of an explanation: a run, a golden, or a scenario under an engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::args::ExplainArgs;
use crate::cli::cmd::prepared::refuse_partial;
use crate::cli::cmd::same_version::refuse_same_version;
use crate::cli::{Context, Failure};
use crate::diag::{self, Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;
use crate::digest::canonical::Value;
use crate::exec::{Engines, Executor};
use crate::gate::{Golden, KnownRuns, Side, SideJob};
use crate::pin::Registry;
use crate::plan::{Compat, EngineIdentity, Job, JobId, JobKind, Plan, load_plan};
use crate::report::parse_json;
use crate::scenario::{self, project_root, syntax};

/// A side of an explanation.
#[derive(Debug)]
pub(super) struct Subject {
    /// What people call it.
    pub(super) name: String,
    /// The metric definitions of what was recorded.
    pub(super) definition: Option<String>,
    /// Its jobs.
    pub(super) jobs: Vec<SubjectJob>,
    /// What its jobs are run from, where that is known; else why it is not.
    pub(super) plan: Result<Plan, String>,
    /// Earlier runs at hand.
    pub(super) known: KnownRuns,
}

/// A job of a side.
#[derive(Debug)]
pub(super) struct SubjectJob {
    /// Its name.
    pub(super) id: JobId,
    /// What was recorded of it; `None` for a job that is run now.
    pub(super) recorded: Option<SideJob>,
    /// The job itself, where a plan has one with the recorded key.
    pub(super) job: Option<Job>,
    /// Why its engine cannot run it.
    pub(super) refused: Option<String>,
}

impl Subject {
    /// Returns both sides of an explanation.
    ///
    /// # Errors
    /// What is wrong with a path, a scenario or a version.
    pub(super) fn both(args: &ExplainArgs, context: &Context) -> Result<(Self, Self), Failure> {
        if let Some((from, to)) = args.from.as_ref().zip(args.to.as_ref()) {
            let plan = plan_of(&args.left, context)?;
            let registry = Registry::open(&plan.root)?;
            let find = |version: &str| EngineIdentity::find(&registry, &args.engine, version);
            let (from, to) = (find(from)?, find(to)?);
            refuse_same_version((&from, &to), &registry, ["--from", "--to"])?;
            let under = |engine: &EngineIdentity| {
                Self::fresh(engine.shown_version().to_owned(), plan.under(engine))
            };
            return Ok((under(&from)?, under(&to)?));
        }
        match &args.right {
            Some(right) => {
                Ok((Self::read(&args.left, args, context)?, Self::read(right, args, context)?))
            }
            None => golden_and_run(args, context),
        }
    }

    /// Returns what a path names.
    fn read(path: &Path, args: &ExplainArgs, context: &Context) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if path.extension().is_none_or(|extension| extension != "kdl") {
            return Self::of_run(path, args, context);
        }
        let bytes = std::fs::read(path).map_err(|error| {
            let message = format!("cannot read `{name}`: {error}");
            Problem::new(Code::RunUnreadable, message)
                .help("give a run folder, a golden or a scenario")
        })?;
        let text = diag::utf8(Code::RunUnreadable, &name, bytes)?;
        let source = SourceFile::new(&name, &text);
        let document = syntax::parse(&source)?;
        if document.nodes.iter().any(|node| node.name.text == "golden") {
            let golden = Golden::parse(&source)?;
            return Self::of_golden((name, golden), path, args, context);
        }
        Ok(Self::fresh(name, plan_of(path, context)?)?)
    }

    /// Returns a scenario that is run now.
    fn fresh(name: String, plan: Plan) -> Result<Self, Bag> {
        let registry = Registry::open(&plan.root)?;
        let engines = Engines::of_plan(&plan, &registry)?;
        let mut seen = Vec::new();
        let mut jobs = Vec::with_capacity(plan.jobs.len());
        for job in &plan.jobs {
            // Under one engine, jobs that differed in nothing but their engines are one.
            if seen.contains(&job.key()) {
                continue;
            }
            seen.push(job.key());
            let refused = refusal(job, &engines);
            let (id, job) = (job.id.clone(), Some(job.clone()));
            jobs.push(SubjectJob { id, recorded: None, job, refused });
        }
        Ok(Self { name, definition: None, jobs, plan: Ok(plan), known: KnownRuns::default() })
    }

    /// Returns a run folder.
    fn of_run(path: &Path, args: &ExplainArgs, context: &Context) -> Result<Self, Failure> {
        refuse_partial(path)?;
        let side = Side::read(path)?;
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let plan = match &args.scenario {
            Some(file) => Ok(plan_of(file, context)?),
            None => plan_of_run(folder, context),
        };
        Ok(Self::recorded(side, plan, KnownRuns::default()))
    }

    /// Returns a golden.
    fn of_golden(
        (name, golden): (String, Golden),
        path: &Path,
        args: &ExplainArgs,
        context: &Context,
    ) -> Result<Self, Failure> {
        let plan = match &args.scenario {
            Some(file) => Ok(plan_of(file, context)?),
            None => plan_of_golden(&golden, path, context),
        };
        let runs = plan.as_ref().ok().map(|plan| plan.root.join("runs"));
        let known = runs.map(|runs| KnownRuns::of(&runs, &golden.scenario)).unwrap_or_default();
        Ok(Self::recorded(Side::of_golden(name, golden), plan, known))
    }

    /// Returns what was recorded, with the jobs that a plan still has.
    fn recorded(side: Side, plan: Result<Plan, String>, known: KnownRuns) -> Self {
        let keyed = plan.as_ref().map(by_key).unwrap_or_default();
        let job = |recorded: SideJob| {
            let job = recorded.key.and_then(|key| keyed.get(&key).cloned());
            let (id, refused) = (recorded.id.clone(), None);
            SubjectJob { id, recorded: Some(recorded), job, refused }
        };
        let jobs = side.jobs.into_iter().map(job).collect();
        Self { name: side.name, definition: side.definition, jobs, plan, known }
    }
}

/// Returns the golden that a scenario names, and a run of the scenario.
fn golden_and_run(args: &ExplainArgs, context: &Context) -> Result<(Subject, Subject), Failure> {
    let file = &args.left;
    let is_scenario = file.extension().is_some_and(|extension| extension == "kdl");
    let name = file.display();
    if !is_scenario {
        let message = format!("`{name}` alone is held against nothing");
        let help =
            format!("bench explain {name} B, where B is a run folder, a golden or a scenario");
        return Err(Problem::new(Code::ExplainAlone, message).help(help).into());
    }
    let plan = plan_of(file, context)?;
    let Some((golden, _)) = &plan.golden else {
        let message = format!("scenario `{name}` names no golden to hold a run against");
        let help = format!(
            "bench explain {name} --from VERSION --to VERSION, or bench explain {name} RUN"
        );
        return Err(Problem::new(Code::ExplainAlone, message).help(help).into());
    };
    let with_scenario = ExplainArgs { scenario: Some(file.clone()), ..args.clone() };
    let left = Subject::read(&plan.root.join(golden), &with_scenario, context)?;
    let left = Subject { name: golden.to_string_lossy().replace('\\', "/"), ..left };
    Ok((left, Subject::fresh("this program".to_owned(), plan)?))
}

/// Returns why the engine of a job cannot run it.
fn refusal(job: &Job, engines: &Engines) -> Option<String> {
    match &job.kind {
        JobKind::Simulation(simulation) => {
            let lacking = engines.unsupported(simulation);
            let reasons: Vec<String> = lacking.iter().map(ToString::to_string).collect();
            (!reasons.is_empty()).then(|| reasons.join("; "))
        }
        JobKind::Replay(_) => Some("live traffic is measured, not simulated".to_owned()),
    }
}

/// Returns the jobs of a plan by key, as planned and under each behaviour of the native simulator.
fn by_key(plan: &Plan) -> BTreeMap<Sha256, Job> {
    let mut keyed = BTreeMap::new();
    let natives = Compat::ALL.iter().map(|compat| plan.under(&EngineIdentity::native(*compat)));
    for job in natives.chain([plan.clone()]).flat_map(|plan| plan.jobs) {
        keyed.insert(*job.key().digest(), job);
    }
    keyed
}

/// Plans a scenario; its warnings are reported.
fn plan_of(file: &Path, context: &Context) -> Result<Plan, Failure> {
    refuse_partial(file)?;
    let (plan, warnings) = load_plan(file, context.root())?;
    context.report(warnings);
    Ok(plan)
}

/// Plans the scenario that a run's provenance names, or says why that cannot be.
fn plan_of_run(folder: &Path, context: &Context) -> Result<Plan, String> {
    let root = root_of(folder, context)?;
    let provenance = folder.join("provenance.json");
    let shown = provenance.display();
    let bytes = std::fs::read(&provenance).map_err(|error| format!("{shown}: {error}"))?;
    let value = parse_json(&bytes).map_err(|error| format!("{shown}: {error}"))?;
    let file = scenario_named(&value).ok_or_else(|| format!("{shown} names no scenario"))?;
    quietly(&root.join(file), &root)
}

/// Returns the scenario that a provenance names: the first of what the run depended on.
fn scenario_named(provenance: &Value) -> Option<&str> {
    let Value::Object(statement) = provenance else { return None };
    let Value::Object(predicate) = statement.get("predicate")? else { return None };
    let Value::Object(definition) = predicate.get("buildDefinition")? else { return None };
    let Value::List(dependencies) = definition.get("resolvedDependencies")? else { return None };
    let Value::Object(first) = dependencies.first()? else { return None };
    let Value::Text(name) = first.get("name")? else { return None };
    Some(name)
}

/// Plans the scenario of a golden: the one of `scenarios/` that has its name, or says why there is none.
fn plan_of_golden(golden: &Golden, path: &Path, context: &Context) -> Result<Plan, String> {
    let root = root_of(path, context)?;
    let folder = root.join("scenarios");
    let entries = std::fs::read_dir(&folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_kdl(path)).collect();
    files.sort();
    let has_name = |file: &PathBuf| {
        scenario::load(file).scenario.is_some_and(|scenario| scenario.name == golden.scenario)
    };
    let found = files.into_iter().find(has_name);
    let found = found.ok_or_else(|| {
        format!("no scenario in `{}` is called `{}`", folder.display(), golden.scenario)
    })?;
    quietly(&found, &root)
}

fn is_kdl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "kdl")
}

/// Returns the project root of a run or a golden.
fn root_of(path: &Path, context: &Context) -> Result<PathBuf, String> {
    match context.root() {
        Some(root) => Ok(root.to_path_buf()),
        None => project_root(path).map_err(|problem| problem.message().to_owned()),
    }
}

/// Plans a scenario that nobody asked for by name: what is wrong with it is told in a sentence.
fn quietly(file: &Path, root: &Path) -> Result<Plan, String> {
    let planned = load_plan(file, Some(root));
    planned.map(|(plan, _)| plan).map_err(|findings| {
        let first = findings.into_sorted().into_iter().next();
        let why = first.map_or_else(String::new, |problem| format!(": {}", problem.message()));
        format!("`{}` does not plan{why}", file.display())
    })
}
