//! What must be known before any job starts: the plan, its traces, its golden.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{Context, Failure};
use crate::diag::Bag;
use crate::exec::{Corpora, LoadedTrace, Native, Reading, refusals};
use crate::gate::GoldenFile;
use crate::pin::Registry;
use crate::plan::{Plan, TraceInput, load_plan};

/// A plan that can run, with everything that it reads.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The jobs.
    pub(super) plan: Plan,
    /// Their traces.
    pub(super) corpora: Corpora,
    /// The golden that the scenario names.
    pub(super) golden: GoldenFile,
}

impl Prepared {
    /// Plans a scenario, refuses what this build cannot run, reads the golden and every trace. Warnings are reported.
    ///
    /// # Errors
    /// Everything that is wrong with any of these, before a job has started.
    pub(super) fn new(file: &Path, context: &Context) -> Result<Self, Failure> {
        let (plan, warnings) = load_plan(file, context.root())?;
        context.report(warnings);
        Self::of_plan(plan, context)
    }

    /// As [`Prepared::new`], for a plan that is there already.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub(super) fn of_plan(plan: Plan, context: &Context) -> Result<Self, Failure> {
        let refused = refusals(&plan, &Native);
        if refused.has_errors() {
            return Err(refused.into());
        }
        let golden = match golden_path(&plan) {
            Some((path, name)) => GoldenFile::read(&path, &name)?,
            None => GoldenFile::Unnamed,
        };
        let registry = Registry::open(&plan.root)?;
        let corpora = Corpora::load(&plan, |trace, reading| {
            let (loaded, warnings) = read_trace(&registry, trace, reading)?;
            context.report(warnings);
            context.detail(&loaded.counts.summary(&trace.pin));
            Ok(loaded)
        })?;
        Ok(Self { plan, corpora, golden })
    }

    /// Returns where runs are kept.
    pub(super) fn runs(&self) -> PathBuf {
        self.plan.root.join("runs")
    }
}

/// Returns where the golden of a plan is, and what people call it; `None` where the scenario names none.
pub(super) fn golden_path(plan: &Plan) -> Option<(PathBuf, String)> {
    let (path, _) = plan.golden.as_ref()?;
    Some((plan.root.join(path), path.to_string_lossy().replace('\\', "/")))
}

/// Reads one trace, and what to tell of it.
fn read_trace(
    registry: &Registry,
    trace: &TraceInput,
    reading: Reading,
) -> Result<(LoadedTrace, Bag), Bag> {
    let pin = registry.trace(&trace.pin)?;
    let (corpus, counts) = pin.read(registry.root(), reading.arrivals, reading.first_rows)?;
    let mut warnings = Bag::new();
    counts.warnings(&trace.pin).into_iter().for_each(|warning| warnings.push(warning));
    Ok((LoadedTrace { corpus: Arc::new(corpus), counts }, warnings))
}
