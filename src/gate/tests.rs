//! A gate that bites: each planted fault turns it red, and says where to look.

use std::fs;

use super::*;
use crate::diag::{Code, SourceFile};
use crate::measure::DEFINITION;
use crate::plan::{JobId, Plan};
use crate::report::sample::{Fake, Fault, Setup, keep_nothing, plan, run};
use crate::report::{Artifacts, Extent, JobResult, JobVerdict, RunFolder, Section, run_file};

fn golden_of(plan: &Plan) -> Golden {
    let results = run(plan, Setup::default(), &keep_nothing);
    Golden {
        scenario: plan.scenario.clone(),
        accepted: Acceptance {
            reason: "first \"golden\"\n\u{2028}".to_owned(),
            by: "ada".to_owned(),
            on: "2026-01-01".to_owned(),
            equal_runs: 3,
            tool: "0.1.0".to_owned(),
        },
        definition: DEFINITION.to_owned(),
        jobs: results.iter().filter_map(GoldenJob::of).collect(),
    }
}

fn parse(text: &str) -> Golden {
    Golden::parse(&SourceFile::new("pins/goldens/small.kdl", text)).expect("a golden")
}

/// Returns what the gate says of a run with a fault in its first job, against the golden of a run without.
fn gate(fault: Option<Fault>) -> (Comparison, Vec<JobResult>) {
    let plan = plan(2);
    let fake = Fake { fault: fault.map(|fault| (2, fault)) };
    let results = run(&plan, Setup { executor: &fake, ..Setup::default() }, &keep_nothing);
    let golden = GoldenFile::Present(parse(&golden_text(&golden_of(&plan))));
    (compare(&plan, &results, &golden, &KnownRuns::default(), &|_| None), results)
}

fn codes(comparison: &Comparison) -> Vec<Code> {
    comparison.findings.iter().map(|finding| finding.problem(&plan(2), Kept::Run).code()).collect()
}

#[test]
fn a_golden_reads_back_what_was_written() {
    let golden = golden_of(&plan(2));
    let text = golden_text(&golden);
    let read = parse(&text);
    assert_eq!(read.accepted, golden.accepted);
    assert_eq!(golden_text(&read), text);
    assert_eq!(read.jobs.len(), 2);
    assert!(read.jobs[0].headline.contains_key("ttft_ns_p99"));
}

#[test]
fn an_unchanged_run_is_green() {
    let (comparison, _) = gate(None);
    assert!(comparison.verdicts.is_green() && comparison.findings.is_empty());
}

#[test]
fn every_planted_fault_turns_the_gate_red() {
    for (fault, verdict, code) in [
        (Fault::OneNanosecond, JobVerdict::Drift, Code::GateDrift),
        (Fault::DroppedRequest, JobVerdict::Drift, Code::GateDrift),
        (Fault::AllRejected, JobVerdict::Drift, Code::GateDrift),
        (Fault::Skipped, JobVerdict::NotRun, Code::GateJobNotRun),
        (Fault::Panic, JobVerdict::NotRun, Code::GateJobNotRun),
    ] {
        let (comparison, _) = gate(Some(fault));
        assert_eq!(comparison.verdicts.jobs, [verdict, JobVerdict::Equal], "{fault:?}");
        assert_eq!(codes(&comparison), [code], "{fault:?}");
    }
}

