//! A plan as data for build derivations: batches of jobs, and what assembling their results reads.
//!
//! Checked in and compared by continuous integration, so there is nothing of this machine in it.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::{Batch, BatchInput, BatchJob};
use super::plan::digest_of_jobs;
use super::{Alone, Job, JobKind, Plan};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::digest::canonical::{Value, object};
use crate::pin::{PinKind, Registry};
use crate::workload::live::TokenCounter;

/// The schema of a plan for build derivations.
pub const NIX_SCHEMA: &str = "touchstone.nix-plan/1";

/// The longest name of a batch before its digest: stores take about two hundred bytes, and add to them.
const LONGEST_NAME: usize = 100;

/// Returns a plan as data: each batch with its inputs, and the files that assembling reads.
///
/// Batches are of simulations: what derivations measure would be nobody's. Live traffic is planned where the results are assembled, so
/// that its report and its gate are there as well.
///
/// `alone` holds each simulation job as a scenario of its own, in the plan's order.
///
/// # Errors
/// [`Code::PlanUnsupported`] for a plan of live replays alone, [`Code::BatchInput`] for a file that cannot be read or lies outside of the root.
pub fn nix_plan(plan: &Plan, alone: &[Alone]) -> Result<Value, Bag> {
    let mut files = Files { registry: Registry::open(&plan.root)?, known: BTreeMap::new() };
    let batches = batches(plan, alone, &mut files)?;
    let batches = batches.iter().map(Batch::value).collect();
    let paths = assembly_paths(plan, &mut files)?.into_iter().map(Value::Text).collect();
    let assemble = object([("file", Value::text(&plan.file)), ("paths", Value::List(paths))]);
    Ok(object([
        ("assemble", assemble),
        ("batches", Value::List(batches)),
        ("scenario", Value::text(&plan.scenario)),
        ("schema", Value::text(NIX_SCHEMA)),
    ]))
}

/// Returns the batches of a plan, in its order.
fn batches(plan: &Plan, alone: &[Alone], files: &mut Files) -> Result<Vec<Batch>, Bag> {
    if let (true, Some(replay)) = (plan.blocks.is_empty(), plan.jobs.first()) {
        let message = format!(
            "job `{}` is live traffic like all of this plan, and no derivation measures",
            replay.id
        );
        let problem = Problem::new(Code::PlanUnsupported, message);
        let at = replay.places.declaration;
        return Err(problem.label(&plan.source, at, "live traffic").into());
    }
    let batches = planned_batches(plan);
    let batches = batches.map(|(name, jobs)| {
        let first = jobs.first().map_or(0, |job| job.index);
        batch(name, (jobs, &alone[first..first + jobs.len()]), files)
    });
    batches.collect()
}

/// Returns the jobs of each batch of a plan, with the batch's name.
pub fn planned_batches(plan: &Plan) -> impl Iterator<Item = (String, &[Job])> {
    plan.blocks.iter().flat_map(|block| {
        let size = usize::try_from(block.batch).unwrap_or(usize::MAX);
        let chunks = plan.jobs[block.jobs.clone()].chunks(size);
        chunks.map(|jobs| (batch_name(&block.name, jobs), jobs))
    })
}

/// Returns the batch of some jobs of a block.
fn batch(name: String, (jobs, alone): (&[Job], &[Alone]), files: &mut Files) -> Result<Batch, Bag> {
    let mut inputs = BTreeSet::new();
    for (kind, name) in alone.iter().flat_map(|alone| &alone.pins) {
        inputs.extend(files.of(*kind, name)?.iter().cloned());
    }
    let job = |(job, alone): (&Job, &Alone)| BatchJob {
        id: job.id.clone(),
        key: job.key(),
        scenario: alone.text.clone(),
    };
    let jobs = jobs.iter().zip(alone).map(job).collect();
    Ok(Batch { name, inputs: inputs.into_iter().collect(), jobs })
}

/// Returns the name of a batch: that of its block in letters that a store takes, and the digest of its ids and keys. A batch that
/// stays as it is keeps its name, wherever it moves in the plan.
fn batch_name(block: &str, jobs: &[Job]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_+=".contains(c) { c } else { '-' };
    let block: String = block.chars().map(plain).take(LONGEST_NAME).collect();
    format!("{block}-{}", digest_of_jobs(jobs).short())
}

/// Returns what assembling reads, sorted: the scenario, what it includes, its pins without the rows of traces, which planning
/// simulations does not read, the recordings of live traffic, and its golden where it has one.
fn assembly_paths(plan: &Plan, files: &mut Files) -> Result<BTreeSet<String>, Bag> {
    if !plan.root.join(&plan.file).is_file() {
        let message = format!("`{}` lies outside of the project root", plan.source.name());
        let help = "a derivation sees the project alone; move the scenario below the folder that holds `pins/`";
        return Err(Problem::new(Code::BatchInput, message).help(help).into());
    }
    let mut paths = BTreeSet::from([plan.file.clone()]);
    paths.extend(plan.includes.iter().map(|(path, _)| path.clone()));
    for pin in &plan.pins {
        let kind = PinKind::ALL.iter().copied().find(|kind| kind.name() == pin.kind);
        let Some(kind) = kind else { continue }; // every planned pin is of a kind
        paths.insert(kind.file(&pin.name));
        if kind != PinKind::Trace {
            paths.extend(files.of(kind, &pin.name)?.iter().map(|input| input.path.clone()));
        }
    }
    for job in &plan.jobs {
        let JobKind::Replay(replay) = &job.kind else { continue };
        if let Some(trace) = &replay.trace {
            let read = files.of(PinKind::Trace, &trace.pin)?;
            paths.extend(read.iter().map(|input| input.path.clone()));
        }
        if let TokenCounter::File { path, .. } = &replay.settings.tokens {
            paths.insert(path.clone());
        }
    }
    let golden = plan.golden.iter().map(|(path, _)| path.to_string_lossy().replace('\\', "/"));
    paths.extend(golden.filter(|path| plan.root.join(path).is_file()));
    Ok(paths)
}

/// The files of pins, each read once.
struct Files {
    registry: Registry,
    known: BTreeMap<(PinKind, String), Vec<BatchInput>>,
}

impl Files {
    /// Returns the files of a pin: its own, and those beside it that it names.
    fn of(&mut self, kind: PinKind, name: &str) -> Result<&[BatchInput], Bag> {
        let key = (kind, name.to_owned());
        if !self.known.contains_key(&key) {
            let found = self.read(kind, name)?;
            self.known.insert(key.clone(), found);
        }
        Ok(&self.known[&key])
    }

    /// Reads a pin.
    fn read(&self, kind: PinKind, name: &str) -> Result<Vec<BatchInput>, Bag> {
        let path = kind.file(name);
        let bytes = std::fs::read(self.registry.root().join(&path)).map_err(|error| {
            Problem::new(Code::BatchInput, format!("cannot read the pin `{path}`: {error}"))
        })?;
        let pin = self.registry.pin(kind, name)?;
        let own = BatchInput { path, sha256: Sha256::of(&bytes) };
        let beside = pin.files().iter();
        let beside = beside.map(|file| BatchInput { path: file.path.clone(), sha256: file.sha256 });
        Ok(std::iter::once(own).chain(beside).collect())
    }
}
