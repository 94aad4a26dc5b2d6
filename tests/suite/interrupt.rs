//! Signals: the end of the program where nobody else listens, and what an interrupted run leaves.
#![cfg(unix)]

use std::fs::{File, read_dir};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::program::Place;
use crate::runs::scenario;

/// Starts `bench` with both streams kept.
fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary was built with this test")
}

/// Makes a file that is never read to its end.
fn endless(place: &Place, name: &str) -> PathBuf {
    let path = place.path(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    path
}

fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    assert!(kill.args([name, &child.id().to_string()]).status().expect("kill").success());
}

#[test]
fn a_signal_while_files_are_read_ends_the_program_with_130() {
    let place = Place::with_pins();
    let file = endless(&place, "endless.kdl");
    let child = start(&place, &["run", "endless.kdl"]);
    let held = File::create(&file).expect("opens once the program reads");
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    drop(held);
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn a_signal_between_the_scenarios_of_a_check_is_not_swallowed() {
    let place = Place::with_pins();
    place.write("first.kdl", scenario(&place, "3.3", "gate { golden \"pins/goldens/first.kdl\" }"));
    let file = endless(&place, "endless.kdl");
    let child = start(&place, &["check", "first.kdl", "endless.kdl"]);
    let held = File::create(&file).expect("opens once the first is checked");
    signal(&child, "-TERM");
    let output = child.wait_with_output().expect("it ends");
    drop(held);
    assert_eq!(output.status.code(), Some(130));
}

/// Returns a project whose second job would go on for hours, with a gate that names a golden.
fn long(place: &Place) {
    let text = scenario(place, "3.3", "gate { golden \"pins/goldens/small.kdl\" }");
    let text = text.replace("\"loop\" \"recorded\"", "\"recorded\" \"loop\"");
    let text = text.replace("replicas\" 1 2", "replicas\" 1");
    place.write("scenarios/small.kdl", text.replace("requests=40", "requests=2000000000"));
}

/// Starts the long run and interrupts it after its first job.
fn interrupted(place: &Place) -> Output {
    let mut child = start(place, &["run", "scenarios/small.kdl", "--jobs", "1"]);
    while !first_job_is_there(&place.path("runs/small")) {
        assert!(child.try_wait().expect("a child").is_none(), "the run ended by itself");
        std::thread::yield_now();
    }
    signal(&child, "-INT");
    child.wait_with_output().expect("it ends")
}

/// Returns whether a run folder in the making holds a complete job.
fn first_job_is_there(scenario: &Path) -> bool {
    let Ok(entries) = read_dir(scenario) else { return false };
    let job = "jobs/small/recorded/agg/native/replicas=1/requests.jsonl";
    let making = |name: &Path| name.to_string_lossy().contains(".new-");
    entries
        .filter_map(Result::ok)
        .any(|entry| making(&entry.path()) && entry.path().join(job).exists())
}

/// Returns the folder that a run said it left.
fn told(place: &Place, output: &Output) -> PathBuf {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find_map(|line| line.strip_prefix("run folder: "));
    place.path(line.unwrap_or_else(|| panic!("{stderr}")))
}

#[test]
fn an_interrupted_run_leaves_latest_alone_is_red_in_junit_and_advises_no_accepting() {
    let place = Place::with_pins();
    long(&place);
    let text = place.read("scenarios/small.kdl");
    place.write("scenarios/small.kdl", text.replace("requests=2000000000", "requests=40"));
    place.bench(["run", "scenarios/small.kdl", "--no-cache"]).exits(3);
    let whole = place.read("runs/small/latest/run.json");

    long(&place);
    let output = interrupted(&place);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(place.read("runs/small/latest/run.json"), whole, "latest is the last whole run");
    let cut = told(&place, &output);
    let read = |name: &str| std::fs::read_to_string(cut.join(name)).expect("readable");
    assert!(read("run.json").contains("\"outcome\":\"interrupted\""));
    let junit = read("junit.xml");
    assert!(junit.contains("errors=\"1\" skipped=\"0\""), "{junit}");
    assert!(junit.contains("<error message=\"interrupted"), "{junit}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    for advice in ["bench accept", "gate::golden_missing"] {
        assert!(!stderr.contains(advice) && !junit.contains(advice), "{stderr}{junit}");
    }
}

#[test]
fn a_first_run_that_is_interrupted_has_no_latest_and_keeps_its_finished_jobs() {
    let place = Place::with_pins();
    long(&place);
    let output = interrupted(&place);
    assert_eq!(output.status.code(), Some(130));
    assert!(!place.path("runs/small/latest").exists());
    let cut = told(&place, &output);
    assert!(cut.join("jobs/small/recorded/agg/native/replicas=1/report.json").exists());
    assert!(String::from_utf8_lossy(&output.stdout).contains("INTERRUPTED"));
}
