//! Goldens through the command line: red without one, accepted with a reason, green after, red at the smallest change.

use std::fs;

use crate::program::{Place, Ran};
use crate::runs::scenario;

const GATE: &str = "gate { golden \"pins/goldens/small.kdl\" }";
const GOLDEN: &str = "pins/goldens/small.kdl";
const FILE: &str = "scenarios/small.kdl";

/// Returns a project with a gate whose golden does not exist yet.
fn project() -> Place {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", GATE);
    place.write(FILE, text);
    place
}

/// Returns a project with an accepted golden.
fn accepted() -> Place {
    let place = project();
    accept(&place).exits(0);
    place
}

fn accept(place: &Place) -> Ran {
    place.bench(["accept", FILE, "--reason", "a \"first\" golden"])
}

/// Changes the scenario's text.
fn edit(place: &Place, from: &str, to: &str) {
    let text = place.read(FILE);
    assert!(text.contains(from), "{from}");
    place.write(FILE, text.replace(from, to));
}

#[test]
fn a_missing_golden_is_red_and_says_how_to_accept_it() {
    let place = project();
    let ran = place.bench(["run", FILE]).exits(3);
    for part in ["gate::golden_missing", "bench accept scenarios/small.kdl --reason"] {
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    }
    assert!(ran.stdout.contains("NEW"), "{ran}");
    assert!(place.path("runs/small/latest/golden.pending.kdl").exists());
    place.bench(["check", FILE]).exits(3);
    assert!(!place.path(GOLDEN).exists());
}

#[test]
fn what_was_accepted_is_green_and_accepting_it_again_changes_nothing() {
    let place = accepted();
    let golden = place.read(GOLDEN);
    assert!(
        golden.contains("reason=\"a \\\"first\\\" golden\"") && golden.contains("equal-runs=3")
    );
    assert!(place.bench(["run", FILE]).exits(0).stdout.contains(" ok\n"));
    place.bench(["check", FILE]).exits(0);
    let again = accept(&place).exits(0);
    assert_eq!(again.stdout, "");
    assert_eq!(place.read(GOLDEN), golden);
}

#[test]
fn check_writes_nothing() {
    let place = accepted();
    let before = fs::read_dir(place.path(".")).expect("readable").count();
    place.bench(["check", FILE]).exits(0);
    assert_eq!(fs::read_dir(place.path(".")).expect("readable").count(), before);
    assert!(!place.path("runs").exists());
}

#[test]
fn a_changed_timing_is_drift_that_names_job_section_request_and_field() {
    let place = accepted();
    place.bench(["run", FILE]).exits(0);
    edit(&place, "decode-ms=3.3", "decode-ms=3.300001");
    let ran = place.bench(["check", FILE]).exits(3);
    for part in [
        "gate::drift",
        "job `small/loop/agg/native/replicas=1` drifts in inputs, events, requests, summary",
        "request 0: `e2e_ns` is",
        "its key is another one",
        "more figures",
        "bench diff pins/goldens/small.kdl runs/small/latest",
        "bench accept scenarios/small.kdl --reason",
        "pins/goldens/small.kdl:",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    }
    assert_eq!(ran.stdout.matches("DRIFT").count(), 4, "{ran}");

    place.bench(["run", FILE]).exits(3);
    let diff = place.bench(["diff", GOLDEN, "runs/small/latest"]).exits(3);
    assert!(diff.stdout.contains("worse"), "{diff}");
    let shown = place.bench(["accept", FILE, "--reason", "slower"]).exits(0);
    assert!(
        shown.stdout.contains("ttft_ns_p99") || shown.stdout.contains("duration_ns"),
        "{shown}"
    );
    place.bench(["check", FILE]).exits(0);
    place.bench(["diff", GOLDEN, "runs/small/latest"]).exits(0);
}

