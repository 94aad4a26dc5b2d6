//! Jobs: workloads × deployments × engines × axes, in the order written, the last axis fastest.

use std::sync::Arc;

use super::axis::{Side, short_names, shown};
use super::block::{Block, BlockAxis};
use super::doubt::{Case, Ledger};
use super::inputs::{Inputs, MissingPin, kv_parallelisms};
use super::live;
use super::load::empty;
use super::lookup::{ScenarioPins, unresolved};
use super::pools::{pools, timing_digest};
use super::served;
use super::source;
use super::{
    Alone, EngineIdentity, Job, JobId, JobKind, LiveGate, Origin, Places, PlannedBlock, PoolInputs,
    ReplayJob, SimulationJob, TraceInput,
};
use crate::deployment::Deployment;
use crate::diag::{Bag, Code, Problem, Span};
use crate::scenario::decode;
use crate::scenario::model::{Declared, PinKind, Replay, Scenario, Used};
use crate::scenario::syntax::{Node, Place, Value};
use crate::workload::{Source, Workload};

/// What a scenario expands to.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    /// The jobs.
    pub(super) jobs: Vec<Job>,
    /// The jobs of each `simulate`.
    pub(super) blocks: Vec<PlannedBlock>,
    /// Each simulation job as a scenario of its own, where that was asked for.
    pub(super) alone: Vec<Alone>,
}

/// Whether each job is written as a scenario of its own as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It is not.
    Jobs,
    /// It is.
    JobsAlone,
}

/// Impossible combinations that are complained of at the most; the rest is like them.
const MOST_REFUSALS: usize = 20;

/// Expands a scenario. Nothing is expanded where a value is wrong already: the jobs would only repeat it.
pub(super) fn jobs(
    scenario: &Scenario,
    inputs: &Inputs,
    form: Form,
    findings: &mut Bag,
) -> Expansion {
    let paths = axis_paths(scenario);
    let names = short_names(&paths);
    let blocks: Vec<Option<Block<'_>>> = scenario
        .simulations
        .iter()
        .map(|block| Block::new(block, scenario, &paths, &names, findings))
        .collect();
    let mut expansion = Expansion::default();
    if scenario.simulations.is_empty() && scenario.replays.is_empty() {
        findings.push(empty(scenario, "it has no `simulate` and no `replay`"));
    }
    if findings.has_errors() {
        return expansion;
    }
    for block in blocks.into_iter().flatten() {
        let first = expansion.jobs.len();
        let mut run = Run {
            scenario,
            inputs,
            block: &block,
            jobs: &mut expansion.jobs,
            alone: (form == Form::JobsAlone).then_some(&mut expansion.alone),
            refusals: Vec::new(),
            doubts: Ledger::default(),
            origins: Vec::new(),
        };
        run.expand();
        for problem in run.refusals.into_iter().chain(run.doubts.into_problems()) {
            findings.extend_new(problem.into());
        }
        expansion.blocks.push(PlannedBlock {
            name: block.stated.name.clone(),
            jobs: first..expansion.jobs.len(),
            batch: block.stated.batch,
        });
        block.idle_excludes(findings);
    }
    for replay in &scenario.replays {
        replay_jobs(scenario, replay, inputs, &mut expansion.jobs, findings);
    }
    if expansion.jobs.is_empty() && !findings.has_errors() {
        findings.push(empty(scenario, "`exclude` drops every combination"));
    }
    for (index, job) in expansion.jobs.iter_mut().enumerate() {
        job.index = index;
    }
    expansion
}

/// Returns every axis path of the scenario once, in the order written.
fn axis_paths(scenario: &Scenario) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    let groups = scenario.simulations.iter().flat_map(|block| &block.axes);
    for axis in groups.flat_map(|group| &group.axes) {
        if !paths.contains(&axis.path.as_str()) {
            paths.push(&axis.path);
        }
    }
    paths
}

/// The expansion of one block.
struct Run<'r, 's> {
    scenario: &'s Scenario,
    inputs: &'r Inputs,
    block: &'r Block<'s>,
    jobs: &'r mut Vec<Job>,
    alone: Option<&'r mut Vec<Alone>>,
    refusals: Vec<Problem>,
    doubts: Ledger,
    /// What jobs were planned from, by the names of workload and deployment.
    origins: Vec<((String, String), Arc<Origin>)>,
}

