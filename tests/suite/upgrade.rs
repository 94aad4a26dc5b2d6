//! `bench upgrade` as a command: the two behaviours of the native engine as the two versions.

use crate::program::{Place, Ran};
use crate::runs::scenario;

const FILE: &str = "scenarios/upgrade-aisimulate.kdl";
const VERSIONS: [&str; 6] = ["--engine", "native", "--from", "0.13.0", "--to", "0.13.0-dev.87"];

fn upgrade(place: &Place, rest: &[&str]) -> Ran {
    place.bench(["upgrade", FILE].iter().chain(&VERSIONS).chain(rest))
}

#[test]
fn an_upgrade_is_green_as_declared_and_red_without_the_declaration() {
    let place = Place::repository();
    let ran = upgrade(&place, &["--controls"]).exits(0);
    assert!(ran.stdout.ends_with("nothing changed that was not declared\n"), "{ran}");
    for control in ["nanosecond-more", "block-less", "fifo-for-lifo", "request-dropped"] {
        assert!(ran.stdout.contains(&format!("control {control} in upgrade-aisimulate")), "{ran}");
    }
    let declared = place.read("pins/engines/native/changes.kdl");
    std::fs::remove_file(place.path("pins/engines/native/changes.kdl")).expect("removed");
    let ran = upgrade(&place, &["--format", "junit"]).exits(3);
    assert!(ran.stdout.contains("failures=\"22\" errors=\"0\""), "{ran}");
    assert!(ran.stderr.contains("upgrade::undeclared"), "{ran}");
    place.write("stated.kdl", &declared);
    let ran = upgrade(&place, &["--expect", "stated.kdl", "--format", "markdown"]).exits(0);
    assert!(ran.stdout.starts_with("## native `0.13.0` → `0.13.0-dev.87`\n"), "{ran}");
    assert!(ran.stdout.contains("**shared-links**"), "{ran}");
    place.write("stated.kdl", declared.replace("to=\"256000000\"", "to=\"256000001\""));
    let ran = upgrade(&place, &["--expect", "stated.kdl"]).exits(3);
    assert!(ran.stdout.contains("declared up from 128000000 to 256000001"), "{ran}");
}

#[test]
fn a_declared_change_that_does_not_happen_is_red() {
    let place = Place::repository();
    let path = "pins/engines/native/changes.kdl";
    let declared = place.read(path);
    place.write(path, declared.replacen("        except ", "        // except ", 1));
    let ran = upgrade(&place, &[]).exits(3);
    assert!(ran.stderr.contains("upgrade::absent"), "{ran}");
    assert!(ran.stdout.contains("2 DECLARED BUT ABSENT"), "{ran}");
    place.write(path, declared.replacen("three-into-one/*", "three-in-one/*", 1));
    let ran = upgrade(&place, &[]).exits(3);
    assert!(ran.stderr.contains("upgrade::idle"), "{ran}");
    place.write(path, declared.replacen("    from \"0.13.0\"", "    from \"0.12.1\"", 1));
    let ran = upgrade(&place, &[]).exits(3);
    assert!(ran.stderr.contains("upgrade::other_from"), "{ran}");
    place.write(path, declared.replacen("ttft_ns", "ttft", 1));
    let ran = upgrade(&place, &[]).exits(2);
    assert!(ran.stderr.contains("upgrade::changes"), "{ran}");
}

#[test]
fn a_scenario_without_memory_pressure_is_blind_and_one_that_fails_is_not_judged() {
    let place = Place::with_pins();
    let file = "scenarios/small.kdl";
    let text = scenario(&place, "3.3", "");
    place.write(file, &text);
    let judged = |rest: &[&str]| place.bench(["upgrade", file].iter().chain(&VERSIONS).chain(rest));
    let ran = judged(&["--controls"]).exits(3);
    assert!(ran.stderr.contains("upgrade::blind"), "{ran}");
    assert!(
        ran.stderr.contains("upgrade::unmatched") || ran.stdout.contains("speaks of no job"),
        "{ran}"
    );
    let ran = judged(&["--format", "json"]).exits(0);
    assert!(ran.stdout.contains("\"identical\":4"), "{ran}");
    let twice = judged(&["./scenarios/small.kdl", "--format", "json"]).exits(0);
    assert_eq!(twice.stdout, ran.stdout, "a scenario that is named twice counts once");
    let unmatched = ran.stderr.matches("warning[upgrade::unmatched]").count();
    assert_eq!(unmatched, 1, "changes of other scenarios are told in one warning: {ran}");
    assert!(ran.stderr.contains("declared changes speak of no job of these scenarios: "), "{ran}");
    place.write(
        file,
        text.replace("backend \"vllm\"", "backend \"vllm\"\n        context-length 128"),
    );
    let ran = judged(&[]).exits(1);
    assert!(ran.stderr.contains("upgrade::failed"), "{ran}");
}

