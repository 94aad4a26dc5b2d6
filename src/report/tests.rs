//! What a run leaves: the same bytes whatever runs it, digests that others can check, and nothing of a job that failed kept quiet.

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::sample::{Fake, Fault, Setup, StopAfterFirst, keep_nothing, plan, run, run_with};
use super::*;
use crate::digest::Sha256;
use crate::exec::{Cache, JobError, Origin};
use crate::measure::{Family, MetricName};

fn digests(results: &[JobResult]) -> Vec<Option<Sha256>> {
    results.iter().map(|result| result.report().map(Report::digest)).collect()
}

#[test]
fn one_and_eight_threads_give_the_same_bytes() {
    let plan = plan(20);
    let bytes = |threads| {
        let setup = Setup { threads, ..Setup::default() };
        let results = run(&plan, setup, &keep_nothing);
        let (file, digest) = run_file(&plan, &results);
        let verdicts = Verdicts::ungated(results.len());
        let table = jobs_table(&results, &verdicts);
        let junit = junit(&plan.scenario, (&results, &verdicts), &|_| String::new());
        let page = markdown(&plan, &digest, &results, &verdicts);
        (file.to_document(), table, junit, page, digests(&results))
    };
    assert_eq!(bytes(1), bytes(8));
}

#[test]
fn the_report_digest_is_the_plain_digest_of_the_file_and_sections_have_their_own() {
    let results = run(&plan(1), Setup::default(), &|_, artifacts| {
        let report = &artifacts.report;
        assert_eq!(report.digest(), Sha256::of(report.bytes()));
        assert_eq!(report.requests_digest(), Some(artifacts.requests.digest()));
        for section in Section::ALL {
            let value = json::at(report.value(), &[section.name()]).expect("the section is there");
            assert_eq!(report.section(section), Some(value.digest()), "{}", section.name());
        }
        Ok(())
    });
    let report = results[0].report().expect("it ran");
    assert_eq!(Report::parse(report.bytes().to_vec()).as_ref(), Ok(report));
    assert_eq!(report.count(MetricName::single(Family::RequestsCompleted)), Some(2));
    assert_eq!(report.failures(), Vec::<&str>::new());
}

#[test]
fn the_report_holds_nothing_that_its_key_does_not_decide() {
    let mut renamed = plan(1);
    renamed.jobs[0].id = crate::plan::JobId::new("another/name");
    renamed.scenario = "another".to_owned();
    let before = digests(&run(&plan(1), Setup::default(), &keep_nothing));
    assert_eq!(digests(&run(&renamed, Setup::default(), &keep_nothing)), before);
}

#[test]
fn a_job_without_a_completed_request_has_failed() {
    let fake = Fake { fault: Some((3, Fault::AllRejected)) };
    let results = run(&plan(2), Setup { executor: &fake, ..Setup::default() }, &keep_nothing);
    assert_eq!((results[0].outcome(), results[1].outcome()), ("completed", "failed"));
    assert_eq!(
        results[1].failures(),
        [
            "none of 3 requests completed: 3 rejected: the first is request 0; the engine says no reason"
        ]
    );
    let report = results[1].report().expect("a report that says so");
    assert_eq!(report.figure("ttft_ns_p50".parse().expect("a metric")), None);
}

#[test]
fn a_dropped_request_is_a_broken_law() {
    let fake = Fake { fault: Some((2, Fault::DroppedRequest)) };
    let results = run(&plan(1), Setup { executor: &fake, ..Setup::default() }, &keep_nothing);
    assert!(results[0].report().expect("a report").has_broken_invariant());
    assert!(results[0].failures()[0].contains("INV-"), "{:?}", results[0].failures());
}

#[test]
fn a_panic_is_a_bug_of_its_job_alone() {
    let fake = Fake { fault: Some((2, Fault::Panic)) };
    let results = run(&plan(2), Setup { executor: &fake, ..Setup::default() }, &keep_nothing);
    assert_eq!((results[0].outcome(), results[1].outcome()), ("panicked", "completed"));
    assert!(results[0].failures()[0].contains("planted"));
}

#[test]
fn an_interrupted_run_keeps_finished_jobs() {
    let (stop, kept) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let listener = StopAfterFirst(&stop);
    let keep = |job: &crate::plan::Job, _: &Artifacts| {
        kept.lock().expect("no panic").push(job.index);
        Ok(())
    };
    let results = run_with(&plan(3), Setup::default(), &keep, (&stop, &listener));
    assert!(stop.load(Ordering::SeqCst));
    assert_eq!(*kept.lock().expect("no panic"), [0]);
    let outcomes: Vec<_> = results.iter().map(JobResult::outcome).collect();
    assert_eq!(outcomes, ["completed", "interrupted", "interrupted"]);
}