impl Run<'_, '_> {
    /// Expands every combination, the last coordinate fastest.
    fn expand(&mut self) {
        let sizes = self.block.sizes();
        let mut index = vec![0; sizes.len()];
        loop {
            if !self.block.is_excluded(&index) {
                self.combination(&index);
            }
            if self.refusals.len() >= MOST_REFUSALS {
                return;
            }
            let Some(at) = (0..sizes.len()).rev().find(|at| index[*at] + 1 < sizes[*at]) else {
                return;
            };
            index[at] += 1;
            index[at + 1..].fill(0);
        }
    }

    /// Adds the job of one combination, or says why there is none.
    fn combination(&mut self, index: &[usize]) {
        let (workload, deployment) =
            (self.block.workloads[index[0]], self.block.deployments[index[1]]);
        let engine = &self.block.stated.engines[index[2]];
        let asked = self.decode(workload, Side::Workload, &index[3..], decode::workload);
        let serving = self.decode(deployment, Side::Deployment, &index[3..], decode::deployment);
        let (Some(asked), Some(serving)) = (asked, serving) else { return };
        if let Some(problem) = source::misfit(&asked, &workload.node, self.inputs) {
            self.refusals.push(problem);
            return;
        }
        if let Some(why) = too_short(&asked, self.inputs) {
            let node = self.varied(workload, Side::Workload, &index[3..]);
            self.refusals.extend(node.map(|node| short_trace(&node, &why)));
            return;
        }
        let Some(identity) = self.inputs.engine(&engine.name) else { return };
        let Some(pools) = self.pools(&serving, deployment, &index[3..]) else { return };
        let tables: Vec<String> =
            pools.iter().filter_map(|pool| Some(pool.table.as_ref()?.name.clone())).collect();
        let Some(kind) = self.job(asked, serving, (identity, pools)) else { return };
        let origin = self.origin(workload, deployment);
        if let Some(model) = self.inputs.model(&kind.deployment.model) {
            let timings = self.inputs.timings();
            let case = Case { job: &kind, model, timings, origin: &origin };
            self.doubts.note((&workload.name, &deployment.name), &case);
        }
        let places = Places {
            origin: Some(origin),
            declaration: self.block.stated.place.span(),
            workload: workload.stated.span(),
            deployment: deployment.stated.span(),
            engine: self
                .scenario
                .pins
                .engine(&engine.name)
                .map_or_else(Span::default, |pin| pin.place.span()),
        };
        let id = self.id(index);
        self.write_alone((workload, deployment, engine), &index[3..], &tables);
        self.jobs.push(Job { index: 0, id, kind: JobKind::Simulation(Box::new(kind)), places });
    }

    /// Returns the declarations of a combination with the axes of the block: those of the job before, where they are the same.
    fn origin(&mut self, workload: &Declared, deployment: &Declared) -> Arc<Origin> {
        let names = (workload.name.clone(), deployment.name.clone());
        let known = self.origins.iter().find(|(known, _)| *known == names);
        if let Some((_, origin)) = known {
            return Arc::clone(origin);
        }
        let axes = self.block.axes.iter().map(|axis| {
            let axis = axis.axis;
            (axis.path.clone(), axis.place.clone())
        });
        let origin = Arc::new(Origin {
            workload: workload.node.clone(),
            deployment: deployment.node.clone(),
            axes: axes.collect(),
        });
        self.origins.push((names, Arc::clone(&origin)));
        origin
    }

    /// Writes the job of a combination as a scenario of its own, where that was asked for.
    fn write_alone(
        &mut self,
        (workload, deployment, engine): (&Declared, &Declared, &Used),
        values: &[usize],
        tables: &[String],
    ) {
        if self.alone.is_none() {
            return;
        }
        let nodes = (
            self.varied(workload, Side::Workload, values),
            self.varied(deployment, Side::Deployment, values),
        );
        let (Some(workload), Some(deployment)) = nodes else { return }; // it was complained of
        let sla = self.block.stated.sla_node.as_ref();
        let named = (&workload, &deployment, engine.name.as_str());
        let folder = self.inputs.engine_folder(&engine.name).unwrap_or(&engine.name);
        let alone = Alone::new(self.scenario, named, (folder, tables), sla);
        if let Some(all) = self.alone.as_deref_mut() {
            all.push(alone);
        }
    }

