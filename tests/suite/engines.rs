//! Pinned engines from the command line. No test builds a runner: scripts play them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::{Place, Ran};

/// The pin that the scripts answer for.
const PIN: &str = "aisimulate-0.13.0-dev.202610290000000087";

/// Answers every job as `answer` has it, under the key that was asked.
pub(crate) const OBLIGING: &str = "#!/bin/sh
job=$(sed 's/.*\"job\":\"\\([0-9a-f]*\\)\".*/\\1/')
sed \"s/JOB/$job/\" \"$0.answer\"
";

/// Returns a project whose scenario runs on an engine whose runner is this script.
pub(crate) fn project(script: &str) -> Place {
    let place = Place::with_pins();
    let scenario = include_str!("../fixtures/runner/job.kdl").replace(
        "engine \"native\" version=\"1\"",
        "engine \"aisimulate\" version=\"0.13.0-dev.87\" checksum=\"eb823782e806dd74cba719906a6b828b86f415aad54c6d5016c29ff278e89319\"",
    );
    place.write("scenarios/r.kdl", scenario.replace("engine \"native\"", "engine \"aisimulate\""));
    let program = place.write(&format!("made/{PIN}/runner"), script);
    let answer = include_str!("../fixtures/runner/answer.json");
    place.write(&format!("made/{PIN}/runner.answer"), answer);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("its own file");
    place
}

/// Runs `bench` where ready-made runners and nothing else can be found.
pub(crate) fn bench(place: &Place, arguments: &[&str]) -> Ran {
    let mut command = place.command(arguments);
    command.env("TOUCHSTONE_CACHE", place.path("cache"));
    command.env("TOUCHSTONE_RUNNERS", place.path("made"));
    Ran::of(&mut command)
}

#[test]
fn every_engine_is_listed_with_whether_its_runner_is_there_and_nothing_is_built_to_say_so() {
    let place = project(OBLIGING);
    let ran = bench(&place, &["engines", "list"]).exits(0);
    let line = |name: &str| ran.stdout.lines().find(|line| line.contains(name)).expect(name);
    assert!(line("0.12.1 ").contains("not built"), "{ran}");
    assert!(line("0000000087").contains("prebuilt"), "{ran}");
    assert!(line("native").contains("in this program"), "{ran}");
    assert!(!place.path("cache").exists());
    let json = bench(&place, &["engines", "list", "--format", "json"]).exits(0);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(value["engines"].as_array().map(Vec::len), Some(ran.stdout.lines().count() - 1));
    assert!(ran.stdout.starts_with("engine      version"), "{ran}");
    assert!(line("native").ends_with("compat 0.13.0 0.13.0-dev.87"), "{ran}");
}

#[test]
fn a_scenario_runs_on_a_pinned_engine_and_its_report_says_what_the_engine_does_not_tell() {
    let place = project(OBLIGING);
    let ran = bench(&place, &["run", "scenarios/r.kdl"]).exits(0);
    assert!(ran.stdout.contains("runner/two/one/aisimulate"), "{ran}");
    let report = place.read("runs/runner/latest/jobs/runner/two/one/aisimulate/report.json");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["validity"]["absent"]["itl_ns"], "not-told");
    assert_eq!(report["summary"]["requests_completed"], 2);
    assert_eq!(report["summary"]["pools"][0]["blocks_held_peak"], serde_json::Value::Null);
    let cached = bench(&place, &["run", "scenarios/r.kdl"]).exits(0);
    assert_eq!(cached.stdout, ran.stdout);
}

#[test]
fn another_runner_never_meets_the_results_of_the_first() {
    let place = project(OBLIGING);
    bench(&place, &["run", "scenarios/r.kdl"]).exits(0);
    let program = format!("made/{PIN}/runner");
    place.write(&program, OBLIGING.replace("JOB", "NOBODY"));
    let ran = bench(&place, &["run", "scenarios/r.kdl"]).exits(1);
    assert!(ran.stderr.contains("it is for job JOB instead of"), "{ran}");
}

