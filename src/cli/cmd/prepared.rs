//! What must be known before any job starts: the plan, its traces, its golden.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{Context, Exit, Failure};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::exec::{Corpora, Engines, LoadedTrace, Reading, refusals};
use crate::gate::GoldenFile;
use crate::pin::{Registry, TracePin};
use crate::plan::{Plan, TraceInput, load_plan};
use crate::report::is_partial;
use crate::trace::{Shard, read_corpus};

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
        let golden = match golden_path(&plan) {
            Some((path, name)) => GoldenFile::read(&path, &name)?,
            None => GoldenFile::Unnamed,
        };
        let mut opened = Opened::default();
        let corpora = Corpora::load(&plan, |trace, reading| {
            let (loaded, warnings) = opened.read(&registry, trace, reading)?;
            context.report(warnings);
            context.detail(&loaded.counts.summary(&trace.pin));
            Ok(loaded)
        })?;
        Ok(Self { plan, corpora, golden, engines })
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

/// The traces that were verified and unpacked, for as long as traces are read: jobs that take other rows share the files.
#[derive(Debug, Default)]
struct Opened {
    traces: Vec<(Sha256, TracePin, Vec<Shard>)>,
}

impl Opened {
    /// Reads the rows of one trace, and what to tell of it.
    fn read(
        &mut self,
        registry: &Registry,
        trace: &TraceInput,
        reading: Reading,
    ) -> Result<(LoadedTrace, Bag), Bag> {
        let at = self.open(registry, trace)?;
        let (_, pin, shards) = &self.traces[at];
        let options = pin.options(reading.arrivals, reading.first_rows);
        let (corpus, counts) = read_corpus(shards, &options)?;
        let mut warnings = Bag::new();
        counts.warnings(&trace.pin).into_iter().for_each(|warning| warnings.push(warning));
        Ok((LoadedTrace { corpus: Arc::new(corpus), counts }, warnings))
    }

    /// Opens a trace that is not open yet and returns its place. Its pin must be the one that was planned with.
    fn open(&mut self, registry: &Registry, trace: &TraceInput) -> Result<usize, Bag> {
        if let Some(at) = self.traces.iter().position(|(known, _, _)| *known == trace.digest) {
            return Ok(at);
        }
        let pin = registry.trace(&trace.pin)?;
        let found = pin.digest();
        if found != trace.digest {
            let message = format!("the pin of trace `{}` changed while it was used", trace.pin);
            let both = format!("planned {}\nfound   {found}", trace.digest);
            return Err(Problem::new(Code::ScenarioDigestMismatch, message).help(both).into());
        }
        let shards = pin.open(registry.root())?;
        self.traces.push((trace.digest, pin, shards));
        Ok(self.traces.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ArrivalRule;

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

    fn first(rows: u64) -> Reading {
        Reading { arrivals: ArrivalRule::Required, first_rows: Some(rows) }
    }

    #[test]
    fn jobs_that_take_other_rows_of_a_trace_share_one_read_of_its_files() {
        let (root, registry) = project();
        let (trace, mut opened) = (input(&registry), Opened::default());
        assert_eq!(opened.read(&registry, &trace, first(5)).expect("read").0.counts.rows, 5);
        std::fs::remove_file(root.path().join("pins/traces/mooncake-tiny.jsonl.gz"))
            .expect("removed");
        assert_eq!(opened.read(&registry, &trace, first(7)).expect("shared").0.counts.rows, 7);
    }

    #[test]
    fn a_pin_that_changes_between_plan_and_read_is_refused() {
        let (root, registry) = project();
        let trace = input(&registry);
        let file = root.path().join("pins/traces/mooncake-tiny.kdl");
        let text = std::fs::read_to_string(&file).expect("there");
        std::fs::write(&file, text.replace("block-size 512", "block-size 256")).expect("writable");
        let found = Opened::default().read(&registry, &trace, first(5)).expect_err("refused");
        assert_eq!(found.into_sorted()[0].code(), Code::ScenarioDigestMismatch);
    }
}