#[test]
fn a_job_that_only_plan_or_golden_has_is_red() {
    let place = accepted();
    edit(&place, "replicas\" 1 2", "replicas\" 1");
    let ran = place.bench(["check", FILE]).exits(3);
    assert_eq!(ran.stderr.matches("error[gate::job_gone]").count(), 2, "{ran}");
    edit(&place, "replicas\" 1", "replicas\" 1 2 4");
    let ran = place.bench(["check", FILE]).exits(3);
    assert_eq!(ran.stderr.matches("error[gate::job_unaccepted]").count(), 2, "{ran}");
    place.bench(["accept", FILE, "--reason", "four replicas as well"]).exits(0);
    place.bench(["check", FILE]).exits(0);
}

#[test]
fn nothing_is_accepted_in_continuous_integration() {
    let place = project();
    let mut command = place.command(["accept", FILE, "--reason", "robots"]);
    let ran = Ran::of(command.env("CI", "true")).exits(3);
    assert!(ran.stderr.contains("accept::forbidden"), "{ran}");
    assert!(!place.path(GOLDEN).exists());
}

#[test]
fn a_failing_job_is_not_accepted() {
    let place = project();
    edit(&place, "backend \"vllm\"", "backend \"vllm\"\n        context-length 128");
    let ran = accept(&place).exits(1);
    assert!(ran.stderr.contains("accept::failed"), "{ran}");
    assert!(!place.path(GOLDEN).exists());
}

#[test]
fn a_golden_with_windows_line_ends_and_comments_is_the_same_golden() {
    let place = accepted();
    let text = place.read(GOLDEN).replace('\n', "\r\n");
    place.write(GOLDEN, format!("\u{feff}// a comment\r\n{text}"));
    place.bench(["check", FILE]).exits(0);
}

#[test]
fn an_edited_golden_is_red() {
    let place = accepted();
    let text = place.read(GOLDEN);
    place.write(
        GOLDEN,
        text.replacen("\"requests_offered\" \"40\"", "\"requests_offered\" \"41\"", 1),
    );
    let ran = place.bench(["check", FILE]).exits(3);
    assert!(ran.stderr.contains("gate::golden_edited"), "{ran}");
}

#[test]
fn other_metric_definitions_are_no_verdict() {
    let place = accepted();
    place.bench(["run", FILE]).exits(0);
    let text = place.read(GOLDEN);
    place.write(GOLDEN, text.replace("touchstone.metrics/1", "touchstone.metrics/0"));
    let ran = place.bench(["check", FILE]).exits(4);
    assert!(ran.stderr.contains("gate::other_definition"), "{ran}");
    let ran = place.bench(["diff", GOLDEN, "runs/small/latest"]).exits(4);
    assert!(ran.stderr.contains("diff::other_definition"), "{ran}");
}

#[test]
fn a_check_that_compares_nothing_is_not_green() {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    place.write(FILE, text);
    let ran = place.bench(["check", FILE]).exits(4);
    assert!(ran.stderr.contains("accept::no_gate"), "{ran}");
    place.bench(["accept", FILE, "--reason", "none"]).exits(2);
}

#[test]
fn one_job_alone_prints_the_report_that_the_run_keeps() {
    let place = project();
    place.bench(["run", FILE]).exits(3);
    let id = "small/recorded/agg/native/replicas=2";
    let alone = place.bench(["exec-job", FILE, "--job", id]).exits(0);
    assert_eq!(alone.stdout, place.read(format!("runs/small/latest/jobs/{id}/report.json")));
    let unknown = place.bench(["exec-job", FILE, "--job", "nobody"]).exits(2);
    assert!(unknown.stderr.contains("job::unknown"), "{unknown}");
}

#[test]
fn junit_says_which_digests_and_sections_differ() {
    let place = accepted();
    edit(&place, "decode-ms=3.3", "decode-ms=3.300001");
    place.bench(["run", FILE]).exits(3);
    let junit = place.read("runs/small/latest/junit.xml");
    assert!(junit.contains("failures=\"4\" errors=\"0\""), "{junit}");
    let golden = place.read(GOLDEN);
    for line in golden.lines().filter_map(|line| line.trim().strip_prefix("report ")) {
        let digest = line.trim_matches('"');
        assert_eq!(junit.matches(digest).count(), 1, "{digest}: {junit}");
    }
    assert_eq!(junit.matches("drifts in inputs, events, requests, summary").count(), 4, "{junit}");
}

