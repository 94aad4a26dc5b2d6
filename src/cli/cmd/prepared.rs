//! What must be known before any job starts: the plan, its traces, its golden.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{Context, Exit, Failure, live_environment};
use crate::diag::{Bag, Code, Problem};
use crate::exec::live::{LiveEnvironment, WirePlans, check};
use crate::exec::{Corpora, Engines, FirstRows, LoadedTrace, refusals};
use crate::gate::GoldenFile;
use crate::pin::Registry;
use crate::plan::{JobKind, Plan, TraceInput, load_plan};
use crate::replay::wire::{LoadedWire, WirePlan};
use crate::report::is_partial;
use crate::trace::{ArrivalRule, CorpusView};

/// A plan that can run, with everything that it reads.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// The jobs.
    pub(super) plan: Plan,
    /// Their traces.
    pub(super) corpora: Corpora,
    /// The golden that the scenario names.
    pub(super) golden: GoldenFile,
    /// The engines that the jobs name.
    pub(super) engines: Engines,
    /// The wire plans of live traffic.
    pub(super) wires: WirePlans,
    /// What live traffic may use of the environment.
    pub(super) environment: LiveEnvironment,
}

impl Prepared {
    /// Plans a scenario, refuses what this build cannot run, reads the golden and every trace. Warnings are reported.
    ///
    /// # Errors
    /// Everything that is wrong with any of these, before a job has started.
    pub(super) fn new(file: &Path, context: &Context) -> Result<Self, Failure> {
        refuse_partial(file)?;
        let (plan, warnings) = load_plan(file, context.root())?;
        context.report(warnings);
        Self::of_plan(plan, context)
    }

    /// As [`Prepared::new`], for a plan that is there already.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub(super) fn of_plan(plan: Plan, context: &Context) -> Result<Self, Failure> {
        let registry = Registry::open(&plan.root)?;
        let engines = Engines::of_plan(&plan, &registry)?;
        let refused = refusals(&plan, &engines);
        if refused.has_errors() {
            return Err(refused.into());
        }
        let engines = super::engines::with_runners(&plan, context)?;
        let golden = match golden_path(&plan) {
            Some((path, name)) => GoldenFile::read(&path, &name)?,
            None => GoldenFile::Unnamed,
        };
        let corpora = Corpora::load(&plan, |trace, arrivals, firsts| {
            let views = read(&registry, trace, arrivals, firsts)?;
            let loaded = views.into_iter().map(|(corpus, counts)| {
                let mut warnings = Bag::new();
                counts.warnings(&trace.pin).into_iter().for_each(|warning| warnings.push(warning));
                context.report(warnings);
                context.detail(&counts.summary(&trace.pin));
                LoadedTrace { corpus: Arc::new(corpus), counts }
            });
            Ok(loaded.collect())
        })?;
        let wires = WirePlans::load(&plan, |job| {
            let LoadedWire { plan, warnings, notes } = WirePlan::load(job, &registry)?;
            context.report(warnings);
            for note in &notes {
                context.detail(note);
            }
            Ok(plan)
        })?;
        let environment = live_environment(&plan);
        Ok(Self { plan, corpora, golden, engines, wires, environment })
    }

    /// Refuses live traffic whose client cannot be had, before anything runs.
    ///
    /// # Errors
    /// [`Code::ReplayClient`] for each replay that lacks a key or a file, at the replay.
    pub(super) fn check_live(&self) -> Result<(), Failure> {
        let mut bag = Bag::new();
        for job in &self.plan.jobs {
            let JobKind::Replay(replay) = &job.kind else { continue };
            if let Err(problem) = check(replay, &self.environment) {
                let label = "sends with it";
                bag.push(problem.label(&self.plan.source, job.places.declaration, label));
            }
        }
        if bag.is_empty() { Ok(()) } else { Err(bag.into()) }
    }

    /// Returns where runs are kept.
    pub(super) fn runs(&self) -> PathBuf {
        self.plan.root.join("runs")
    }
}