#[test]
fn a_cache_hit_gives_the_same_bytes_and_a_damaged_entry_is_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = Cache::new(folder.path(), Sha256::of(b"program"));
    let setup = Setup { cache: Some(&cache), ..Setup::default() };
    let origin = |results: &[JobResult]| match &results[0].state {
        JobState::Reported { origin, .. } => origin.clone(),
        JobState::Unreported(error) => panic!("{error}"),
    };
    let computed = run(&plan(1), setup, &keep_nothing);
    let cached = run(&plan(1), setup, &keep_nothing);
    assert_eq!((origin(&computed), origin(&cached)), (Origin::Computed, Origin::Cached));
    assert_eq!(digests(&computed), digests(&cached));

    let key = plan(1).jobs[0].key().digest().hex();
    let entry = folder.path().join(Sha256::of(b"program").short()).join(key);
    fs::write(entry.join("requests.jsonl"), "{}\n").expect("written");
    let recomputed = run(&plan(1), setup, &keep_nothing);
    assert!(matches!(origin(&recomputed), Origin::Recomputed { .. }));
    assert_eq!(digests(&computed), digests(&recomputed));
    assert_eq!(origin(&run(&plan(1), setup, &keep_nothing)), Origin::Cached);
}

#[test]
fn a_run_folder_appears_whole_under_its_digest_and_latest_points_at_it() {
    let runs = tempfile::tempdir().expect("a folder");
    let plan = plan(2);
    let write = || {
        let folder = RunFolder::create(runs.path(), &plan.scenario).expect("created");
        let results =
            run(&plan, Setup::default(), &|job, artifacts| folder.write_job(&job.id, artifacts));
        let (file, digest) = run_file(&plan, &results);
        folder.write_file("run.json", &file.to_document()).expect("written");
        (folder.finish(&digest.short(), Extent::Whole).expect("finished"), digest, results)
    };
    let (first, digest, results) = write();
    let (second, ..) = write();
    assert_eq!(first, second);
    assert!(first.folder.ends_with(format!("small/{}", digest.short())));
    let report = fs::read(first.job(&plan.jobs[1].id).join("report.json")).expect("there");
    assert_eq!(Some(Sha256::of(&report)), digests(&results)[1]);
    let run = fs::read(runs.path().join("small/latest/run.json")).expect("latest leads there");
    let run = RunFile::parse(&run).expect("a run file");
    assert_eq!((run.digest, run.jobs.len()), (digest, 2));
    let names: Vec<_> = fs::read_dir(runs.path().join("small")).expect("a folder").collect();
    assert_eq!(names.len(), 2, "nothing half-written stays: {names:?}");
}

#[test]
fn requests_too_long_for_memory_reach_the_run_and_the_cache_through_files_that_do_not_stay() {
    let (runs, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir());
    let cache = Cache::new(folder.expect("a folder").path(), Sha256::of(b"program"));
    let mut plan = plan(1);
    // About 500 bytes a request: more than the megabyte that is kept in memory.
    let crate::plan::JobKind::Simulation(simulation) = &mut plan.jobs[0].kind else {
        panic!("samples simulate")
    };
    simulation.workload.stop.count = Some(crate::workload::StopCount::Requests(4000));
    let write = || {
        let folder = RunFolder::create(runs.path(), &plan.scenario).expect("created");
        let scratch = folder.path();
        let setup = Setup { cache: Some(&cache), scratch: Some(scratch), ..Setup::default() };
        let results = run(&plan, setup, &|job, artifacts| {
            let files = fs::read_dir(scratch)?.count();
            assert_eq!(files, 1, "the requests are in a file while the job is written");
            folder.write_job(&job.id, artifacts)
        });
        assert_eq!(fs::read_dir(scratch).expect("a folder").count(), 1, "that of the job");
        let (_, digest) = run_file(&plan, &results);
        let finished = folder.finish(&digest.short(), Extent::Whole).expect("finished");
        (fs::read(finished.job(&plan.jobs[0].id).join("requests.jsonl")).expect("there"), results)
    };
    let ((computed, first), (cached, second)) = (write(), write());
    assert!(matches!(&second[0].state, JobState::Reported { origin: Origin::Cached, .. }));
    assert!(computed == cached && computed.len() > 1 << 20);
    let report = first[0].report().expect("it ran");
    assert_eq!(report.requests_digest(), Some(Sha256::of(&computed)));
    let mut in_memory = Vec::new();
    for request in &crate::measure::sample::run(4000).requests {
        in_memory.extend(requests::record(&request, None).to_document());
    }
    assert!(computed == in_memory, "the same bytes as all lines side by side");
}

