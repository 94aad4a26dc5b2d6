//! `bench run`: what it prints, what it leaves, and that both are the same wherever and however it runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::program::{Place, Ran};

/// A scenario of four jobs: two workloads, one or two replicas. Digests are those of the repository's pins.
pub(crate) fn scenario(place: &Place, decode_ms: &str, gate: &str) -> String {
    let pins = place.bench(["pins", "list"]).exits(0).stdout;
    let digest = |kind: &str, name: &str| {
        let is_it = |line: &&str| {
            let mut words = line.split_whitespace();
            words.next() == Some(kind) && words.next() == Some(name)
        };
        let line = pins.lines().find(is_it).expect("the pin is listed");
        line.split_whitespace().last().expect("a digest").to_owned()
    };
    format!(
        r#"scenario "small" {{
    about "Does a second replica help?"
    pins {{
        trace "mooncake-tiny" {}
        engine "native" version="1"
        hardware "h200_sxm" {}
        model "llama-3.1-8b" {}
    }}
    workload "loop" {{
        synthetic input-tokens=300 output-tokens=20 cached-prefix-tokens=128
        load "concurrency" concurrency=8
        stop requests=40
    }}
    workload "recorded" {{
        trace "mooncake-tiny"
        load "trace-timestamps"
    }}
    deployment "agg" {{
        mode "aggregated"
        model "llama-3.1-8b"
        hardware "h200_sxm"
        backend "vllm"
        worker "aggregated" {{
            parallelism replicas=1
            kv-cache block-size=64 {{
                capacity "fixed" blocks=4096
            }}
            timing "fixed" prefill-ms=12.5 decode-ms={decode_ms}
        }}
    }}
    simulate "small" {{
        workload "loop" "recorded"
        deployment "agg"
        engine "native"
        vary "worker.aggregated.parallelism.replicas" 1 2
        sla ttft-ms=100 tpot-ms=10
    }}
    {gate}
}}
"#,
        digest("trace", "mooncake-tiny"),
        digest("hardware", "h200_sxm"),
        digest("model", "llama-3.1-8b"),
    )
}

/// Returns a project with the scenario, without a gate.
fn project() -> Place {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    place.write("scenarios/small.kdl", text);
    place
}

/// Returns every file under a folder with its bytes; `provenance.json` tells what is volatile and is left out.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            let below = files(&path).into_iter();
            found.extend(below.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else if name != "provenance.json" {
            found.insert(name, fs::read(&path).expect("readable"));
        }
    }
    found
}

fn run(place: &Place, more: &[&str]) -> Ran {
    place.bench([&["run", "scenarios/small.kdl"], more].concat())
}

#[test]
fn the_same_bytes_come_with_one_and_eight_jobs_elsewhere_and_under_another_clock_and_tongue() {
    let first = project();
    let stdout = run(&first, &["--jobs", "1", "--no-cache"]).exits(0).stdout;
    let bytes = files(&first.path("runs/small/latest"));
    assert!(bytes.len() >= 3 + 4 * 2, "{:?}", bytes.keys());

    let again = run(&first, &["--jobs", "8", "--no-cache"]).exits(0);
    assert_eq!(again.stdout, stdout);
    assert_eq!(files(&first.path("runs/small/latest")), bytes);

    let second = project();
    let mut command = second.command(["scenarios/small.kdl", "--jobs", "3"]);
    command.env("TZ", "Asia/Kathmandu").env("LANG", "tr_TR.UTF-8").env("LC_ALL", "tr_TR.UTF-8");
    assert_eq!(Ran::of(&mut command).exits(0).stdout, stdout);
    assert_eq!(files(&second.path("runs/small/latest")), bytes);
}

#[test]
fn the_cache_changes_no_byte_and_a_damaged_entry_is_run_again_and_reported() {
    let place = project();
    let computed = run(&place, &[]).exits(0);
    let bytes = files(&place.path("runs/small/latest"));
    assert_eq!(run(&place, &[]).exits(0).stdout, computed.stdout);
    assert_eq!(files(&place.path("runs/small/latest")), bytes);

    let mut damaged = 0;
    for program in fs::read_dir(place.path("runs/.cache")).expect("a cache") {
        for entry in fs::read_dir(program.expect("readable").path()).expect("entries") {
            fs::write(entry.expect("readable").path().join("report.json"), "{}\n")
                .expect("written");
            damaged += 1;
        }
    }
    assert_eq!(damaged, 4);
    let recomputed = run(&place, &[]).exits(0);
    assert_eq!(recomputed.stdout, computed.stdout);
    assert_eq!(recomputed.stderr.matches("warning[cache::damaged]").count(), 4, "{recomputed}");
    assert_eq!(files(&place.path("runs/small/latest")), bytes);
    assert!(!run(&place, &[]).exits(0).stderr.contains("cache::damaged"));
}

