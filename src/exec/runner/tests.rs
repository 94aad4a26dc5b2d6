//! Runners that err, played by scripts: each failure is that of its job alone, with what the runner left on stderr.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::*;
use crate::digest::Sha256;
use crate::exec::{Engines, JobError};
use crate::pin::{EnginePin, Registry};
use crate::plan::{EngineIdentity, JobKind, SimulationJob, load_plan};
use crate::record::{RunRecord, Witness};
use crate::sim::Options;

/// An answer to the first job of `smoke.kdl`, but for the key of the job.
const ANSWER: &str = include_str!("../../../tests/fixtures/runner/answer.json");

fn project() -> Registry {
    Registry::open(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project")
}

fn pin() -> EnginePin {
    project().engine_at("aisimulate", "0.13.0-dev.87").expect("pinned")
}

/// Two requests in a closed loop of one.
fn job() -> SimulationJob {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runner/job.kdl");
    let plan = load_plan(&file, Some(Path::new(env!("CARGO_MANIFEST_DIR")))).expect("it plans").0;
    let job = plan.jobs[0].under(&EngineIdentity::upstream(&pin()));
    let JobKind::Simulation(job) = job.kind else { panic!("it simulates") };
    *job
}

/// A runner that is a script.
struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    fn new(body: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = Self { folder };
        std::fs::write(script.program(), format!("#!/bin/sh\n{body}\n")).expect("written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(script.program(), mode).expect("its own file");
        script
    }

    /// Answers with `text` once it has read what it is asked.
    fn answering(text: &str) -> Self {
        let script = Self::new("cat > \"$0.asked\"\ncat \"$0.answer\"\necho done >&2");
        std::fs::write(script.beside("answer"), text).expect("written");
        script
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("runner")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("runner.{name}"))
    }

    fn run_within(&self, limits: Limits, stop: Option<&AtomicBool>) -> Result<RunRecord, JobError> {
        let upstream = Upstream {
            pin: pin(),
            program: self.program(),
            digest: Sha256::of(b"a script"),
            limits,
        };
        upstream.run(&job(), None, &Options { stop, ..Options::default() })
    }

    fn run(&self) -> Result<RunRecord, JobError> {
        self.run_within(Limits::default(), None)
    }

    fn failure(&self) -> RunnerError {
        match self.run() {
            Err(JobError::Runner(error)) => error,
            other => panic!("expected the runner's failure: {other:?}"),
        }
    }
}

/// A preemption before the beginning of time.
const PREEMPTED_EARLY: &str = r#""records":[{"at_ms":-1.0,"pool":"agg","request_uuid":"00000000-0000-0000-0000-000000000001"}]"#;

fn answer() -> String {
    ANSWER.replace("JOB", &job().key().digest().hex())
}

