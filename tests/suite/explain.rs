//! `bench explain`: every kind of side, every exit code, every format.

use std::fs;

use crate::program::{Place, Ran, repository_root};

const FILE: &str = "scenarios/apart.kdl";
const FIRST: &str = "First divergence: transfer of request 0 at 66 ms";

/// A project with prompts that move over the link of one decode rank, two of them at once.
pub(crate) fn project(gate: &str) -> Place {
    let place = Place::with_pins();
    place.write(
        FILE,
        format!(
            r#"scenario "apart" {{
    seed 1
    pins {{
        engine "native" version="1"
        hardware "h200_sxm"
        model "llama-3.1-8b"
    }}
    workload "burst" {{
        synthetic input-tokens=128 output-tokens=4
        load "constant-rate" requests-per-second=20
        stop requests=3
    }}
    deployment "apart" {{
        mode "disaggregated"
        model "llama-3.1-8b"
        hardware "h200_sxm"
        backend "vllm"
        worker "prefill" {{
            parallelism replicas=2
            kv-cache block-size=64 {{ capacity "fixed" blocks=64; }}
            timing "fixed" prefill-ms=2.0 decode-ms=1.0
        }}
        worker "decode" {{
            kv-cache block-size=64 {{ capacity "fixed" blocks=64; }}
            timing "fixed" prefill-ms=2.0 decode-ms=1.0
        }}
        kv-transfer bytes-per-token=1000000 bandwidth-gb-per-second=2.0 decode-bandwidth-gb-per-second=2.0 timing-mode="full-prompt"
    }}
    simulate "pd" {{
        workload "burst"
        deployment "apart"
        engine "native"
    }}
    {gate}
}}
"#
        ),
    );
    place.bench(["pin", FILE]).exits(0);
    place
}

/// Replaces a text of the scenario.
fn edit(place: &Place, from: &str, to: &str) {
    let text = place.read(FILE);
    assert!(text.contains(from), "{from}");
    place.write(FILE, text.replace(from, to));
}

fn versions(place: &Place, more: &[&str]) -> Ran {
    let versions = ["explain", FILE, "--from", "0.13.0", "--to", "0.13.0-dev.87"];
    place.bench([&versions[..], more].concat())
}

/// Runs the scenario and returns the path of the run folder.
fn run(place: &Place, more: &[&str]) -> String {
    place.bench([&["run", FILE, "--quiet"], more].concat());
    let latest = fs::read_link(place.path("runs/apart/latest")).expect("it ran");
    format!("runs/apart/{}", latest.display())
}

/// Returns a run of each behaviour of the simulator.
fn both_runs(place: &Place, more: &[&str]) -> (String, String) {
    let right = run(place, more);
    edit(place, "version=\"1\"", "version=\"1\" compat=\"0.13.0\"");
    (run(place, more), right)
}