#[test]
fn a_runner_that_fails_fails_its_job_with_its_stderr() {
    let place = project("#!/bin/sh\necho out of memory >&2\nexit 134\n");
    let ran = bench(&place, &["run", "scenarios/r.kdl"]).exits(1);
    assert!(ran.stderr.contains("job `runner/two/one/aisimulate` failed"), "{ran}");
    assert!(ran.stderr.contains("out of memory"), "{ran}");
}

#[test]
fn what_an_engine_cannot_run_is_refused_before_a_job_starts() {
    let place = project("#!/bin/sh\nexit 1\n");
    let text = place
        .read("scenarios/r.kdl")
        .replace("timing \"fixed\" prefill-ms=10.0 decode-ms=2.0", "timing \"roofline\"");
    place.write("scenarios/r.kdl", text);
    let ran = bench(&place, &["run", "scenarios/r.kdl"]).exits(2);
    assert!(ran.stderr.contains("timing `roofline` on engine `aisimulate` 0.13.0-dev."), "{ran}");
    assert!(!place.path("runs").exists(), "{ran}");
}

#[test]
fn a_runner_that_is_not_built_is_a_state_and_a_mistake_where_its_version_is_named() {
    let place = project(OBLIGING);
    let ran = bench(&place, &["engines", "verify"]).exits(0);
    assert!(ran.stdout.contains("aisimulate 0.12.1 not built\n"), "{ran}");
    assert!(ran.stdout.contains("0000000087 as built "), "{ran}");
    assert!(ran.stderr.contains("4 not built: `bench run` builds what its jobs need"), "{ran}");
    let ran = bench(&place, &["engines", "verify", "aisimulate", "--version", "0.12.1"]).exits(2);
    assert!(ran.stderr.contains("engine::absent"), "{ran}");
}

#[test]
fn a_version_that_is_not_pinned_is_refused_with_those_that_are() {
    let place = project(OBLIGING);
    let ran = bench(&place, &["engines", "build", "aisimulate", "--version", "0.14.0"]).exits(2);
    assert!(ran.stderr.contains("it is pinned at `0.12.1`, "), "{ran}");
    let ran = bench(&place, &["engines", "verify", "native"]).exits(2);
    assert!(ran.stderr.contains("engine `native` has no runner"), "{ran}");
    bench(&place, &["engines", "verify", "aisimulate", "--version", "0.13.0-dev.87"]).exits(0);
    bench(&place, &["engines", "verify", "aisimulate", "--version", "0.12.1"]).exits(2);
    bench(&place, &["engines", "remove"]).exits(0);
}

#[test]
fn jobs_of_this_program_run_where_there_is_no_folder_for_runners() {
    let place = Place::repository();
    let bare = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env_remove("TOUCHSTONE_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME");
        Ran::of(&mut command)
    };
    bare(&["run", "scenarios/smoke.kdl"]).exits(0);
    let listed = bare(&["engines", "list"]).exits(2);
    assert!(listed.stderr.contains("there is no folder for built runners"), "{listed}");
}

/// Gives a second version of the engine a runner: this script, with an answer whose first request has its first token a millisecond earlier.
pub(crate) fn another_version(place: &Place, script: &str) {
    let pin = "aisimulate-0.13.0-dev.202610280000000086";
    let program = place.write(&format!("made/{pin}/runner"), script);
    let answer = include_str!("../fixtures/runner/answer.json")
        .replace("202610290000000087", "202610280000000086")
        .replacen("\"first_token_ms\":10.0", "\"first_token_ms\":9.0", 1);
    place.write(&format!("made/{pin}/runner.answer"), answer);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("its own file");
}

/// Both versions, as `explain` and `minimise` take them.
pub(crate) const VERSIONS: [&str; 6] =
    ["--engine", "aisimulate", "--from", "0.13.0-dev.86", "--to", "0.13.0-dev.87"];

