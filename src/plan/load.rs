//! From a scenario file to a plan: the one way in for every command.

use std::path::{Path, PathBuf};

use super::expand::Expansion;
use super::inputs::Inputs;
use super::{Plan, expand, files};
use crate::diag::{Bag, Code, Problem};
use crate::digest::Sha256;
use crate::pin::Registry;
use crate::scenario::model::Scenario;
use crate::scenario::{self, project_root};

/// Reads a scenario, resolves its pins and expands it into jobs.
///
/// `root` is the project root that `--root` names; without it, the nearest folder above the scenario that holds `pins/`.
/// Returns the plan and the warnings. No trace is read and no job is started: pins are verified by their own digests.
///
/// # Errors
/// Every mistake of the scenario, of the files it includes and of the pins it names, with the warnings, in one bag.
pub fn load_plan(path: &Path, root: Option<&Path>) -> Result<(Plan, Bag), Bag> {
    read(path, root, PinnedFiles::Unread)
}

/// Reads a scenario as [`load_plan`] does, and verifies size and digest of every file that its pins name.
///
/// # Errors
/// As [`load_plan`], with every file that is not the pinned one.
pub fn lint_plan(path: &Path, root: Option<&Path>) -> Result<(Plan, Bag), Bag> {
    read(path, root, PinnedFiles::Verified)
}

/// What becomes of the files beside the pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PinnedFiles {
    /// Nothing: whoever reads them verifies them.
    Unread,
    /// Their size and digest are verified.
    Verified,
}

/// Reads a scenario, its pins and, where `pinned_files` says so, the files beside them.
fn read(path: &Path, root: Option<&Path>, pinned_files: PinnedFiles) -> Result<(Plan, Bag), Bag> {
    let loaded = scenario::load(path);
    let mut findings = loaded.findings;
    let Some(scenario) = loaded.scenario else { return Err(refused(findings)) };
    let root = match root.map_or_else(|| project_root(path), |root| Ok(root.to_path_buf())) {
        Ok(root) => root,
        Err(problem) => {
            findings.push(problem);
            return Err(findings);
        }
    };
    let registry = match Registry::open(&root) {
        Ok(registry) => registry,
        Err(problem) => {
            findings.push(problem);
            return Err(findings);
        }
    };
    let inputs = Inputs::read(&scenario, &registry, &mut findings);
    if pinned_files == PinnedFiles::Verified {
        files::verify(&scenario, &registry, &mut findings);
    }
    let Expansion { jobs, batches } = expand::jobs(&scenario, &inputs, &mut findings);
    if findings.has_errors() {
        return Err(findings);
    }
    assert!(!jobs.is_empty(), "an empty plan is complained of");
    let includes =
        scenario.includes.iter().map(|include| (relative(&include.path, &root), include.digest));
    let plan = Plan {
        scenario: scenario.name.clone(),
        about: scenario.about.clone(),
        source_digest: Sha256::of(scenario.source.text().as_bytes()),
        includes: includes.collect(),
        golden: golden(&scenario),
        source: scenario.source,
        jobs,
        batches,
        root,
    };
    Ok((plan, findings))
}

/// Returns findings that hold an error: a scenario without a value was complained of.
fn refused(findings: Bag) -> Bag {
    assert!(findings.has_errors(), "a scenario that could not be decoded is complained of");
    findings
}

/// Returns the golden file that the gate names.
fn golden(scenario: &Scenario) -> Option<(PathBuf, crate::diag::Span)> {
    let golden = scenario.gate.golden.as_ref()?;
    Some((PathBuf::from(&golden.name), golden.place.span()))
}

/// Returns a path relative to the root with `/`; a file outside of it keeps its whole path.
fn relative(path: &Path, root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
    path.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// Returns the problem of a scenario that plans nothing.
pub(super) fn empty(scenario: &Scenario, why: &str) -> Problem {
    let place = scenario.simulations.first().map(|block| &block.place);
    let message = format!("scenario `{}` plans no job: {why}", scenario.name);
    let help = "a gate over nothing would always be green";
    match place {
        Some(place) => place.problem(Code::ScenarioEmptyPlan, message, "no job is left").help(help),
        None => scenario.head.problem(Code::ScenarioEmptyPlan, message, "no job here").help(help),
    }
}