    /// Returns what the pins say of each pool; `None` where they lack something, which is complained of at the worker.
    fn pools(
        &mut self,
        deployment: &Deployment,
        declared: &Declared,
        values: &[usize],
    ) -> Option<Vec<PoolInputs>> {
        let model = self.inputs.model(&deployment.model)?;
        self.inputs.hardware(&deployment.hardware)?;
        let source = ScenarioPins { model, inputs: self.inputs, file: self.scenario.source.name() };
        match pools(deployment, &source) {
            Ok(pools) => Some(pools),
            Err(lacking) => {
                let node = self.varied(declared, Side::Deployment, values)?;
                let refused = lacking.iter().map(|(role, lack)| unresolved(&node, *role, lack));
                self.refusals.extend(refused);
                None
            }
        }
    }

    /// Returns the job; `None` where a pin is not there, which was complained of.
    fn job(
        &self,
        workload: Workload,
        deployment: Deployment,
        (engine, pools): (&EngineIdentity, Vec<PoolInputs>),
    ) -> Option<SimulationJob> {
        let model = self.inputs.model(&deployment.model)?;
        let (prefill, decode) = kv_parallelisms(&deployment.workers);
        Some(SimulationJob {
            seed: self.scenario.seed,
            trace: trace(&workload, self.inputs).ok()?,
            model_digest: model.digest(),
            model_context_limit: model.context_limit().get(),
            model_kv_bytes_per_token: model.kv_bytes_per_token(decode),
            model_prefill_kv_bytes_per_token: model.kv_bytes_per_token(prefill),
            hardware_digest: self.inputs.digest(PinKind::Hardware, &deployment.hardware)?,
            timing_digest: timing_digest(&pools),
            pools,
            engine: engine.clone(),
            sla: self.block.stated.sla,
            workload,
            deployment,
        })
    }