#[test]
fn versions_that_tell_no_passes_are_explained_by_their_requests() {
    let place = project(OBLIGING);
    another_version(&place, OBLIGING);
    let ran = bench(&place, &[&["explain", "scenarios/r.kdl"], &VERSIONS[..]].concat()).exits(3);
    assert!(ran.stdout.contains("compared request by request: the engines of "), "{ran}");
    assert!(ran.stdout.contains("First divergence: first token of request 0 at 9 ms"), "{ran}");
}

#[test]
fn a_job_is_made_smaller_on_runners_and_one_that_neither_answers_is_told_with_the_reason() {
    let place = project(OBLIGING);
    another_version(&place, OBLIGING);
    let minimise = [&["minimise", "scenarios/r.kdl", "-o", "out"], &VERSIONS[..]].concat();
    // The scripts answer alike whatever is asked, so a job with fewer requests has no answer that fits it.
    let ran = bench(&place, &minimise).exits(0);
    assert!(ran.stdout.starts_with("2 of 2 requests are left"), "{ran}");

    let place = project("#!/bin/sh\necho out of order >&2; exit 3\n");
    another_version(&place, "#!/bin/sh\necho out of order >&2; exit 3\n");
    let ran = bench(&place, &minimise).exits(4);
    assert!(ran.stderr.contains("does not come to its end"), "{ran}");
    assert!(ran.stderr.contains("out of order"), "{ran}");
}

#[test]
fn declared_changes_are_found_in_the_folder_of_the_pin_whatever_it_is_called() {
    let place = project(OBLIGING);
    another_version(&place, OBLIGING);
    let folder = place.path("pins/engines/aisimulate");
    fs::rename(place.path(format!("pins/engines/{PIN}")), folder).expect("its own folder");
    fs::rename(place.path(format!("made/{PIN}")), place.path("made/aisimulate")).expect("as well");
    let ran = bench(&place, &[&["upgrade", "scenarios/r.kdl"], &VERSIONS[..]].concat()).exits(3);
    assert!(ran.stdout.contains("change `shared-links` speaks of no job"), "{ran}");
}

/// Takes requests of the protocol to its own version, and refuses every job.
const CONFORMING: &str = r#"#!/bin/sh
request=$(cat)
case $request in
'{"protocol":"touchstone.runner/1","job":"'*'","engine":{"name":"aisimulate","version":"0.13.0-dev.202610290000000087"},"spec":{'*'}}') ;;
*) echo 'no request' >&2; exit 2 ;;
esac
job=$(echo "$request" | sed 's/.*"job":"\([0-9a-f]*\)".*/\1/')
echo '{"protocol":"touchstone.runner/1","job":"'$job'","engine":{"name":"aisimulate","version":"0.13.0-dev.202610290000000087"},"outcome":{"refused":{"message":"no"}}}'
"#;

#[test]
fn a_runner_is_held_to_the_protocol_case_by_case() {
    let words = ["engines", "verify", "aisimulate", "--version", "0.13.0-dev.87", "--conformance"];
    let ran = bench(&project(CONFORMING), &words).exits(0);
    assert!(ran.stdout.ends_with(", 9 cases of the protocol\n"), "{ran}");
    for (script, case) in [
        (CONFORMING.replace("exit 2", "exit 3"), "no request: it ends with"),
        (CONFORMING.replace("echo 'no request' >&2; ", ""), "no JSON: it says nothing on stderr"),
        (CONFORMING.replace("'}}') ;;", "'}') ;;"), "a field that the protocol lacks: it answers"),
        (
            CONFORMING.replace(
                "\"version\":\"0.13.0-dev.202610290000000087\"},\"spec\"",
                "\"version\":\"'*'\"},\"spec\"",
            ),
            "another version: it answers",
        ),
        (
            CONFORMING.replace("\"job\":\"'$job'\"", "\"job\":\"x\""),
            "a job that no engine runs: the runner's answer is none",
        ),
    ] {
        let ran = bench(&project(&script), &words).exits(2);
        assert!(
            ran.stderr.contains("engine::protocol") && ran.stderr.contains(case),
            "{case}: {ran}"
        );
    }
    let ran = bench(&project(OBLIGING), &words[..5]).exits(0);
    assert!(ran.stdout.contains("as built"), "{ran}");
}