#[test]
fn without_the_cache_nothing_is_kept_for_later() {
    let place = project();
    run(&place, &["--no-cache"]).exits(0);
    assert!(!place.path("runs/.cache").exists());
}

#[test]
fn the_printed_digest_is_the_digest_of_the_report_file() {
    let place = project();
    let json = run(&place, &["--format", "json"]).exits(0).stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let jobs = value["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 4);
    for job in jobs {
        let id = job["id"].as_str().expect("an id");
        let path = place.path(format!("runs/small/latest/jobs/{id}/report.json"));
        let report = fs::read(path).expect("a report");
        let digest = touchstone::digest::Sha256::of(&report).to_string();
        assert_eq!(job["report"].as_str(), Some(digest.as_str()), "{id}");
        assert_eq!(job["figures"]["requests_completed"], job["figures"]["requests_offered"]);
    }
    let table = run(&place, &[]).exits(0).stdout;
    assert!(jobs.iter().all(|job| table.contains(job["id"].as_str().expect("an id"))));
}

#[test]
fn events_are_kept_where_they_are_asked_for_and_change_no_digest() {
    let place = project();
    let before = run(&place, &[]).exits(0).stdout;
    assert_eq!(run(&place, &["--events"]).exits(0).stdout, before);
    let kept = files(&place.path("runs/small/latest"));
    let events: Vec<_> = kept.iter().filter(|(name, _)| name.ends_with("events.jsonl")).collect();
    assert_eq!(events.len(), 4);
    for (name, bytes) in events {
        let report = &kept[&name.replace("events.jsonl", "report.json")];
        let report: serde_json::Value = serde_json::from_slice(report).expect("JSON");
        let digest = touchstone::digest::Sha256::of(bytes).to_string();
        assert_eq!(report["events"]["digest"].as_str(), Some(digest.as_str()), "{name}");
    }
}

#[test]
fn an_equal_run_without_events_leaves_those_that_an_earlier_one_kept() {
    let place = project();
    run(&place, &["--events"]).exits(0);
    let kept = files(&place.path("runs/small/latest"));
    run(&place, &[]).exits(0);
    assert_eq!(files(&place.path("runs/small/latest")), kept);

    let damaged = kept.keys().find(|name| name.ends_with("events.jsonl")).expect("events");
    fs::write(place.path("runs/small/latest").join(damaged), "{}\n").expect("writable");
    run(&place, &[]).exits(0);
    let again = files(&place.path("runs/small/latest"));
    assert!(!again.contains_key(damaged), "the report does not vouch for them");
    assert_eq!(again.len() + 1, kept.len(), "the others stay");
}

#[test]
fn what_a_run_leaves_does_not_show_how_the_scenario_was_typed() {
    let place = project();
    run(&place, &[]).exits(0);
    let bytes = files(&place.path("runs/small/latest"));
    let typed = place.path("scenarios/../scenarios/small.kdl");
    place.bench(["run", &typed.to_string_lossy()]).exits(0);
    assert_eq!(files(&place.path("runs/small/latest")), bytes);
    let provenance = place.read("runs/small/latest/provenance.json");
    assert!(provenance.contains("\"name\":\"scenarios/small.kdl\""), "{provenance}");
}

#[test]
fn provenance_names_the_program_with_and_without_the_cache() {
    let place = project();
    let program = |more: &[&str]| {
        run(&place, more).exits(0);
        let text = place.read("runs/small/latest/provenance.json");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let parameters = &value["predicate"]["buildDefinition"]["internalParameters"];
        parameters["program"].as_str().expect("a digest").to_owned()
    };
    assert_eq!(program(&["--no-cache"]), program(&[]));
}

#[test]
fn a_job_in_which_nothing_completes_has_failed() {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    let text = text.replace("backend \"vllm\"", "backend \"vllm\"\n        context-length 128");
    place.write("scenarios/small.kdl", text);
    let ran = run(&place, &[]).exits(1);
    assert!(ran.stderr.contains("job::failed"), "{ran}");
    assert!(ran.stderr.contains("none of 40 requests completed: 40 rejected"), "{ran}");
    assert!(ran.stdout.contains("FAILED"), "{ran}");
    let junit = place.read("runs/small/latest/junit.xml");
    assert!(junit.contains("errors=\"2\"") || junit.contains("errors=\"4\""), "{junit}");
}

#[test]
fn what_this_build_cannot_run_is_refused_before_any_job_starts() {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    let text = text.replace("backend \"vllm\"", "backend \"vllm\"\n        router \"kv-router\"");
    place.write("scenarios/small.kdl", text);
    let ran = run(&place, &[]).exits(2);
    assert!(ran.stderr.contains("plan::unsupported"), "{ran}");
    assert!(ran.stderr.contains("small.kdl:"), "{ran}");
    assert_eq!(ran.stdout, "");
    assert!(!place.path("runs").exists());
}

#[test]
fn a_run_leaves_provenance_that_vouches_for_its_reports() {
    let place = project();
    run(&place, &[]).exits(0);
    let text = place.read("runs/small/latest/provenance.json");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["_type"], "https://in-toto.io/Statement/v1");
    for subject in value["subject"].as_array().expect("subjects") {
        let name = subject["name"].as_str().expect("a name");
        let bytes = fs::read(place.path("runs/small/latest").join(name)).expect("the subject");
        let digest = touchstone::digest::Sha256::of(&bytes).hex();
        assert_eq!(subject["digest"]["sha256"].as_str(), Some(digest.as_str()), "{name}");
    }
    assert_eq!(value["subject"].as_array().map(Vec::len), Some(1 + 2 * 4));
    let resolved = &value["predicate"]["buildDefinition"]["resolvedDependencies"];
    let resolved = resolved.as_array().expect("dependencies");
    let run = place.read("runs/small/latest/run.json");
    let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
    let pins = run["pins"].as_array().expect("pins");
    let listed = place.bench(["pins", "list", "--format", "json"]).exits(0).stdout;
    let names: Vec<String> = pins
        .iter()
        .map(|pin| {
            let text = |field: &str| pin[field].as_str().expect("a text");
            let name = format!("{} {}", text("kind"), text("name"));
            let hex = text("digest").trim_start_matches("sha256:");
            assert!(listed.contains(hex), "{name}: {listed}");
            let vouched = |it: &&serde_json::Value| it["name"].as_str() == Some(name.as_str());
            let it = resolved.iter().find(vouched).expect("provenance has every pin");
            assert_eq!(it["digest"]["sha256"].as_str(), Some(hex));
            name
        })
        .collect();
    let expected =
        ["engine native", "hardware h200_sxm", "model llama-3.1-8b", "trace mooncake-tiny"];
    assert_eq!(names, expected);
}

