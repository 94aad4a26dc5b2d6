//! The files of a run beside those of its jobs.

use std::io;

use crate::diag::SourceFile;
use crate::digest::Sha256;
use crate::gate::{Acceptance, Comparison, Finding, Golden, GoldenJob, Kept, golden_text};
use crate::measure::DEFINITION;
use crate::plan::{JobId, Plan};
use crate::report::{
    Circumstances, Extent, FinishedRun, JobResult, RunFolder, junit, markdown, run_file, run_name,
    statement,
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
    // How the scenario was typed is no business of files: they name it as seen from the root.
    let plan = &Plan { source: SourceFile::new(&plan.file, plan.source.text()), ..plan.clone() };
    let detail = |id: &JobId| detail(plan, files, id);
    let tests = junit(&plan.scenario, (results, verdicts), &detail);
    folder.write_file("junit.xml", tests.as_bytes())?;
    if let Some(golden) = pending(plan, results) {
        folder.write_file("golden.pending.kdl", golden_text(&golden).as_bytes())?;
    }
    folder.finish(&run_name(results, &digest), Extent::of(results))
}

/// Returns what the gate has against a job: digests, sections, figures; of a whole run the commands to go on with as well.
fn detail(plan: &Plan, files: &RunFiles<'_>, id: &JobId) -> String {
    let extent = Extent::of(files.results);
    let text = |finding: &Finding| {
        let problem = finding.problem(plan, Kept::Run);
        let help = problem.help_text().filter(|_| extent == Extent::Whole).unwrap_or_default();
        format!("{}\n{help}", problem.message())
    };
    let findings = files.comparison.findings.iter();
    let of_job = findings.filter(|finding| finding.job().is_none_or(|job| job == id));
    of_job.map(text).collect::<Vec<_>>().join("\n")
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