#[test]
fn a_job_whose_results_cannot_be_written_has_failed() {
    let results = run(&plan(1), Setup::default(), &|_, _| Err(std::io::Error::other("full")));
    assert!(matches!(&results[0].state, JobState::Unreported(JobError::Unwritable { .. })));
    assert_eq!(results[0].outcome(), "failed");
}

#[test]
fn provenance_vouches_for_every_report_and_holds_what_is_volatile() {
    let plan = plan(2);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let circumstances = Circumstances {
        started: Some("2026-01-01T00:00:00Z".to_owned()),
        finished: Some("2026-01-01T00:00:01Z".to_owned()),
        host: Some("h".to_owned()),
        threads: Some(NonZeroUsize::MIN.get()),
        parts: Vec::new(),
        program: None,
    };
    let statement = statement(&plan, &results, &Sha256::of(b"run"), &circumstances);
    let subjects = json::list_at(&statement, &["subject"]);
    assert_eq!(subjects.len(), 1 + 2 * 2);
    let digest = json::text_at(&subjects[1], &["digest", "sha256"]);
    assert_eq!(digest.map(str::to_owned), digests(&results)[0].map(|digest| digest.hex()));
    assert_eq!(json::text_at(&statement, &["_type"]), Some("https://in-toto.io/Statement/v1"));
}

#[test]
fn the_ceiling_counts_what_all_but_the_first_request_share() {
    let results = run(&plan(1), Setup::default(), &keep_nothing);
    let report = results[0].report().expect("it ran");
    let ceiling = report.share(MetricName::single(Family::PrefixHitCeiling));
    assert_eq!(ceiling.map(crate::units::Ppm::get), Some(320_000), "64 of 200 tokens");
}

#[test]
fn the_table_of_a_small_run_is_this() {
    let plan = plan(1);
    let results = run(&plan, Setup::default(), &keep_nothing);
    let table = jobs_table(&results, &Verdicts::ungated(1));
    let digest = results[0].report().expect("it ran").digest().short();
    let expected = format!(
        " job                      done/offered  TTFT p50 ms  TTFT p99 ms  TPOT p50 ms  TPOT p99 ms  E2E p99 ms    req/s  out tok/s  cache hit  report\n \
         s/w/d/native/requests=0           2/2        5.000        5.000        2.000        2.000       9.000  105.263    315.789     64.00%  {digest}\n"
    );
    assert_eq!(table, expected);
}

#[test]
fn every_field_of_reports_and_request_records_is_documented() {
    let page = include_str!("../../docs/reports.md");
    let documented = |value: &crate::digest::canonical::Value| {
        let crate::digest::canonical::Value::Object(fields) = value else { panic!("an object") };
        for name in fields.keys() {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    };
    run(&plan(1), Setup::default(), &|_, artifacts| {
        documented(artifacts.report.value());
        let lines = artifacts.requests.to_vec()?;
        let line = lines.split(|byte| *byte == b'\n').next().unwrap_or_default();
        documented(&parse_json(line).expect("JSON"));
        Ok(())
    });
}

#[test]
fn the_report_says_the_kv_bytes_that_ran_and_not_those_of_the_model() {
    let bytes = |stated: Option<u64>| {
        let mut plan = plan(1);
        let crate::plan::JobKind::Simulation(simulation) = &mut plan.jobs[0].kind else {
            panic!("samples simulate")
        };
        let crate::deployment::Workers::Aggregated(worker) = &mut simulation.deployment.workers
        else {
            panic!("samples aggregate")
        };
        worker.kv_cache.bytes_per_token = stated;
        let results = run(&plan, Setup::default(), &keep_nothing);
        let report = results[0].report().expect("it ran");
        json::at(report.value(), &["inputs", "kv_bytes_per_token"]).cloned()
    };
    let count = |bytes| Some(crate::digest::canonical::Value::count(bytes));
    assert_eq!((bytes(None), bytes(Some(81_920))), (count(2), count(81_920)));
}