#[test]
fn a_run_folder_that_cannot_be_written_is_told_and_the_jobs_are_not_lost_silently() {
    let place = project();
    place.write("runs", "a file stands where the folder should");
    let ran = run(&place, &[]).exits(1);
    assert!(ran.stderr.contains("run::unwritable"), "{ran}");
}

#[test]
fn pruning_removes_results_of_other_builds_and_old_runs_and_nothing_else() {
    let place = project();
    run(&place, &[]).exits(0);
    let first = files(&place.path("runs/small/latest"));
    let text = place.read("scenarios/small.kdl");
    place.write("scenarios/small.kdl", text.replace("decode-ms=3.3", "decode-ms=3.4"));
    run(&place, &[]).exits(0);
    place.write("runs/.cache/0123456789ab/key/entry.json", "{}");
    let list = place.bench(["prune", "--dry-run"]).exits(0).stdout;
    assert_eq!(list, ".cache/0123456789ab  results of another build\n");
    assert_eq!(place.bench(["prune", "--keep", "2"]).exits(0).stdout, list);
    assert_eq!(place.bench(["prune", "--keep", "2"]).exits(0).stdout, "");
    let one = place.bench(["prune", "--keep", "1"]).exits(0).stdout;
    assert!(one.starts_with("small/") && one.ends_with("  an old run\n"), "{one}");
    assert_eq!(one.lines().count(), 1);
    let latest = files(&place.path("runs/small/latest"));
    assert!(latest.len() == first.len() && latest != first);
    assert_eq!(files(&place.path("runs/.cache")).len(), 8 * 3, "eight jobs stay cached");
}
