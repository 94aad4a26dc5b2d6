//! From a scenario file to a plan: the one way in for every command.

use std::path::{Path, PathBuf};

use super::expand::{Expansion, Form};
use super::inputs::Inputs;
use super::{Alone, Plan, expand, files};
use crate::diag::{Bag, Code, Problem, SourceFile};
use crate::digest::Sha256;
use crate::pin::Registry;
use crate::scenario::model::Scenario;
use crate::scenario::{self, Loaded, project_root};

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

/// Reads a scenario as [`load_plan`] does, and writes each of its simulation jobs as a scenario of its own, in the plan's order.
///
/// # Errors
/// As [`load_plan`].
pub fn load_plan_alone(path: &Path, root: Option<&Path>) -> Result<(Plan, Vec<Alone>, Bag), Bag> {
    let mut alone = Vec::new();
    let reading = Reading { pinned_files: PinnedFiles::Unread, alone: Some(&mut alone) };
    let (plan, findings) = plan_of(scenario::load(path), (path, root), reading)?;
    Ok((plan, alone, findings))
}

/// Plans a scenario that is no file, as [`load_plan`] does one that is. `root` is the project root.
///
/// # Errors
/// As [`load_plan`].
pub fn plan_text(source: &SourceFile, root: &Path) -> Result<(Plan, Bag), Bag> {
    let reading = Reading { pinned_files: PinnedFiles::Unread, alone: None };
    plan_of(scenario::load_text(source), (Path::new(source.name()), Some(root)), reading)
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

/// How a scenario is planned.
struct Reading<'a> {
    pinned_files: PinnedFiles,
    /// Where each simulation job is put as a scenario of its own.
    alone: Option<&'a mut Vec<Alone>>,
}

/// Reads a scenario, its pins and, where `pinned_files` says so, the files beside them.
fn read(path: &Path, root: Option<&Path>, pinned_files: PinnedFiles) -> Result<(Plan, Bag), Bag> {
    plan_of(scenario::load(path), (path, root), Reading { pinned_files, alone: None })
}

/// Plans a scenario that was read.
fn plan_of(
    loaded: Loaded,
    (path, root): (&Path, Option<&Path>),
    reading: Reading<'_>,
) -> Result<(Plan, Bag), Bag> {
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
    if reading.pinned_files == PinnedFiles::Verified {
        files::verify(&scenario, &registry, &mut findings);
    }
    let form = if reading.alone.is_some() { Form::JobsAlone } else { Form::Jobs };
    let Expansion { jobs, blocks, alone } = expand::jobs(&scenario, &inputs, form, &mut findings);
    let includes = includes(&scenario, &root, &mut findings);
    if findings.has_errors() {
        return Err(findings);
    }
    assert!(!jobs.is_empty(), "an empty plan is complained of");
    reading.alone.into_iter().for_each(|all| all.clone_from(&alone));
    let plan = Plan {
        scenario: scenario.name.clone(),
        about: scenario.about.clone(),
        source_digest: Sha256::of(scenario.source.text().as_bytes()),
        includes,
        file: file_below(path, &root),
        pins: inputs.pins(),
        golden: golden(&scenario),
        source: scenario.source,
        jobs,
        blocks,
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

/// Returns the included files by their paths below the root; one that lies elsewhere is complained of.
fn includes(scenario: &Scenario, root: &Path, findings: &mut Bag) -> Vec<(String, Sha256)> {
    let mut all = Vec::with_capacity(scenario.includes.len());
    for include in &scenario.includes {
        match relative(&include.path, root) {
            Some(path) => all.push((path, include.digest)),
            None => findings.push(
                include
                    .place
                    .problem(
                        Code::ScenarioIncludeOutside,
                        "the included file lies outside of the project root",
                        "outside of the root",
                    )
                    .help("move it below the folder that holds `pins/`"),
            ),
        }
    }
    all
}

/// Returns the scenario's path below the root: how it was typed depends on where one stands.
fn file_below(path: &Path, root: &Path) -> String {
    let name = || path.file_name().map(|name| name.to_string_lossy().into_owned());
    relative(path, root).or_else(name).unwrap_or_default()
}

/// Returns a path relative to the root with `/`, or `None` for a file outside of it.
fn relative(path: &Path, root: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (path, root) = (real(path), real(root));
    let below = path.strip_prefix(&root).ok()?;
    Some(below.to_string_lossy().replace('\\', "/"))
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