#[test]
fn what_neither_version_can_be_asked_is_no_verdict_and_an_unknown_version_is_refused() {
    let place = Place::with_pins();
    let file = "scenarios/small.kdl";
    let text = scenario(&place, "3.3", "");
    let routed = text.replace("backend \"vllm\"", "backend \"vllm\"\n        router \"kv-router\"");
    place.write(file, routed);
    let ran = place.bench(["upgrade", file].iter().chain(&VERSIONS)).exits(4);
    assert!(ran.stderr.contains("upgrade::incomparable"), "{ran}");
    assert!(ran.stderr.contains("upgrade::empty"), "{ran}");
    let unknown = ["--engine", "native", "--from", "0.12.0", "--to", "0.13.0"];
    let ran = place.bench(["upgrade", file].iter().chain(&unknown)).exits(2);
    assert!(ran.stderr.contains("pin::unknown"), "{ran}");
    let same = ["--engine", "native", "--from", "0.13.0", "--to", "0.13.0"];
    let ran = place.bench(["upgrade", file].iter().chain(&same)).exits(2);
    assert!(ran.stderr.contains("upgrade::same_version"), "{ran}");
    assert!(ran.stderr.contains("give two of its versions: 0.13.0, 0.13.0-dev.87"), "{ran}");
}

#[test]
fn an_expectation_that_is_not_there_is_told_from_one_that_does_not_speak_of_the_version() {
    let place = Place::with_pins();
    let file = "scenarios/small.kdl";
    place.write(file, scenario(&place, "3.3", ""));
    let expect = |stated: &str| {
        let rest = ["--expect", stated];
        place.bench(["upgrade", file].iter().chain(&VERSIONS).chain(&rest)).exits(2)
    };
    let ran = expect("nope.kdl");
    assert!(ran.stderr.contains("there is no file `nope.kdl`"), "{ran}");
    assert!(ran.stderr.contains("without `--expect`"), "{ran}");
    let ran = expect("pins/engines/native");
    assert!(
        ran.stderr.contains("give the file in it: --expect pins/engines/native/changes.kdl"),
        "{ran}"
    );
    let declared = place.read("pins/engines/native/changes.kdl");
    place.write(
        "other.kdl",
        declared.replacen("changes \"0.13.0-dev.87\"", "changes \"0.12.1\"", 1),
    );
    let ran = expect("other.kdl");
    assert!(
        ran.stderr.contains("`other.kdl` declares no changes of version 0.13.0-dev.87"),
        "{ran}"
    );
    assert!(ran.stderr.contains("it needs a node `changes \"0.13.0-dev.87\"`"), "{ran}");
}

#[test]
fn the_first_version_that_answers_otherwise_is_found_and_no_change_is_no_verdict() {
    let place = Place::repository();
    let ends = ["--engine", "native", "--good", "0.13.0", "--bad", "0.13.0-dev.87"];
    let bisect = |rest: &[&str]| place.bench(["bisect", FILE].iter().chain(&ends).chain(rest));
    let shared = "three-into-one/three/vllm-links/prefill.parallelism.replicas=3";
    for how in [&["--job", shared][..], &["--job", shared, "--halve"][..]] {
        let ran = bisect(how).exits(0);
        let found = "0.13.0-dev.87 is the first that answers otherwise; 0.13.0 does not\n";
        assert!(ran.stdout.contains(found) && ran.stdout.contains(shared), "{ran}");
    }
    let ran =
        bisect(&["--job", "host-tier/uneven-loads/vllm-host-local", "--format", "json"]).exits(4);
    assert!(ran.stdout.contains("\"first_other\":null"), "{ran}");
    let ran = bisect(&["--job", "nobody"]).exits(2);
    assert!(ran.stderr.contains("job::unknown"), "{ran}");
    let ends = ["--engine", "native", "--good", "0.13.0-dev.87", "--bad", "0.13.0"];
    let ran = place.bench(["bisect", FILE].iter().chain(&ends)).exits(2);
    assert!(ran.stderr.contains("bisect::order"), "{ran}");
    let ends = ["--engine", "native", "--good", "0.13.0", "--bad", "0.13.0"];
    let ran = place.bench(["bisect", FILE].iter().chain(&ends)).exits(2);
    assert!(ran.stderr.contains("`--good` and `--bad` are both native 0.13.0"), "{ran}");
}
