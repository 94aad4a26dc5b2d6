//! `bench minimise`: a reproduction of two rows, proven from the files that are written, and every reason to write none.

use std::fs;

use crate::explain::project;
use crate::program::{Place, Ran};

const FILE: &str = "scenarios/apart.kdl";
const JOB: &str = "pd/burst/apart/native";

fn minimise(place: &Place, more: &[&str]) -> Ran {
    let versions = ["minimise", FILE, "--from", "0.13.0", "--to", "0.13.0-dev.87"];
    place.bench([&versions[..], more].concat())
}

/// A project with 200 requests in place of 3, and room for all of them.
fn long() -> Place {
    let place = project("");
    let text = place.read(FILE).replace("stop requests=3", "stop requests=200");
    place.write(FILE, text.replace("blocks=64", "blocks=1024"));
    place
}

#[test]
fn two_of_two_hundred_requests_are_left_and_differ_when_read_back() {
    let place = long();
    // As `bench upgrade` tells the job: without its engine.
    let ran = minimise(&place, &["--job", "pd/burst/apart", "--output", "out"]).exits(0);
    assert!(ran.stdout.starts_with("2 of 200 requests are left, after "), "{ran}");
    assert!(ran.stderr.contains("after rows: 2 rows"), "{ran}");
    let trace = place.read("out/pins/traces/apart-minimal.jsonl");
    let row = "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n";
    assert_eq!(trace, row.repeat(2));

    let scenario = "out/scenarios/apart-minimal.kdl";
    let explain = ["explain", scenario, "--from", "0.13.0", "--to", "0.13.0-dev.87"];
    let explained = place.bench(explain).exits(3);
    assert!(explained.stdout.contains("First divergence: transfer of request 0"), "{explained}");
    place.bench(["lint", scenario]).exits(0);
    place.bench(["fmt", "--check", scenario]).exits(0);
    place.bench(["run", scenario]).exits(0);

    let again = minimise(&place, &["--job", JOB, "--output", "out2", "--quiet"]).exits(0);
    assert_eq!(again.stdout.replace("out2/", "out/"), ran.stdout, "the search is deterministic");
}

#[test]
fn without_a_job_the_first_that_differs_is_taken_and_json_tells_what_was_found() {
    let place = long();
    let json = minimise(&place, &["-o", "out", "--format", "json", "--quiet"]).exits(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["job"], JOB);
    assert_eq!((&value["requests_left"], &value["requests_of"]), (&2.into(), &200.into()));
    assert_eq!(value["is_minimal"], true);
    assert_ne!(value["from_answer"], value["to_answer"]);
}

#[test]
fn without_a_folder_the_reproduction_is_printed_and_nothing_is_left() {
    let place = long();
    let ran = minimise(&place, &["--job", JOB]).exits(0);
    let row = "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n";
    assert!(
        ran.stdout.contains(&format!("\npins/traces/apart-minimal.jsonl\n\n{}", row.repeat(2)))
    );
    assert!(ran.stdout.contains("\nscenarios/apart-minimal.kdl\n\n// The smallest job"), "{ran}");
    assert!(ran.stderr.contains("nothing is written; `--output DIR`"), "{ran}");
    let kept = minimise(&place, &["--job", JOB, "--output", "out", "--quiet"]).exits(0);
    assert_eq!(kept.stdout.replace("out/", ""), ran.stdout, "as it would be written");
}

#[test]
fn a_budget_ends_the_search_and_is_told() {
    let place = long();
    let ran = minimise(&place, &["--output", "out", "--budget", "3"]).exits(0);
    assert!(ran.stdout.contains("The search ended at its budget"), "{ran}");
    assert!(place.read("out/scenarios/apart-minimal.kdl").contains("// The search ended"), "{ran}");
}

#[test]
fn a_recorded_trace_with_shared_prompts_shrinks_to_rows_of_its_own() {
    let place = project("");
    let pinned = place.read("scenarios/apart.kdl");
    let text = pinned
        .replace("pins {", "pins {\n        trace \"mooncake-tiny\"")
        .replace("synthetic input-tokens=128 output-tokens=4", "trace \"mooncake-tiny\"")
        .replace("load \"constant-rate\" requests-per-second=20", "load \"trace-timestamps\"")
        .replace("        stop requests=3\n", "")
        .replace("blocks=64", "blocks=4096");
    place.write(FILE, text);
    place.bench(["pin", FILE]).exits(0);
    let ran = minimise(&place, &["--output", "out", "--quiet"]).exits(0);
    assert!(ran.stdout.starts_with("2 of 16 requests are left"), "{ran}");
}

#[test]
fn growing_sessions_shrink_by_their_numbers() {
    let place = project("");
    let text = place
        .read(FILE)
        .replace(
            "synthetic input-tokens=128 output-tokens=4",
            "synthetic-session new-input-tokens-per-turn=128 output-tokens-per-turn=4 turns=3",
        )
        .replace("blocks=64", "blocks=1024")
        .replace("requests-per-second=20", "sessions-per-second=20")
        .replace("stop requests=3", "stop sessions=40");
    place.write(FILE, text);
    let ran = minimise(&place, &["--output", "out", "--quiet"]).exits(0);
    assert!(ran.stdout.starts_with("Its workload is not made of rows"), "{ran}");
    assert!(ran.stdout.contains("stop sessions=2\n"), "{ran}");
}

#[test]
fn what_cannot_be_made_smaller_is_refused_and_nothing_is_written() {
    let place = project("");
    let refused = |more: &[&str], code: i32, part: &str| {
        let ran = minimise(&place, more).exits(code);
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    };
    refused(&["--job", "nothing", "-o", "out"], 2, "job::unknown");
    refused(&["-o", "scenarios"], 2, "minimise::output");
    place.write("README.md", "a page");
    refused(&["-o", "README.md"], 2, "`README.md` is no folder");
    refused(&["-o", "README.md/out"], 2, "name a folder that can be written");
    let same = ["minimise", FILE, "--from", "0.13.0", "--to", "0.13.0", "-o", "out"];
    let ran = place.bench(same).exits(2);
    assert!(ran.stderr.contains("upgrade::same_version"), "{ran}");
    let slow = place.read(FILE).replace("requests-per-second=20", "requests-per-second=2");
    place.write(FILE, slow);
    refused(&["-o", "out"], 4, "minimise::equal");
    assert!(fs::read_dir(place.path("out")).is_err(), "nothing was written");
}

#[test]
fn a_job_that_ends_under_one_version_alone_shrinks_to_one_that_does() {
    let place = project("");
    let text = place
        .read(FILE)
        .replace("stop requests=3", "stop requests=60")
        .replace("blocks=64", "blocks=12")
        .replace("input-tokens=128", "input-tokens=64")
        .replace("requests-per-second=20", "requests-per-second=80");
    place.write(FILE, text);
    let ran = minimise(&place, &["--output", "out", "--quiet"]).exits(0);
    assert!(ran.stdout.starts_with("9 of 60 requests are left"), "{ran}");
    assert!(ran.stdout.contains("\n0.13.0: report sha256:"), "{ran}");
    assert!(ran.stdout.contains("\n0.13.0-dev.87: dead end at "), "{ran}");
}
