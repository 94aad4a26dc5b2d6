//! A run against its golden, job by job.

use std::collections::BTreeSet;
use std::io::BufRead;

use crate::measure::DEFINITION;
use crate::plan::{JobId, Plan};
use crate::replay::wire::WireDifference;
use crate::report::{JobResult, JobState, JobVerdict, Report, Section, Verdicts};

use super::finding::{Cause, Drift};
use super::golden::{headline, planned_wire};
use super::live;
use super::{Finding, Golden, GoldenFile, GoldenJob, KnownRuns, first_difference};

/// What a gate says of a run.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// One verdict a job, and jobs that are gone.
    pub verdicts: Verdicts,
    /// What the gate has against the run, in the plan's order.
    pub findings: Vec<Finding>,
}

/// Returns the `requests.jsonl` that a job left, by its index, where it is at hand.
pub type FoundRequests<'a> = &'a dyn Fn(usize) -> Option<Box<dyn BufRead + 'a>>;

/// Compares a run with the golden that its scenario names, and what was measured with the bounds that it states.
pub fn compare(
    plan: &Plan,
    results: &[JobResult],
    golden: &GoldenFile,
    known: &KnownRuns,
    requests: FoundRequests<'_>,
) -> Comparison {
    let mut comparison = compare_golden((plan, results), golden, known, requests);
    live::judge(plan, results, &mut comparison);
    comparison
}

/// Compares a run with the golden that its scenario names.
fn compare_golden(
    (plan, results): (&Plan, &[JobResult]),
    golden: &GoldenFile,
    known: &KnownRuns,
    requests: FoundRequests<'_>,
) -> Comparison {
    let all = |verdict: JobVerdict, findings: Vec<Finding>| Comparison {
        verdicts: Verdicts { jobs: vec![verdict; results.len()], ..Verdicts::default() },
        findings,
    };
    let golden = match golden {
        GoldenFile::Unnamed => return all(JobVerdict::Ungated, Vec::new()),
        GoldenFile::Missing => return all(JobVerdict::Unaccepted, vec![Finding::GoldenMissing]),
        GoldenFile::Present(golden) => golden,
    };
    if golden.definition != DEFINITION {
        let finding =
            Finding::OtherDefinition { golden: golden.definition.clone(), ours: DEFINITION };
        return all(JobVerdict::Incomparable, vec![finding]);
    }
    if golden.scenario != plan.scenario {
        let found = golden.scenario.clone();
        return all(JobVerdict::Unaccepted, vec![Finding::OtherScenario { found }]);
    }
    compare_jobs(results, golden, &|index, job, report| {
        drift(job, report, first_request(known, job, requests(index)))
    })
}

/// Returns the first request that differs from the accepted run, where both are at hand.
fn first_request(
    known: &KnownRuns,
    job: &GoldenJob,
    found: Option<Box<dyn BufRead + '_>>,
) -> Option<super::RequestDifference> {
    first_difference(known.requests(&job.report)?, found?).ok()?
}

/// Tells how a job's report differs from the accepted one.
type DescribeDrift<'a> = &'a dyn Fn(usize, &GoldenJob, &Report) -> Drift;

/// Compares each job with the golden's.
fn compare_jobs(results: &[JobResult], golden: &Golden, describe: DescribeDrift<'_>) -> Comparison {
    let (mut verdicts, mut findings) = (Vec::with_capacity(results.len()), Vec::new());
    let accepted = golden.by_id();
    for (index, result) in results.iter().enumerate() {
        let (verdict, finding) =
            compare_job(index, result, accepted.get(&result.id).copied(), describe);
        verdicts.push(verdict);
        findings.extend(finding);
    }
    let planned: BTreeSet<&JobId> = results.iter().map(|result| &result.id).collect();
    let is_gone = |job: &&GoldenJob| !planned.contains(&job.id);
    let gone: Vec<&GoldenJob> = golden.jobs.iter().filter(is_gone).collect();
    findings.extend(
        gone.iter().map(|job| Finding::Gone { id: job.id.clone(), place: job.place.clone() }),
    );
    let gone = gone.into_iter().map(|job| job.id.clone()).collect();
    Comparison { verdicts: Verdicts { jobs: verdicts, gone, ..Verdicts::default() }, findings }
}

/// Compares one job.
fn compare_job(
    index: usize,
    result: &JobResult,
    golden: Option<&GoldenJob>,
    describe: DescribeDrift<'_>,
) -> (JobVerdict, Option<Finding>) {
    let id = result.id.clone();
    let Some(golden) = golden else {
        return (JobVerdict::Unaccepted, Some(Finding::Unaccepted { id }));
    };
    let place = golden.place.clone();
    let report = match &result.state {
        JobState::Reported { report, .. } => report,
        JobState::Unreported(error) => {
            let why = error.to_string();
            return (JobVerdict::NotRun, Some(Finding::NotRun { id, why, place }));
        }
    };
    if report.digest() != golden.report {
        let drift = Finding::Drift(Box::new(describe(index, golden, report)));
        return (JobVerdict::Drift, Some(drift));
    }
    match contradiction(golden, result, report) {
        Some(what) => (JobVerdict::Drift, Some(Finding::Edited { id, what, place })),
        None => (JobVerdict::Equal, None),
    }
}

/// Returns what a golden with the right report digest says wrongly about that report.
fn contradiction(golden: &GoldenJob, result: &JobResult, report: &Report) -> Option<String> {
    if golden.key != *result.key.digest() {
        return Some("its key is another one".to_owned());
    }
    let section = changed_sections(golden, report).first().copied();
    if let Some(section) = section {
        return Some(format!("its digest of section `{}` is another one", section.name()));
    }
    if golden.wire != planned_wire(report) {
        return Some("its planned requests are others".to_owned());
    }
    let (name, expected, found) = changed_figures(golden, report).into_iter().next()?;
    Some(format!("it says {name} {expected}, the report says {found}"))
}

/// Returns how a report differs from the accepted one.
fn drift(golden: &GoldenJob, report: &Report, request: Option<super::RequestDifference>) -> Drift {
    Drift {
        id: golden.id.clone(),
        expected: golden.report,
        found: report.digest(),
        cause: if report.key() == Some(golden.key) { Cause::Program } else { Cause::Question },
        sections: changed_sections(golden, report),
        headline: changed_figures(golden, report),
        wire: changed_requests(golden, report),
        request,
        place: golden.place.clone(),
    }
}

/// Returns how the planned requests of a replay differ from the accepted ones.
fn changed_requests(golden: &GoldenJob, report: &Report) -> Vec<WireDifference> {
    match (&golden.wire, planned_wire(report)) {
        (Some(golden), Some(found)) => golden.differences(&found),
        (Some(_) | None, _) => Vec::new(),
    }
}

/// Returns the sections whose digests differ, causes before effects.
fn changed_sections(golden: &GoldenJob, report: &Report) -> Vec<Section> {
    let differs =
        |section: &Section| report.section(*section) != golden.sections.get(section).copied();
    Section::ALL.into_iter().filter(differs).collect()
}

/// Returns the headline figures that differ: name, expected, found; `-` where one side lacks it.
fn changed_figures(golden: &GoldenJob, report: &Report) -> Vec<(String, String, String)> {
    let found = headline(report);
    let mut names: Vec<&String> = golden.headline.keys().chain(found.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let text = |figure: Option<&String>| figure.cloned().unwrap_or_else(|| "-".to_owned());
    names
        .into_iter()
        .map(|name| (name.clone(), text(golden.headline.get(name)), text(found.get(name))))
        .filter(|(_, expected, found)| expected != found)
        .collect()
}