/// Refuses a part of a run where a run or a scenario is asked for: nothing can be said of it before it is merged.
///
/// # Errors
/// [`Code::RunPartial`], exit 4.
pub(super) fn refuse_partial(path: &Path) -> Result<(), Failure> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let is_part = path.is_dir() || path.file_name().is_some_and(|name| name == "partial.json");
    if !is_part || !is_partial(folder) {
        return Ok(());
    }
    let message = format!("`{}` is a part of a run: there is no verdict on it", path.display());
    let parts = folder.parent().unwrap_or(folder).display();
    let help = format!("make a run of all its parts: bench merge {parts}");
    Err(Failure::new(Exit::NoVerdict, Problem::new(Code::RunPartial, message).help(help)))
}

/// Returns where the golden of a plan is, and what people call it; `None` where the scenario names none.
pub(super) fn golden_path(plan: &Plan) -> Option<(PathBuf, String)> {
    let (path, _) = plan.golden.as_ref()?;
    Some((plan.root.join(path), path.to_string_lossy().replace('\\', "/")))
}

/// Reads the rows of one trace, whose pin must be the one that was planned with.
fn read(
    registry: &Registry,
    trace: &TraceInput,
    arrivals: ArrivalRule,
    firsts: &[FirstRows],
) -> Result<Vec<CorpusView>, Bag> {
    trace.open(registry)?.read_views(registry.root(), arrivals, firsts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::CorpusReader;

    /// A copy of this repository's tiny trace.
    fn project() -> (tempfile::TempDir, Registry) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("pins/traces");
        std::fs::create_dir_all(&folder).expect("writable");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("pins/traces");
        for file in ["mooncake-tiny.kdl", "mooncake-tiny.jsonl.gz"] {
            std::fs::copy(from.join(file), folder.join(file)).expect("copied");
        }
        let registry = Registry::open(root.path()).expect("a root");
        (root, registry)
    }

    fn input(registry: &Registry) -> TraceInput {
        let digest = registry.trace("mooncake-tiny").expect("pinned").digest();
        TraceInput { pin: "mooncake-tiny".to_owned(), digest }
    }

    #[test]
    fn jobs_that_take_other_rows_of_a_trace_share_one_read_of_its_files() {
        let (_root, registry) = project();
        let firsts = [Some(5), None, Some(7)];
        let read_as = |firsts: &[FirstRows]| {
            read(&registry, &input(&registry), ArrivalRule::Required, firsts).expect("read")
        };
        let shared = read_as(&firsts);
        for (first, (corpus, counts)) in firsts.iter().zip(&shared) {
            let (alone, alone_counts) = read_as(&[*first]).remove(0);
            assert_eq!(counts, &alone_counts, "{first:?}");
            assert_eq!(corpus.len() as u64, first.unwrap_or(alone_counts.rows));
            let (shared, alone) = (corpus.reader(), alone.reader());
            assert!(shared.rows().eq(alone.rows()), "{first:?}");
            let ids = |reader: &CorpusReader<'_>| -> Vec<Vec<u64>> {
                reader.rows().map(|row| reader.hash_ids(&row)).collect()
            };
            assert_eq!(ids(&shared), ids(&alone), "{first:?}");
        }
    }

    #[test]
    fn a_pin_that_changes_between_plan_and_read_is_refused() {
        let (root, registry) = project();
        let trace = input(&registry);
        let file = root.path().join("pins/traces/mooncake-tiny.kdl");
        let text = std::fs::read_to_string(&file).expect("there");
        std::fs::write(&file, text.replace("block-size 512", "block-size 256")).expect("writable");
        let found = read(&registry, &trace, ArrivalRule::Required, &[None]).expect_err("refused");
        assert_eq!(found.into_sorted()[0].code(), Code::ScenarioDigestMismatch);
    }
}
