//! What is left of commands on pinned engines that someone asked to stop, or that find nothing. Scripts play the runners.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::engines::{OBLIGING, VERSIONS, another_version, bench, project};
use crate::program::{Place, Ran};

/// Answers as [`OBLIGING`] does, save that its call of this number waits for what is written into a pipe beside it.
fn held_at(call: u32) -> String {
    let hold = format!(
        "echo >>\"$0.calls\"\n[ $(wc -l <\"$0.calls\") != {call} ] || cat \"$0.hold\" >/dev/null\n"
    );
    OBLIGING.replacen("#!/bin/sh\n", &format!("#!/bin/sh\n{hold}"), 1)
}

/// Starts `bench` as [`bench`] does, asks it to stop once something opens `pipe`, and returns what it left.
fn stopped(place: &Place, arguments: &[&str], pipe: &str) -> Ran {
    let mut command = place.command(arguments);
    command.env("TOUCHSTONE_CACHE", place.path("cache"));
    command.env("TOUCHSTONE_RUNNERS", place.path("made"));
    stopped_at(&mut command, &place.path(pipe))
}

/// Starts a command, asks it to stop once something opens `pipe`, and returns what it left.
fn stopped_at(command: &mut Command, pipe: &Path) -> Ran {
    assert!(Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("built");
    let held = fs::File::create(pipe).expect("opens once it is read");
    let mut kill = Command::new("kill");
    assert!(kill.args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    drop(held);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The runner of [`another_version`].
const OTHER: &str = "made/aisimulate-0.13.0-dev.202610280000000086/runner";

#[test]
fn an_interrupted_search_writes_and_proves_what_it_has_found() {
    let place = project(OBLIGING);
    // The older version is asked whether it differs, when requests arrive, and of the first candidate; then the search begins.
    another_version(&place, &held_at(4));
    let minimise = [&["minimise", "scenarios/r.kdl", "-o", "out"], &VERSIONS[..]].concat();
    let ran = stopped(&place, &minimise, &format!("{OTHER}.hold")).exits(130);
    assert!(ran.stdout.starts_with("2 of 2 requests are left"), "{ran}");
    assert!(ran.stdout.contains("The search was interrupted"), "{ran}");
    assert!(ran.stdout.contains("out/scenarios/runner-minimal.kdl"), "{ran}");
    assert!(!ran.stderr.contains("minimise::"), "{ran}");
    assert!(place.path("out/pins/engines/runners/aisimulate/answer.rs").exists());
    assert!(place.path("out/scenarios/runner-minimal.kdl").exists());

    let place = project(OBLIGING);
    another_version(&place, &held_at(2));
    let ran = stopped(&place, &minimise, &format!("{OTHER}.hold")).exits(130);
    assert!(ran.stderr.contains("minimise::interrupted"), "{ran}");
    nothing_is_left(&place);
}

/// Asserts that a search left neither its folder nor one in the making.
fn nothing_is_left(place: &Place) {
    let names = fs::read_dir(place.path(""))
        .expect("a folder")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    let left: Vec<String> =
        names.filter(|name| name == "out" || name.starts_with(".minimise")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_job_that_differs_only_the_first_time_leaves_no_pins_behind() {
    let place = project(OBLIGING);
    let later = "echo >>\"$0.calls\"\n[ $(wc -l <\"$0.calls\") = 1 ] || exit 3\n";
    another_version(&place, &OBLIGING.replacen("#!/bin/sh\n", &format!("#!/bin/sh\n{later}"), 1));
    let minimise = [&["minimise", "scenarios/r.kdl", "-o", "out"], &VERSIONS[..]].concat();
    let ran = bench(&place, &minimise).exits(4);
    assert!(ran.stderr.contains("does not differ any more"), "{ran}");
    nothing_is_left(&place);
}

/// A bisection between the two versions.
const BISECT: [&str; 8] = [
    "bisect",
    "scenarios/r.kdl",
    "--engine",
    "aisimulate",
    "--good",
    "0.13.0-dev.86",
    "--bad",
    "0.13.0-dev.87",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "the test's own `cargo` stands before what is there")]
fn a_bisection_that_is_stopped_while_a_runner_is_built_ends_the_build_and_is_no_verdict() {
    let place = project(OBLIGING);
    let cargo = place.write("bin/cargo", "#!/bin/sh\necho $$ >\"$0.id\"\nexec cat \"$0.hold\"\n");
    fs::set_permissions(cargo, fs::Permissions::from_mode(0o755)).expect("its own file");
    let mut command = place.command(BISECT);
    let path = std::env::var("PATH").expect("a path");
    command.env("PATH", format!("{}:{path}", place.path("bin").display()));
    command.env("TOUCHSTONE_CACHE", place.path("cache"));
    let ran = stopped_at(&mut command, &place.path("bin/cargo.hold")).exits(130);
    assert!(ran.stderr.contains("bisect::interrupted"), "{ran}");
    assert!(ran.stdout.is_empty(), "{ran}");
    let mut kill = Command::new("kill");
    kill.args(["-0", place.read("bin/cargo.id").trim()]).stderr(Stdio::null());
    assert!(!kill.status().expect("kill").success(), "the build goes on");
}

#[test]
fn a_runner_that_breaks_is_a_version_that_cannot_be_asked_and_no_other_answer() {
    let place = project("#!/bin/sh\necho out of memory >&2\nexit 134\n");
    another_version(&place, OBLIGING);
    let ran = bench(&place, &BISECT).exits(4);
    assert!(ran.stdout.contains("unavailable: its runner has no answer to "), "{ran}");
    assert!(!ran.stdout.contains("OTHER"), "{ran}");
    assert!(ran.stderr.contains("bisect::unavailable"), "{ran}");
}

#[test]
fn an_interrupted_upgrade_has_rows_for_what_was_judged_and_says_that_there_is_no_verdict() {
    let place = project(&held_at(1));
    another_version(&place, OBLIGING);
    let upgrade = [&["upgrade", "scenarios/r.kdl"], &VERSIONS[..]].concat();
    let pipe = format!("made/{}/runner.hold", "aisimulate-0.13.0-dev.202610290000000087");
    let ran = stopped(&place, &upgrade, &pipe).exits(130);
    assert!(ran.stdout.ends_with("1 INTERRUPTED\ninterrupted: no verdict on the whole\n"), "{ran}");
    assert_eq!(ran.stdout.matches("INTERRUPTED").count(), 1, "{ran}");
    assert!(!ran.stderr.contains("upgrade::empty"), "{ran}");
}

#[test]
fn an_interrupted_comparison_of_engines_prints_no_half_table() {
    let place = project(&held_at(1));
    let words =
        ["parity", "scenarios/r.kdl", "--engine", "aisimulate", "--version", "0.13.0-dev.87"];
    let pipe = "made/aisimulate-0.13.0-dev.202610290000000087/runner.hold";
    let ran = stopped(&place, &words, pipe).exits(130);
    assert!(ran.stdout.is_empty(), "{ran}");
}