#[test]
fn an_answer_becomes_a_record_that_says_no_more_than_the_engine_does() {
    let script = Script::answering(&answer());
    let record = script.run().expect("answered");
    let asked = std::fs::read(script.beside("asked")).expect("kept");
    let asked: serde_json::Value = serde_json::from_slice(&asked).expect("JSON");
    assert_eq!(asked["protocol"], "touchstone.runner/1");
    assert_eq!(asked["engine"]["version"], pin().version);
    assert_eq!(asked["spec"]["engine"]["rank"]["timing_model"]["type"], "fixed");
    let rank = asked["spec"]["engine"]["rank"].to_string();
    assert!(rank.contains("\"kv_transfer_timing_mode\":\"full_prompt\""), "{rank}");
    assert_eq!(asked["traffic"]["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(record.requests.len(), 2);
    let first = record.requests.iter().next().expect("two");
    assert_eq!((first.index, first.output.get(), first.rank), (0, 3, Some(0)));
    assert_eq!(first.second_token.map(crate::units::SimTime::as_ms), Some(12.0));
    assert_eq!(record.witness, Witness::Requests { unended: 0, counts_prefill: true });
    assert_eq!(record.gaps.count(), 0);
    let laws = crate::measure::Invariant::violations(&record, &crate::measure::Limits::default());
    assert_eq!(laws, Vec::new());
}

#[test]
fn a_rank_that_was_chosen_and_served_nothing_is_not_told() {
    let text = answer().replacen("\"decode_worker_idx\":0", "\"decode_worker_idx\":null", 1);
    let record = Script::answering(&text).run().expect("answered");
    let ranks: Vec<Option<u32>> = record.requests.iter().map(|request| request.rank).collect();
    assert_eq!(ranks, [None, Some(0)]);
}

#[test]
fn less_than_a_nanosecond_decides_nothing_about_the_transcript() {
    let digest = |text: &str| Script::answering(text).run().expect("answered").transcript.digest;
    let exact = answer();
    // The second request is admitted as the first one ends, and stands before it; with noise it is admitted after.
    let noisy =
        exact.replace("\"terminal_time_ms\":14.0", "\"terminal_time_ms\":13.999999999999998");
    assert_ne!(exact, noisy);
    assert_eq!(digest(&exact), digest(&noisy));
}

#[test]
fn a_runner_that_crashes_fails_its_job_and_its_stderr_is_kept() {
    let error = Script::new("echo went wrong >&2; exit 3").failure();
    let RunnerError::Crashed { how, stderr } = &error else { panic!("{error:?}") };
    assert!(how.contains('3'), "{how}");
    assert_eq!(stderr, "went wrong\n");
    assert!(error.to_string().ends_with("its stderr ends:\nwent wrong"), "{error}");
}

#[test]
fn what_is_no_answer_is_refused_with_what_is_wrong_with_it() {
    let other = |from: &str, to: &str| answer().replacen(from, to, 1);
    let key = job().key().digest().hex();
    for (text, expected) in [
        ("Segmentation fault".to_owned(), "expected value"),
        (String::new(), "EOF while parsing"),
        (other("touchstone.runner/1", "touchstone.runner/2"), "it speaks `touchstone.runner/2`"),
        (
            other("202610290000000087", "202610280000000086"),
            "it comes from engine `aisimulate` 0.13.0-dev.202610280000000086",
        ),
        (other(&key, "of-another"), "it is for job of-another instead of"),
        (other("\"session_id\":\"1\"", "\"session_id\":\"7\""), "a request that was not asked"),
        (other("\"session_id\":\"1\"", "\"session_id\":\"0\""), "it lists request 0 twice"),
        (other("\"num_requests\":2", "\"num_requests\":1"), "more requests than it counts"),
        (other("\"arrival_time_ms\":0.0", "\"arrival_time_ms\":-1.0"), "is no time"),
        (other("\"records\":[]", PREEMPTED_EARLY), "is no time"),
    ] {
        let error = Script::answering(&text).failure();
        let RunnerError::Nonsense { found, stderr } = &error else { panic!("{text}: {error:?}") };
        assert!(found.contains(expected), "{expected}: {found}");
        assert_eq!(stderr, "done\n");
    }
}

#[test]
fn what_the_engine_will_not_run_is_told_in_its_words() {
    let key = job().key().digest().hex();
    let version = pin().version;
    let text = format!(
        "{{\"protocol\":\"touchstone.runner/1\",\"job\":\"{key}\",\"engine\":{{\"name\":\"aisimulate\",\"version\":\"{version}\"}},\
         \"outcome\":{{\"refused\":{{\"message\":\"no such thing\"}}}}}}"
    );
    let error = Script::answering(&text).failure();
    assert_eq!(error, RunnerError::Refused { message: "no such thing".to_owned() });
}

#[test]
fn a_runner_that_hangs_is_ended_when_its_time_is_over() {
    let script = Script::new("echo waiting >&2; exec sleep 600");
    let limits = Limits { seconds: 0, ..Limits::default() };
    let Err(JobError::Runner(error)) = script.run_within(limits, None) else { panic!("it hangs") };
    assert!(matches!(error, RunnerError::TimedOut { seconds: 0, .. }), "{error:?}");
}

#[test]
fn a_runner_that_writes_no_more_and_stays_is_ended_too() {
    let script = Script::new("exec >&- 2>&-; exec sleep 600");
    let limits = Limits { seconds: 0, ..Limits::default() };
    let Err(JobError::Runner(error)) = script.run_within(limits, None) else { panic!("it stays") };
    assert!(matches!(error, RunnerError::TimedOut { seconds: 0, .. }), "{error:?}");
}

#[test]
fn a_runner_is_ended_when_someone_asks_to_stop() {
    let stop = AtomicBool::new(true);
    let ended = Script::new("exec sleep 600").run_within(Limits::default(), Some(&stop));
    assert_eq!(ended.err(), Some(JobError::Interrupted));
}

#[test]
fn an_answer_longer_than_it_may_be_is_none() {
    let limits = Limits { answer_bytes: 100, ..Limits::default() };
    let ended = Script::answering(&answer()).run_within(limits, None);
    let Err(JobError::Runner(RunnerError::Nonsense { found, .. })) = ended else { panic!("long") };
    assert_eq!(found, "it is longer than 100 bytes");
}

#[test]
fn a_runner_that_is_not_there_is_told_by_name() {
    let script = Script::new("");
    std::fs::remove_file(script.program()).expect("removed");
    let error = script.failure();
    assert!(
        matches!(&error, RunnerError::NotStarted { program, .. } if program.ends_with("runner"))
    );
}

/// A project with one engine that has a package, as a copy of this one's.
fn store() -> (tempfile::TempDir, RunnerStore, EnginePin) {
    let root = tempfile::tempdir().expect("a folder");
    let (from, pin) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("pins/engines"), pin());
    for file in ["pin.kdl", "runner/Cargo.toml", "runner/Cargo.lock", "runner/src/main.rs"] {
        let path = Path::new(&pin.folder).join(file);
        let to = root.path().join("pins/engines").join(&path);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        std::fs::copy(from.join(&path), to).expect("copied");
    }
    let store = RunnerStore {
        stop: None,
        root: root.path().to_owned(),
        cache: root.path().join("cache"),
        prebuilt: None,
        limits: Limits::default(),
    };
    (root, store, pin)
}

#[test]
fn a_lock_file_of_another_version_or_checksum_is_refused_before_anything_is_built() {
    let (root, store, pin) = store();
    assert_eq!(store.state(&pin).expect("as pinned").0, RunnerState::Absent);
    let lock = root.path().join("pins/engines").join(&pin.folder).join("runner/Cargo.lock");
    let text = std::fs::read_to_string(&lock).expect("there");
    let checksum = pin.checksum.clone().expect("an upstream engine has one");
    for (from, to) in [(&checksum, "0".repeat(64)), (&pin.version, "0.13.0".to_owned())] {
        std::fs::write(&lock, text.replace(from, &to)).expect("written");
        let refused = store.upstream(&pin, &|_| panic!("nothing is built")).expect_err("differs");
        let problem = refused.into_sorted().remove(0);
        assert_eq!(problem.code().as_str(), "engine::lock");
        let help = problem.help_text().expect("help");
        assert!(help.contains(&to) && help.contains(from), "{help}");
    }
    // As cargo may write it, too: keys in another order, another layout.
    let version = format!("name = \"aisimulate-core\"\nversion = \"{}\"\n", pin.version);
    assert!(text.contains(&version), "{text}");
    let other = format!("version = '{}'\nname   =   'aisimulate-core'\n", pin.version);
    std::fs::write(&lock, text.replace(&version, &other)).expect("written");
    assert_eq!(store.state(&pin).expect("as pinned").0, RunnerState::Absent);
    std::fs::write(&lock, "[[package]\n").expect("written");
    let garbage = store.state(&pin).expect_err("no TOML").into_sorted().remove(0);
    assert_eq!(garbage.code().as_str(), "pin::audit_syntax");
    std::fs::remove_file(&lock).expect("removed");
    let missing = store.state(&pin).expect_err("no lock file").into_sorted().remove(0);
    assert_eq!(missing.code().as_str(), "engine::source");
}

#[test]
fn a_built_runner_is_found_by_what_it_was_built_from_and_only_as_it_was_built() {
    let (root, store, pin) = store();
    let absent = store.verify(&pin).expect_err("not built").into_sorted().remove(0);
    assert_eq!(absent.code().as_str(), "engine::absent");
    let source = RunnerSource::read(&store.root, &pin).expect("a package");
    let entry = store.cache.join(format!("{}@{}", pin.folder, source.digest.short()));
    std::fs::create_dir_all(&entry).expect("made");
    std::fs::write(entry.join("runner"), "a program").expect("written");
    std::fs::write(entry.join("runner.sha256"), Sha256::of(b"a program").hex()).expect("written");
    let found = store.upstream(&pin, &|_| panic!("it is there")).expect("built");
    assert_eq!(found.digest, Sha256::of(b"a program"));
    std::fs::write(entry.join("runner"), "another").expect("written");
    let damaged = store.verify(&pin).expect_err("damaged").into_sorted().remove(0);
    assert_eq!(damaged.code().as_str(), "engine::damaged");
    assert!(damaged.help_text().expect("help").ends_with(" --rebuild all"), "{damaged}");
    let main = root.path().join("pins/engines").join(&pin.folder).join("runner/src/main.rs");
    std::fs::write(main, "fn main() {}\n").expect("written");
    assert_eq!(store.state(&pin).expect("a package").0, RunnerState::Absent, "other sources");
    assert_eq!(store.remove(&pin).expect("removed"), 1);
    assert_eq!(store.remove(&pin).expect("none left"), 0);
}

#[test]
fn a_package_that_does_not_compile_is_told_with_what_the_compiler_says() {
    let (root, store, pin) = store();
    let manifest = root.path().join("pins/engines").join(&pin.folder).join("runner/Cargo.toml");
    std::fs::write(manifest, "no manifest").expect("written");
    let told = std::cell::RefCell::new(Vec::new());
    let refused = store.build(&pin, &|line| told.borrow_mut().push(line.to_owned()));
    let problem = refused.expect_err("it is none").into_sorted().remove(0);
    assert_eq!(problem.code().as_str(), "engine::build");
    assert!(told.borrow().len() > 1, "{told:?}");
    assert_eq!(store.state(&pin).expect("a package").0, RunnerState::Absent);
}

#[test]
fn who_builds_waits_for_another_that_builds() {
    let (root, store, pin) = store();
    let manifest = root.path().join("pins/engines").join(&pin.folder).join("runner/Cargo.toml");
    std::fs::write(manifest, "no manifest").expect("written");
    let alone = store.alone(&|_| panic!("nobody else builds")).expect("a lock");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| store.build(&pin, &|line| tell.send(line.to_owned()).expect("heard")));
        assert!(told.recv().expect("told").starts_with("waiting for another process"));
        drop(alone);
        assert!(told.recv().expect("told").starts_with("building the runner"));
    });
}

#[test]
fn a_ready_made_runner_needs_no_package() {
    let (root, store, pin) = store();
    let folder = root.path().join("made").join(&pin.folder);
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("runner"), "a program").expect("written");
    let store = RunnerStore { prebuilt: Some(root.path().join("made")), ..store };
    std::fs::remove_dir_all(root.path().join("pins/engines").join(&pin.folder).join("runner"))
        .expect("removed");
    assert_eq!(store.state(&pin).expect("there").0, RunnerState::Prebuilt);
    let found = store.upstream(&pin, &|_| panic!("it is there")).expect("there");
    assert_eq!(found.digest, Sha256::of(b"a program"));
}

#[test]
fn every_runner_of_this_project_is_locked_to_its_pin() {
    let registry = project();
    let pins = registry.engine_versions("aisimulate").expect("right");
    assert_eq!(pins.len(), 5);
    for pin in &pins {
        RunnerSource::read(registry.root(), pin).expect(&pin.folder);
        let engine = EngineIdentity::upstream(pin);
        assert!(Engines::of([&engine], &registry).is_ok(), "{}", pin.folder);
    }
}
