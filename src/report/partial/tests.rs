//! A part says how each of its jobs ended, and merging says the same again.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::{PartialFile, PartialRun, Programs, Share, check, collect, partial_runs};
use crate::diag::{Code, Problem};
use crate::exec::Partition;
use crate::plan::{Job, Plan};
use crate::report::sample::{
    Fake, Fault, Setup, StopAfterFirst, keep_nothing, plan, run, run_with,
};
use crate::report::{Circumstances, JobResult, Verdicts, junit, markdown, write_file, write_job};

fn circumstances() -> Circumstances {
    Circumstances {
        started: Some("2026-01-01T00:00:00Z".to_owned()),
        finished: None,
        host: None,
        threads: Some(1),
        program: None,
        parts: Vec::new(),
    }
}

/// Leaves a share of a plan in a folder, as `bench run --partition` does.
fn leave(folder: &Path, plan: &Plan, partition: &str, executor: &Fake) -> Vec<JobResult> {
    let partition: Partition = partition.parse().expect("a partition");
    let share = partition.select(plan);
    let keep =
        |job: &Job, artifacts: &crate::report::Artifacts| write_job(folder, &job.id, artifacts);
    let results = run(&share, Setup { executor, ..Setup::default() }, &keep);
    write(folder, plan, partition, &results);
    results
}

fn write(folder: &Path, plan: &Plan, partition: Partition, results: &[JobResult]) {
    let share = Share::Partition {
        partition,
        scenario: plan.scenario.clone(),
        file: plan.file.clone(),
        plan: plan.digest(),
    };
    let file = PartialFile::new(share, results, &circumstances());
    assert_eq!(PartialFile::parse(&file.value().to_document()).as_ref(), Ok(&file));
    write_file(folder, "partial.json", &file.value().to_document()).expect("writable");
}

/// The sample plans have no live traffic.
fn no_traffic(_job: &Job) -> Result<crate::report::Artifacts, Problem> {
    Err(Problem::new(Code::MergeGap, "no live traffic here"))
}

fn merged(plan: &Plan, parts: &[PartialRun]) -> Vec<JobResult> {
    check(plan, parts, Programs::One).expect("a run");
    collect(plan, parts, &keep_nothing, None, &no_traffic).expect("sound")
}

/// Returns the views of a run without a gate.
fn views(plan: &Plan, results: &[JobResult]) -> (String, String) {
    let verdicts = Verdicts::ungated(results.len());
    let (_, digest) = crate::report::run_file(plan, results);
    (
        junit(&plan.scenario, (results, &verdicts), &|_| String::new()),
        markdown(plan, &digest, results, &verdicts),
    )
}

#[test]
fn every_end_of_a_job_survives_merging_word_for_word() {
    let plan = plan(5);
    for fault in [Fault::AllRejected, Fault::DroppedRequest, Fault::Panic, Fault::OneNanosecond] {
        let fake = Fake { fault: Some((3, fault)) };
        let whole = run(&plan, Setup { executor: &fake, ..Setup::default() }, &keep_nothing);
        let folder = tempfile::tempdir().expect("a folder");
        for index in 1..=2 {
            let part = folder.path().join(index.to_string());
            std::fs::create_dir(&part).expect("writable");
            leave(&part, &plan, &format!("count:{index}/2"), &fake);
        }
        let parts = partial_runs(folder.path()).expect("two parts");
        let results = merged(&plan, &parts);
        assert_eq!(views(&plan, &results), views(&plan, &whole), "{fault:?}");
        let file = |results: &[JobResult]| crate::report::run_file(&plan, results).0;
        assert_eq!(file(&results), file(&whole), "{fault:?}");
    }
}