    /// Decodes a declaration with the values of the axes that change it.
    fn decode<T>(
        &mut self,
        declared: &Declared,
        side: Side,
        values: &[usize],
        decode: fn(&Node, &mut Bag) -> Option<T>,
    ) -> Option<T> {
        let axes = self.block.axes.iter().filter(|axis| axis.target.side == side);
        let mut node = declared.node.clone();
        let mut set: Vec<(&BlockAxis<'_>, &Value)> = Vec::new();
        for axis in axes {
            let value = &axis.axis.values[values[axis.group]];
            if let Err(problem) = axis.target.set(&mut node, axis.axis, value) {
                self.refusals.push(problem);
                return None;
            }
            set.push((axis, value));
        }
        let mut bag = Bag::new();
        let decoded = decode(&node, &mut bag);
        if !bag.has_errors() {
            return decoded;
        }
        let refused: Vec<Problem> =
            bag.into_sorted().iter().map(|problem| impossible(problem, &set)).collect();
        self.refusals.extend(refused);
        None
    }

    /// Returns a declaration with the values of the axes that change it, which were put there before without complaint.
    fn varied(&self, declared: &Declared, side: Side, values: &[usize]) -> Option<Node> {
        let mut node = declared.node.clone();
        for axis in self.block.axes.iter().filter(|axis| axis.target.side == side) {
            axis.target.set(&mut node, axis.axis, &axis.axis.values[values[axis.group]]).ok()?;
        }
        Some(node)
    }

    /// Returns the readable name of a combination.
    fn id(&self, index: &[usize]) -> JobId {
        let block = self.block;
        let (workload, deployment) =
            (&block.workloads[index[0]].name, &block.deployments[index[1]].name);
        let engine = &block.stated.engines[index[2]].name;
        let mut id = format!("{}/{workload}/{deployment}/{engine}", block.stated.name);
        for (position, axis) in block.axes.iter().enumerate() {
            id.push(if position == 0 { '/' } else { ',' });
            id.push_str(&axis.name);
            id.push('=');
            id.push_str(&shown(&axis.axis.values[index[3 + axis.group]]));
        }
        JobId::new(id)
    }
}

/// Says whether a workload asks for more requests than its trace holds; a selection may use entries again.
fn too_short(workload: &Workload, inputs: &Inputs) -> Option<String> {
    let (Source::Trace { pin }, None) = (&workload.source, workload.select) else { return None };
    let asked = workload.stop.count?.resolve(&workload.load)?;
    let rows = inputs.trace(pin)?.rows?;
    (asked > rows).then(|| format!("{asked} requests are asked of trace `{pin}`, which has {rows}"))
}

/// Returns the problem of a trace that is too short, at the count of the workload's `stop`.
fn short_trace(workload: &Node, why: &str) -> Problem {
    let stop = workload.children.iter().find(|child| child.name.text == "stop");
    let counts = |name: &str| name.starts_with("requests");
    let count = stop.and_then(|stop| stop.props.iter().find(|prop| counts(&prop.name.text)));
    let place = count.map_or_else(|| workload.head(), |count| count.value.place.clone());
    let problem = place.problem(Code::ScenarioTraceTooShort, why, "more than there are");
    problem.help("ask for fewer; without a count all of them run")
}

/// Returns the problem of a value that its place refuses, at the value.
fn impossible(problem: &Problem, set: &[(&BlockAxis<'_>, &Value)]) -> Problem {
    let here = problem.labels().first().map(|label| label.span);
    let is_at = |place: &Place| {
        Some(place.span()) == here
            && problem.source_file().is_some_and(|file| file.name() == place.source().name())
    };
    let at = set.iter().find(|(_, value)| is_at(&value.place)).or_else(|| set.last());
    let Some((axis, value)) = at else { return problem.clone() };
    let message = format!("`{}` cannot be `{}`: {}", axis.name, shown(value), problem.message());
    let label = if is_at(&value.place) {
        problem.labels().first().map_or("impossible", |label| &label.text)
    } else {
        "impossible with this"
    };
    let mut refused = value.place.problem(Code::ScenarioVaryValue, message, label);
    if let Some(help) = problem.help_text() {
        refused = refused.help(help);
    }
    match (problem.source_file(), problem.labels().first()) {
        (Some(source), Some(label)) if !is_at(&value.place) => {
            Place::new(source, label.span).also(refused, &label.text)
        }
        _ => refused,
    }
}

/// Returns the trace of a workload that has one.
fn trace(workload: &Workload, inputs: &Inputs) -> Result<Option<TraceInput>, MissingPin> {
    match &workload.source {
        Source::Trace { pin } | Source::Graph { pin, .. } => {
            let digest = inputs.digest(PinKind::Trace, pin).ok_or(MissingPin)?;
            Ok(Some(TraceInput { pin: pin.clone(), digest }))
        }
        Source::Synthetic(_) | Source::SyntheticSession(_) | Source::Requests(_) => Ok(None),
    }
}

/// Adds the jobs of a replay: one a workload.
fn replay_jobs(
    scenario: &Scenario,
    replay: &Replay,
    inputs: &Inputs,
    jobs: &mut Vec<Job>,
    findings: &mut Bag,
) {
    for name in &replay.workloads {
        let found = scenario.workloads.iter().find(|one| one.name == name.name);
        let Some(declared) = found else { continue }; // complained of when names were resolved
        let Some(workload) = decode::workload(&declared.node, &mut Bag::new()) else { continue }; // likewise
        let Ok(trace) = trace(&workload, inputs) else { continue }; // likewise
        if let Some(problem) = source::misfit(&workload, &declared.node, inputs) {
            findings.extend_new(problem.into());
            continue;
        }
        if let Some(why) = too_short(&workload, inputs) {
            findings.extend_new(short_trace(&declared.node, &why).into());
            continue;
        }
        let misfits = live::misfits(replay, (name, &declared.node), &workload);
        if !misfits.is_empty() {
            for problem in misfits {
                findings.extend_new(problem.into());
            }
            continue;
        }
        let settings = replay.settings.clone();
        let gate = live_gate(scenario, &replay.name);
        let served_by = match served::by((scenario, inputs), replay, findings) {
            Ok(served_by) => served_by.map(Box::new),
            Err(served::Refused) => continue, // it was complained of
        };
        let kind = ReplayJob { seed: scenario.seed, workload, trace, settings, served_by, gate };
        let places = Places {
            declaration: replay.place.span(),
            workload: declared.stated.span(),
            deployment: replay.place.span(),
            engine: replay.place.span(),
            ..Places::default()
        };
        let id = JobId::new(format!("{}/{}", replay.name, name.name));
        jobs.push(Job { index: 0, id, kind: JobKind::Replay(Box::new(kind)), places });
    }
}

/// Returns what the measurements of a replay are held to.
fn live_gate(scenario: &Scenario, replay: &str) -> Option<LiveGate> {
    let (used, bounds) = scenario.gate.live.iter().find(|(used, _)| used.name == replay)?;
    Some(LiveGate { bounds: bounds.clone(), place: used.place.span() })
}