#[test]
fn a_drift_is_told_in_lines_that_fit_a_page() {
    let place = accepted();
    place.bench(["run", FILE]).exits(0);
    edit(&place, "decode-ms=3.3", "decode-ms=3.300001");
    let ran = place.bench(["check", FILE]).exits(3);
    let longest = ran.stderr.lines().map(str::len).max().unwrap_or(0);
    assert!(longest < 140, "{longest}: {ran}");
}

#[test]
fn several_checks_stand_under_their_paths() {
    let place = accepted();
    let text = place.read(FILE);
    place.write("scenarios/copy.kdl", text);
    let ran = place.bench(["check", FILE, "scenarios/copy.kdl"]).exits(0);
    for heading in [FILE, "scenarios/copy.kdl"] {
        assert!(ran.stdout.lines().any(|line| line == heading), "{heading}: {ran}");
    }
}

#[test]
fn a_run_whose_files_were_edited_is_not_compared() {
    let place = project();
    place.bench(["run", FILE]).exits(3);
    let latest = fs::canonicalize(place.path("runs/small/latest")).expect("a run");
    let job = "jobs/small/loop/agg/native/replicas=1";
    for (file, from, to) in [
        (format!("{job}/requests.jsonl"), "\"input_tokens\":300", "\"input_tokens\":301"),
        (format!("{job}/report.json"), "\"requests_offered\":40", "\"requests_offered\":41"),
        ("run.json".to_owned(), "\"outcome\":\"completed\"", "\"outcome\":\"failed\""),
    ] {
        let path = latest.join(&file);
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.contains(from), "{file}: {text}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
        let ran = place.bench(["diff", "runs/small/latest", "runs/small/latest"]).exits(2);
        assert!(ran.stderr.contains("run::unreadable"), "{file}: {ran}");
        fs::write(&path, text).expect("written");
    }
    let path = latest.join(job).join("requests.jsonl");
    fs::remove_file(path).expect("removed");
    place.bench(["diff", "runs/small/latest", "runs/small/latest"]).exits(2);
}

#[test]
fn two_equal_runs_do_not_differ_and_what_is_no_run_is_refused() {
    let place = project();
    place.bench(["run", FILE]).exits(3);
    let same = place.bench(["diff", "runs/small/latest", "runs/small/latest/run.json"]).exits(0);
    assert_eq!(same.stdout, "4 jobs, all equal\n");
    let ran = place.bench(["diff", "runs/small/latest", "pins"]).exits(2);
    assert!(ran.stderr.contains("run::unreadable"), "{ran}");
}

#[test]
fn a_golden_that_cannot_be_read_is_refused_before_any_job_starts() {
    let place = accepted();
    let text = place.read(GOLDEN);
    place.write(GOLDEN, text.replace("golden \"small\"", "golden \"other\""));
    let ran = place.bench(["check", FILE]).exits(3);
    assert!(ran.stderr.contains("gate::golden_wrong"), "{ran}");
    place.write(GOLDEN, text.replace("equal-runs=3", "equal-runs=\"three\" runs=4"));
    let ran = place.bench(["run", FILE]).exits(2);
    assert!(ran.stderr.contains("pins/goldens/small.kdl:"), "{ran}");
    assert!(!place.path("runs").exists());
}

#[test]
fn ten_processes_side_by_side_give_one_report() {
    let place = project();
    let run = |_| {
        let mut command =
            place.command(["exec-job", FILE, "--job", "small/recorded/agg/native/replicas=2"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().expect("the binary was built with this test")
    };
    let running: Vec<_> = (0..10).map(run).collect();
    let outputs = running.into_iter().map(|child| child.wait_with_output().expect("it ends"));
    let mut reports: Vec<Vec<u8>> = outputs.map(|output| output.stdout).collect();
    reports.dedup();
    assert_eq!(reports.len(), 1, "ten equal processes print one report");
    assert!(!reports[0].is_empty());
}