#[test]
fn a_job_that_was_interrupted_is_a_gap() {
    let plan = plan(3);
    let stop = AtomicBool::new(false);
    let partition: Partition = "count:1/1".parse().expect("a partition");
    let listener = StopAfterFirst(&stop);
    let results = run_with(&plan, Setup::default(), &keep_nothing, (&stop, &listener));
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &plan, partition, &results);
    let parts = partial_runs(folder.path()).expect("a part");
    let refused = check(&plan, &parts, Programs::One).expect_err("a gap").into_sorted();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].code(), Code::MergeGap);
    assert!(refused[0].message().contains("is cut: 2 of its 3 jobs"), "{refused:?}");
}

#[test]
fn what_could_not_be_written_has_not_ended() {
    let plan = plan(2);
    let full = |job: &Job, _: &crate::report::Artifacts| match job.index {
        0 => Ok(()),
        _ => Err(std::io::Error::other("the disk is full")),
    };
    let results = run(&plan, Setup::default(), &full);
    let share = Share::Batch { name: "b".to_owned() };
    let file = PartialFile::new(share, &results, &circumstances());
    assert_eq!(file.circumstances, None);
    let ended: Vec<bool> = file.jobs.iter().map(super::PartialJob::is_ended).collect();
    assert_eq!(ended, [true, false]);
}

#[test]
fn a_damaged_part_is_an_error_and_not_a_part_without_jobs() {
    for damaged in ["", "{}", "{\"schema\":\"touchstone.partial/2\"}"] {
        assert!(PartialFile::parse(damaged.as_bytes()).is_err(), "{damaged}");
    }
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let share = Share::Batch { name: "b".to_owned() };
    let text = PartialFile::new(share, &results, &circumstances()).value().to_document();
    let text = String::from_utf8(text).expect("UTF-8");
    for (from, to) in [
        ("\"report\":\"sha256:", "\"report\":\"sha256:0"),
        ("\"key\"", "\"keys\""),
        ("\"batch\"", "\"bunch\""),
    ] {
        assert!(text.contains(from), "{text}");
        assert!(PartialFile::parse(text.replacen(from, to, 1).as_bytes()).is_err(), "{from}");
    }
}

fn ids(text: &str, plan: &Plan) -> Vec<String> {
    let partition: Partition = text.parse().expect(text);
    partition.select(plan).jobs.iter().map(|job| job.id.to_string()).collect()
}

#[test]
fn every_job_is_in_exactly_one_share() {
    let plan = plan(40);
    for deal in ["hash:1/7", "count:1/7", "hash:1/1", "count:1/50"] {
        let first: Partition = deal.parse().expect(deal);
        let mut all: Vec<String> =
            first.all().flat_map(|share| ids(&share.to_string(), &plan)).collect();
        all.sort();
        let mut expected: Vec<String> = plan.jobs.iter().map(|job| job.id.to_string()).collect();
        expected.sort();
        assert_eq!(all, expected, "{deal}");
    }
}

#[test]
fn count_deals_one_after_the_other_and_hash_by_the_key_alone() {
    let (few, many) = (plan(7), plan(40));
    let numbers = |text: &str| -> Vec<usize> {
        let share: Partition = text.parse().expect(text);
        few.jobs.iter().filter(|job| share.takes(job)).map(|job| job.index).collect()
    };
    assert_eq!(numbers("count:1/3"), [0, 3, 6]);
    assert_eq!(numbers("count:3/3"), [2, 5]);
    // a job that is there already stays in its share when others are added
    let before = ids("hash:2/3", &few);
    let after = ids("hash:2/3", &many);
    let kept: Vec<&String> = after.iter().filter(|id| before.contains(id)).collect();
    assert_eq!(kept, before.iter().collect::<Vec<_>>());
    let of_few: Vec<String> = few.jobs.iter().map(|job| job.id.to_string()).collect();
    assert!(after.iter().filter(|id| of_few.contains(id)).all(|id| before.contains(id)));
}

#[test]
fn a_share_is_a_plan_without_gate_whose_jobs_count_from_zero() {
    let plan = plan(9);
    let share = "count:2/2".parse::<Partition>().expect("a partition").select(&plan);
    assert_eq!(share.golden, None);
    assert!(share.jobs.iter().enumerate().all(|(index, job)| job.index == index));
}