#[test]
fn a_nanosecond_is_named_by_section_request_and_field() {
    let runs = tempfile::tempdir().expect("a folder");
    let plan = plan(1);
    let folder = RunFolder::create(runs.path(), &plan.scenario).expect("created");
    let accepted =
        run(&plan, Setup::default(), &|job, artifacts| folder.write_job(&job.id, artifacts));
    let (file, digest) = run_file(&plan, &accepted);
    folder.write_file("run.json", &file.to_document()).expect("written");
    folder.finish(&digest.short(), Extent::Whole).expect("finished");

    let fake = Fake { fault: Some((2, Fault::OneNanosecond)) };
    let found = std::sync::Mutex::new(crate::record::Spool::from(Vec::new()));
    let keep = |_: &crate::plan::Job, artifacts: &Artifacts| {
        found.lock().expect("no panic").clone_from(&artifacts.requests);
        Ok(())
    };
    let results = run(&plan, Setup { executor: &fake, ..Setup::default() }, &keep);
    let known = KnownRuns::of(runs.path(), &plan.scenario);
    let golden = GoldenFile::Present(golden_of(&plan));
    let found = found.into_inner().expect("no panic");
    let requests = |_| found.reader().ok();
    let comparison = compare(&plan, &results, &golden, &known, &requests);
    let Finding::Drift(drift) = &comparison.findings[0] else { panic!("{comparison:?}") };
    assert_eq!(drift.sections, [Section::Requests, Section::Summary]);
    assert_eq!(drift.cause, Cause::Program);
    let request = drift.request.as_ref().expect("the accepted run is at hand");
    let field = request.field.as_ref().expect("a field");
    assert_eq!((request.index, field.name.as_str()), (0, "e2e_ns"));
    assert_eq!((field.expected.as_str(), field.found.as_str()), ("9000000", "9000001"));
    let problem = comparison.findings[0].problem(&plan, Kept::Run);
    let help = problem.help_text().expect("what to do");
    for command in ["bench run", "bench diff", "bench accept"] {
        assert!(help.contains(command), "{help}");
    }
}

#[test]
fn a_missing_golden_is_red_and_says_how_to_accept() {
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let missing = GoldenFile::read(std::path::Path::new("no/such/golden.kdl"), "golden.kdl");
    let missing = missing.expect("missing is no error");
    let comparison = compare(&plan, &results, &missing, &KnownRuns::default(), &|_| None);
    assert!(!comparison.verdicts.is_green());
    let problem = comparison.findings[0].problem(&plan, Kept::Run);
    assert_eq!(problem.code(), Code::GoldenMissing);
    assert!(problem.help_text().is_some_and(|help| help.contains("bench accept")));
    assert_eq!(problem.place().as_deref(), Some("scenarios/small.kdl:3:19"));
}

#[test]
fn jobs_that_only_one_side_has_are_red() {
    let (less, more) = (plan(1), plan(2));
    let results = run(&less, Setup::default(), &keep_nothing);
    let golden = GoldenFile::Present(golden_of(&more));
    let comparison = compare(&less, &results, &golden, &KnownRuns::default(), &|_| None);
    assert_eq!(comparison.verdicts.gone, [JobId::new("s/w/d/native/requests=1")]);
    assert_eq!(codes(&comparison), [Code::GateJobGone]);

    let results = run(&more, Setup::default(), &keep_nothing);
    let golden = GoldenFile::Present(golden_of(&less));
    let comparison = compare(&more, &results, &golden, &KnownRuns::default(), &|_| None);
    assert_eq!(comparison.verdicts.jobs, [JobVerdict::Equal, JobVerdict::Unaccepted]);
    assert_eq!(codes(&comparison), [Code::GateJobNew]);
    assert_eq!(changed_jobs(&comparison), [1]);
}

#[test]
fn line_ends_and_a_byte_order_mark_are_no_drift() {
    let plan = plan(2);
    let text = golden_text(&golden_of(&plan));
    let checked_out = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let results = run(&plan, Setup::default(), &keep_nothing);
    let golden = GoldenFile::Present(parse(&checked_out));
    let comparison = compare(&plan, &results, &golden, &KnownRuns::default(), &|_| None);
    assert!(comparison.verdicts.is_green(), "{comparison:?}");
}

#[test]
fn the_header_is_not_compared_and_the_body_is() {
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let text = golden_text(&golden_of(&plan));
    let against = |text: &str| {
        let golden = GoldenFile::Present(parse(text));
        compare(&plan, &results, &golden, &KnownRuns::default(), &|_| None)
    };
    assert!(against(&text.replace("by=\"ada\"", "by=\"bob\"")).verdicts.is_green());
    let edited = text.replace("\"ttft_ns_p99\" \"5000000\"", "\"ttft_ns_p99\" \"4000000\"");
    assert_ne!(edited, text);
    assert_eq!(codes(&against(&edited)), [Code::GoldenEdited]);
}

