//! The files of a run beside those of its jobs.

use std::io;

use crate::digest::Sha256;
use crate::gate::{Acceptance, Comparison, Golden, GoldenJob, golden_text};
use crate::measure::DEFINITION;
use crate::plan::Plan;
use crate::report::{
    Circumstances, FinishedRun, JobResult, RunFolder, junit, markdown, run_file, statement,
};

/// What a run's own files tell.
#[derive(Debug)]
pub(super) struct RunFiles<'a> {
    /// How each job ended.
    pub(super) results: &'a [JobResult],
    /// What the gate says.
    pub(super) comparison: &'a Comparison,
    /// Where and when.
    pub(super) circumstances: Circumstances,
}

/// Writes the run's own files and gives the folder its name.
pub(super) fn write_run_files(
    folder: RunFolder,
    plan: &Plan,
    files: &RunFiles<'_>,
) -> io::Result<FinishedRun> {
    let (results, verdicts) = (files.results, &files.comparison.verdicts);
    let (file, digest) = run_file(plan, results);
    let bytes = file.to_document();
    let provenance = statement(plan, results, &Sha256::of(&bytes), &files.circumstances);
    folder.write_file("run.json", &bytes)?;
    folder.write_file("provenance.json", &provenance.to_document())?;
    folder.write_file("summary.md", markdown(plan, &digest, results, verdicts).as_bytes())?;
    folder.write_file("junit.xml", junit(&plan.scenario, results, verdicts).as_bytes())?;
    if let Some(golden) = pending(plan, results) {
        folder.write_file("golden.pending.kdl", golden_text(&golden).as_bytes())?;
    }
    folder.finish(&digest)
}

/// Returns the candidate for a golden; `None` unless every job completed.
fn pending(plan: &Plan, results: &[JobResult]) -> Option<Golden> {
    let all_completed = results.iter().all(|result| result.outcome() == "completed");
    if plan.golden.is_none() || !all_completed {
        return None;
    }
    Some(Golden {
        scenario: plan.scenario.clone(),
        accepted: Acceptance {
            reason: "pending: nobody has accepted this".to_owned(),
            by: "-".to_owned(),
            on: "-".to_owned(),
            equal_runs: 1,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        },
        definition: DEFINITION.to_owned(),
        jobs: results.iter().filter_map(GoldenJob::of).collect(),
    })
}