#[test]
fn two_versions_part_where_a_transfer_shares_a_link() {
    let ran = versions(&project(""), &[]).exits(3);
    for part in [
        FIRST,
        "it begins at 2 ms on both sides",
        "it ends at 66 ms under 0.13.0, at 80 ms under 0.13.0-dev.87",
        "from 52 ms on they move at different rates",
        "under 0.13.0 each transfer moves as if it were alone, beside request 1 on the link of decode rank 0",
        "under 0.13.0-dev.87 it shares (max-min fair) with request 1 on the link of decode rank 0",
        "rate of request 0",
        "3 of 3 requests moved",
        "activation of request 0",
        "compared event by event",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    let again = versions(&project(""), &["--jobs", "1"]).exits(3);
    assert_eq!(ran.stdout, again.stdout);
}

#[test]
fn versions_that_agree_are_equal() {
    let place = project("");
    edit(&place, "requests-per-second=20", "requests-per-second=2");
    let ran = versions(&place, &[]).exits(0);
    assert!(ran.stdout.contains("every event, request and figure is equal"), "{ran}");
    let same = ["explain", FILE, "--from", "0.13.0", "--to", "0.13.0"];
    let ran = place.bench(same).exits(2);
    assert!(ran.stderr.contains("upgrade::same_version"), "{ran}");
}

#[test]
fn two_runs_without_events_are_run_again_and_explained_as_the_versions_are() {
    let place = project("");
    let (left, right) = both_runs(&place, &[]);
    let ran = place.bench(["explain", &left, &right]).exits(3);
    for part in [FIRST, "from 52 ms on they move at different rates", "engine.compat"] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    place.bench(["explain", &left, &left]).exits(0);
}

#[test]
fn without_its_scenario_a_run_is_explained_from_its_records_and_with_events_from_those() {
    let place = project("");
    let (left, right) = both_runs(&place, &[]);
    fs::remove_file(place.path(FILE)).expect("there");
    let ran = place.bench(["explain", &left, &right]).exits(3);
    assert!(ran.stdout.contains("compared request by request"), "{ran}");
    assert!(ran.stdout.contains(FIRST), "{ran}");

    let place = project("");
    let (left, right) = both_runs(&place, &["--events"]);
    fs::remove_file(place.path(FILE)).expect("there");
    let ran = place.bench(["explain", &left, &right]).exits(3);
    assert!(ran.stdout.contains("compared event by event"), "{ran}");
    assert!(!ran.stdout.contains("state at"), "nothing could be run again: {ran}");
}

#[test]
fn a_golden_is_run_again_where_its_key_is_known_and_else_says_what_is_missing() {
    let place = project("gate { golden \"pins/goldens/apart.kdl\" }");
    place.bench(["accept", FILE, "--reason", "first"]).exits(0);
    place.bench(["explain", FILE]).exits(0);
    edit(&place, "version=\"1\"", "version=\"1\" compat=\"0.13.0\"");
    let ran = place.bench(["explain", FILE]).exits(3);
    for part in [FIRST, "pins/goldens/apart.kdl against this program", "shares (max-min fair)"] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    edit(&place, "decode-ms=1.0", "decode-ms=1.5");
    let ran = place.bench(["explain", FILE]).exits(3);
    for part in [
        "differs, unexplained",
        "plans no job of its key",
        "bench run scenarios/apart.kdl --events",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
}

#[test]
fn a_golden_whose_run_is_still_there_is_explained_from_its_records() {
    let place = project("gate { golden \"pins/goldens/apart.kdl\" }");
    place.bench(["accept", FILE, "--reason", "first"]).exits(0);
    run(&place, &[]);
    edit(&place, "decode-ms=1.0", "decode-ms=1.5");
    let ran = place.bench(["explain", "pins/goldens/apart.kdl", FILE]).exits(3);
    for part in [
        "compared request by request: no events are kept of pins/goldens/apart.kdl; to compare them: bench run FILE --events",
        "deployment.workers",
        "metric",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    // 20 is read back from the run folder as an integer, and planned as a real.
    assert!(!ran.stdout.contains("load.per_second"), "what is equal is told as changed: {ran}");
}

#[test]
fn a_slower_pass_is_found_as_another_timing() {
    let place = project("");
    let left = run(&place, &[]);
    place.write("scenarios/old.kdl", place.read(FILE));
    edit(&place, "prefill-ms=2.0", "prefill-ms=2.5");
    let ran = place.bench(["explain", "scenarios/old.kdl", FILE]).exits(3);
    for part in [
        "First divergence: pass 0 of rank 0 at 2 ms",
        "the same work takes 2 ms under scenarios/old.kdl and 2.5 ms under scenarios/apart.kdl",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    let ran = place.bench(["explain", &left, FILE, "--scenario", "scenarios/old.kdl"]).exits(3);
    assert!(ran.stdout.contains("pass 0 of rank 0 at 2 ms"), "{ran}");
}

#[test]
fn the_state_of_a_rank_says_why_a_request_waits() {
    let place = project("");
    place.write("scenarios/old.kdl", place.read(FILE));
    edit(
        &place,
        "blocks=64; }\n            timing \"fixed\" prefill-ms=2.0 decode-ms=1.0\n        }\n        kv-transfer",
        "blocks=3; }\n            timing \"fixed\" prefill-ms=2.0 decode-ms=1.0\n        }\n        kv-transfer",
    );
    let ran = place.bench(["explain", "scenarios/old.kdl", FILE]).exits(3);
    for part in ["First divergence: reservation of request 1", "KV blocks", "state at"] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
}

#[test]
fn markdown_and_json_say_the_same() {
    let place = project("");
    let markdown = versions(&place, &["--format", "markdown"]).exits(3).stdout;
    assert!(markdown.starts_with("# 0.13.0 against 0.13.0-dev.87\n"), "{markdown}");
    assert!(markdown.contains("| --- |"), "{markdown}");
    let json = versions(&place, &["--format", "json"]).exits(3).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let job = &value["jobs"][0];
    assert_eq!(job["verdict"], "differs");
    assert_eq!(job["explanation"]["level"], "events");
    assert_eq!(job["explanation"]["first"]["event"]["name"], "transfer of request 0");
    assert_eq!(job["explanation"]["first"]["state_at_ns"], 52_000_000);
    assert_eq!(job["explanation"]["spread"]["moved"], 3);
}

#[test]
fn what_cannot_be_compared_is_refused_by_reason() {
    let place = project("");
    let refused = |arguments: &[&str], code: i32, part: &str| {
        let ran = place.bench([&["explain"], arguments].concat()).exits(code);
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    };
    refused(&[FILE], 2, "explain::alone");
    refused(&["runs"], 2, "explain::alone");
    refused(&[FILE, "absent"], 2, "run::unreadable");
    refused(&[FILE, "--from", "0.13.0", "--to", "9.9"], 2, "pin::unknown");
    refused(&[FILE, "--from", "0.13.0"], 2, "--to");
    refused(&[FILE, FILE, "--job", "nothing"], 2, "has 1 job, such as `pd/burst/apart/native`");
    refused(&[FILE, FILE, "--job", "pd/brust/apart"], 2, "job::unknown");
    place.write(
        "scenarios/other.kdl",
        place.read(FILE).replace("simulate \"pd\"", "simulate \"dp\""),
    );
    refused(&[FILE, "scenarios/other.kdl"], 4, "explain::nothing");
}

#[test]
fn a_job_that_does_not_end_on_a_side_fails() {
    let place = project("");
    place.write("scenarios/old.kdl", place.read(FILE));
    edit(&place, "blocks=64", "blocks=1");
    let ran = place.bench(["explain", "scenarios/old.kdl", FILE]).exits(3);
    assert!(
        ran.stdout.contains("rank 0 has 64 KV blocks under scenarios/old.kdl, 1 under"),
        "{ran}"
    );
    edit(&place, "blocks=1;", "blocks=2;");
    let ran = place.bench(["explain", "scenarios/old.kdl", FILE]).exits(1);
    assert!(
        ran.stdout.contains("does not come to its end under scenarios/apart.kdl: dead end"),
        "{ran}"
    );
}

/// Returns the first block of a language in a page.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let (_, block) = page.split_once(&format!("```{language}\n")).expect("a block opens");
    block.split_once("```").expect("the block ends").0
}

#[test]
fn the_page_shows_what_the_command_prints() {
    let page = fs::read_to_string(repository_root().join("docs/explain.md")).expect("there is one");
    let place = Place::with_pins();
    place.write(FILE, block(&page, "kdl"));
    let ran = versions(&place, &[]).exits(3);
    assert_eq!(ran.stdout, block(&page, "text"), "docs/explain.md");
}

#[test]
fn a_job_may_be_named_as_upgrades_tell_it_without_its_engine() {
    let place = project("");
    let explain = |job: &str| {
        place.bench(["explain", FILE, "--from", "0.13.0", "--to", "0.13.0-dev.87", "--job", job])
    };
    let with = explain("pd/burst/apart/native").exits(3);
    assert!(with.stdout.contains(FIRST), "{with}");
    assert_eq!(explain("pd/burst/apart").exits(3).stdout, with.stdout);
}

#[test]
fn a_job_that_one_side_alone_has_is_told_whether_its_engine_is_named_or_not() {
    let place = project("");
    let workload = "workload \"more\" {
        synthetic input-tokens=64 output-tokens=4
        load \"constant-rate\" requests-per-second=20
        stop requests=3
    }\n    deployment \"apart\" {";
    let simulate = "simulate \"more\" {
        workload \"more\"
        deployment \"apart\"
        engine \"native\"
    }\n    simulate \"pd\" {";
    let text = place.read(FILE).replace("deployment \"apart\" {", workload);
    place.write("scenarios/more.kdl", text.replace("simulate \"pd\" {", simulate));
    let explain = |jobs: &[&str]| {
        let jobs = jobs.iter().flat_map(|job| ["--job", job]);
        place.bench(["explain", FILE, "scenarios/more.kdl"].into_iter().chain(jobs))
    };
    for jobs in [&["more/more/apart"][..], &["more/more/apart/native", "pd/burst/apart"], &[]] {
        let ran = explain(jobs).exits(3);
        assert!(ran.stdout.contains("more/more/apart/native"), "{jobs:?}: {ran}");
        assert!(ran.stdout.contains("only scenarios/more.kdl has it"), "{jobs:?}: {ran}");
    }
    explain(&["pd/burst/apart"]).exits(0);
}

#[test]
fn what_is_there_and_no_run_is_told_as_that() {
    let place = project("");
    fs::create_dir(place.path("empty")).expect("made");
    place.write("README.md", "a page");
    for (path, why) in [
        ("empty", "it is no run folder: it holds no `run.json`"),
        ("README.md", "it is neither a run folder nor a golden"),
        ("absent", "there is no such file or folder"),
    ] {
        for command in ["explain", "diff"] {
            let ran = place.bench([command, path, path]).exits(2);
            assert!(ran.stderr.contains(why), "{command} {path}: {ran}");
        }
    }
}