#[test]
fn other_definitions_are_never_compared() {
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let text = golden_text(&golden_of(&plan)).replace(DEFINITION, "touchstone.metrics/0");
    let golden = GoldenFile::Present(parse(&text));
    let comparison = compare(&plan, &results, &golden, &KnownRuns::default(), &|_| None);
    assert_eq!(codes(&comparison), [Code::GoldenDefinition]);
    assert!(comparison.findings[0].prevents_verdict());
    assert!(!comparison.verdicts.is_green());
}

#[test]
fn a_golden_of_another_scenario_is_refused() {
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let golden = Golden { scenario: "other".to_owned(), ..golden_of(&plan) };
    let golden = GoldenFile::Present(golden);
    let comparison = compare(&plan, &results, &golden, &KnownRuns::default(), &|_| None);
    assert_eq!(codes(&comparison), [Code::GoldenWrong]);
}

#[test]
fn unequal_runs_do_not_agree() {
    let plan = plan(1);
    let report = |executor: &Fake| {
        let results = run(&plan, Setup { executor, ..Setup::default() }, &keep_nothing);
        results[0].report().expect("it ran").clone()
    };
    let (here, other) =
        (report(&Fake::default()), report(&Fake { fault: Some((2, Fault::OneNanosecond)) }));
    assert_eq!(agreement(&here, &[here.clone(), here.clone()]), Agreement::Equal);
    let disagreement = agreement(&here, &[here.clone(), other.clone()]);
    let expected = vec![here.digest(), here.digest(), other.digest()];
    assert_eq!(disagreement, Agreement::Unequal(expected));
}

#[test]
fn a_run_and_a_golden_are_two_sides_of_one_comparison() {
    let runs = tempfile::tempdir().expect("a folder");
    let plan = plan(2);
    let write = |executor: &Fake, name: &str| {
        let root = runs.path().join(name);
        let folder = RunFolder::create(&root, &plan.scenario).expect("created");
        let setup = Setup { executor, ..Setup::default() };
        let results = run(&plan, setup, &|job, artifacts| folder.write_job(&job.id, artifacts));
        let (file, digest) = run_file(&plan, &results);
        folder.write_file("run.json", &file.to_document()).expect("written");
        folder.finish(&digest.short(), Extent::Whole).expect("finished").folder
    };
    let good = write(&Fake::default(), "good");
    let late = write(&Fake { fault: Some((3, Fault::OneNanosecond)) }, "late");
    let path = runs.path().join("golden.kdl");
    fs::write(&path, golden_text(&golden_of(&plan))).expect("written");

    let side = |path: &std::path::Path| Side::read(path).expect("a side");
    let (good, late, golden) = (side(&good), side(&late), side(&path));
    assert_eq!(differences(&good, &golden), []);
    assert_eq!(diff_table(&good, &golden, &[]), "2 jobs, all equal\n");
    let found = differences(&good, &late);
    let [Difference::Changed { id, rows, request: Some(request), .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((id.as_str(), request.index), ("s/w/d/native/requests=1", 0));
    let row = rows.iter().find(|row| row.metric == "ttft_ns_max").expect("it differs");
    assert_eq!((row.left.as_str(), row.right.as_str()), ("5000000", "5000001"));
    assert_eq!(row.judgement, Judgement::Worse);
    let against_golden = differences(&golden, &late);
    assert_eq!(against_golden.len(), 1, "the golden knows fewer figures, and sees it all the same");
}

#[test]
fn what_is_neither_run_nor_golden_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = Side::read(folder.path()).expect_err("no run.json");
    assert_eq!(refused.into_sorted()[0].code(), Code::RunUnreadable);
    let path = folder.path().join("run.json");
    fs::write(&path, "{\"schema\":\"other\"}").expect("written");
    let refused = Side::read(folder.path()).expect_err("another schema");
    assert_eq!(refused.into_sorted()[0].code(), Code::RunUnreadable);
}
