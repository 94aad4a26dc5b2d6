//! What this build does not run: `lint` and `plan` warn of it where `run` refuses it, at the setting itself and with what to do instead.

use crate::program::{Place, Ran, repository_root};
use crate::runs::scenario;

/// A project with this change to the scenario.
fn project(from: &str, to: &str) -> Place {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    assert!(text.contains(from), "{from}: {text}");
    place.write("scenarios/small.kdl", text.replace(from, to));
    place
}

/// Asserts that every command tells the same at the same place: two warnings with exit 0, and a refusal with exit 2.
fn told(place: &Place, expected: &[&str]) {
    let file = "scenarios/small.kdl";
    for (command, exit, head) in [
        ("lint", 0, "warning[plan::not_runnable]"),
        ("plan", 0, "warning[plan::not_runnable]"),
        ("run", 2, "error[plan::unsupported]"),
    ] {
        let ran: Ran = place.bench([command, file]).exits(exit);
        for text in [head].iter().chain(expected) {
            assert!(ran.stderr.contains(text), "{command} lacks {text:?}: {ran}");
        }
        assert_eq!(ran.stderr.matches(head).count(), 1, "{command}: once for all jobs: {ran}");
    }
}

#[test]
fn a_refusal_points_at_the_node_and_says_what_to_do_instead() {
    let place = project("backend \"vllm\"", "backend \"vllm\"\n        router \"kv-router\"");
    told(
        &place,
        &[
            "this build cannot run router `kv-router`",
            "        router \"kv-router\"",
            "needed by job `small/loop/agg/native/replicas=1`",
            "help: use `router \"round-robin\"`; `bench lint scenarios/small.kdl` says whether anything is left",
        ],
    );
}

#[test]
fn a_refused_combination_points_at_one_of_its_settings_inside_a_worker() {
    let cache = "capacity \"fixed\" blocks=4096";
    let place = project(
        cache,
        "capacity \"fixed\" blocks=4096\n                state-cache bytes-per-request=4096",
    );
    let text = place.read("scenarios/small.kdl");
    let backend = text.replace("backend \"vllm\"", "backend \"trtllm\"");
    place.write("scenarios/small.kdl", backend);
    told(
        &place,
        &["`state-cache` on another backend than `vllm`", "state-cache bytes-per-request=4096"],
    );
}

#[test]
fn a_refused_value_of_an_axis_points_at_the_axis() {
    let axis = "vary \"worker.aggregated.parallelism.replicas\" 1 2";
    let place = project(axis, "vary \"router\" \"round-robin\" \"kv-router\"");
    told(&place, &["vary \"router\"", "needed by job `small/loop/agg/native/router=kv-router`"]);
}

#[test]
fn the_reference_says_at_each_node_what_runs_are_refused_for() {
    let page = std::fs::read_to_string(repository_root().join("docs/scenario.md")).expect("UTF-8");
    for limitation in touchstone::sim::LIMITATIONS {
        let told = page.lines().filter(|line| line.starts_with("This build does not run: "));
        assert!(told.clone().any(|line| line.contains(limitation.what)), "{}", limitation.what);
    }
}

#[test]
fn slips_of_the_command_line_are_told_in_the_words_of_the_program() {
    let place = Place::with_pins();
    let text = scenario(&place, "3.3", "");
    place.write("scenarios/small.kdl", text);
    for (arguments, says) in [
        (&["run", "scenarios/small.kdl", "--jobs", "0"][..], "at least one job must run"),
        (&["prune", "--runs", "nope"], "`nope` is no folder"),
        (&["predict"], "--replay-spec <FILE>"),
        (&["import", "nope.yaml"], "is the path right?"),
    ] {
        let ran = place.bench(arguments).exits(2);
        assert!(ran.stderr.contains(says), "{arguments:?} lacks {says:?}: {ran}");
    }
}

#[test]
fn a_capacity_that_does_not_exist_says_share_and_need() {
    let place =
        project("capacity \"fixed\" blocks=4096", "capacity \"default\" memory-fraction=0.05");
    let ran = place.bench(["lint", "scenarios/small.kdl"]).exits(2);
    for text in [
        "`memory-fraction` 0.05",
        "the engine may use 7569879859 of 151397597184 bytes",
        "raise `memory-fraction`",
    ] {
        assert!(ran.stderr.contains(text), "lacks {text:?}: {ran}");
    }
}

#[test]
fn a_setting_that_some_jobs_of_a_sweep_read_is_not_called_idle() {
    let interval = "scheduler prefill-schedule-interval=3\n            parallelism replicas=1";
    let warned = |axis: &str| {
        let place = project("parallelism replicas=1", interval);
        let text = place.read("scenarios/small.kdl");
        let vary = "vary \"worker.aggregated.parallelism.replicas\" 1 2";
        place.write("scenarios/small.kdl", text.replace(vary, axis));
        place.bench(["lint", "scenarios/small.kdl"]).exits(0).stderr
    };
    let ranks = "vary \"worker.aggregated.parallelism.attention-data\" 1 2";
    assert!(!warned(ranks).contains("scenario::idle_setting"));
    let told = warned("");
    assert_eq!(told.matches("warning[scenario::idle_setting]").count(), 1, "{told}");
}
