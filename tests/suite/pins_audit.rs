//! `bench pins audit` and `bench pins update` against the pins of this repository.

use std::fs;

use crate::program::Place;

const RULES: &str = "pins/audits/dynamo-aisimulate.kdl";
const AUDIT: [&str; 5] = ["pins", "audit", "dynamo", "--rules", RULES];

/// Returns a project with this repository's pins, beside it a repository with nine places.
fn project() -> Place {
    let place = Place::with_pins();
    place.copy("tests/fixtures/audit/dynamo", "dynamo");
    place
}

#[test]
fn a_repository_is_audited_against_the_engine_pin() {
    let place = project();
    let ran = place.bench(AUDIT).exits(0);
    assert_eq!(ran.stdout.lines().count(), 10, "{ran}");
    assert!(ran.stdout.lines().all(|line| line.ends_with("agrees")), "{ran}");
    assert_eq!(ran.stderr, "");

    let lock = place.read("dynamo/Cargo.lock").replace("eb823782", "eb823783");
    place.write("dynamo/Cargo.lock", lock);
    place.write("dynamo/docs/old.md", "Built with AISimulate 0.12.1.\n");
    let ran = place.bench(AUDIT).exits(3);
    for part in ["pin::audit_checksum", "Cargo.lock:17:12", "pin::audit_stray", "docs/old.md:1:23"]
    {
        assert!(ran.stderr.contains(part), "{part}: {ran}");
    }
    let json = place.bench(AUDIT.into_iter().chain(["--format", "json"])).exits(3);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let verdicts: Vec<_> =
        value["places"].as_array().expect("a list").iter().map(|p| &p["verdict"]).collect();
    assert_eq!(verdicts.iter().filter(|verdict| **verdict != "agrees").count(), 2, "{json}");

    fs::remove_file(place.path("dynamo/lib/bindings/kvbm/Cargo.lock")).expect("there");
    let ran = place.bench(AUDIT).exits(2);
    assert!(
        ran.stderr.contains(
            "`lib/bindings/kvbm/Cargo.lock`, which the rule `cargo-lock` names, is not there"
        ),
        "{ran}"
    );
    assert!(ran.stderr.contains("pin::audit_checksum"), "the rest is audited too: {ran}");
}

#[test]
fn an_update_moves_every_place_with_the_checksum_of_its_engine_pin() {
    let place = project();
    let update = |more: &'static [&'static str]| {
        let words = ["pins", "update", "dynamo", "--rules", RULES];
        place.bench(words.into_iter().chain(more.iter().copied()))
    };
    let dry = update(&["--to", "0.13.0.dev86", "--dry-run"]).exits(0);
    place.bench(AUDIT).exits(0);
    let ran = update(&["--to", "0.13.0.dev86"]).exits(0);
    assert_eq!(ran.stdout, dry.stdout);
    assert_eq!(ran.stdout.lines().count(), 15, "{ran}");
    assert!(place.read("dynamo/Cargo.toml").contains("\"=0.13.0-dev.202610280000000086\""));
    assert!(
        place.read("dynamo/pyproject.toml").contains("aisimulate==0.13.0.dev202610280000000086 ;")
    );
    assert!(place.read(RULES).contains("version=\"0.13.0-dev.202610280000000086\""));
    place.bench(AUDIT).exits(0);

    let unknown = update(&["--to", "9.9.9"]).exits(2);
    assert!(unknown.stderr.contains("9.9.9"), "{unknown}");
    let no_version = update(&["--to", "latest"]).exits(2);
    assert!(no_version.stderr.contains("pin::audit_rules"), "{no_version}");
    let words = ["pins", "update", "dynamo", "--rules", RULES, "--to", "0.13.0"];
    let mut under_ci = place.command(words);
    let ran = crate::program::Ran::of(under_ci.env("CI", "true")).exits(3);
    assert!(ran.stderr.contains("pin::forbidden"), "the rules lie below `pins/`: {ran}");
    place.bench(AUDIT).exits(0);
}

#[test]
fn a_repository_that_the_rules_do_not_mean_is_asked_about_once() {
    let place = project();
    place.write("other/README.md", "Something else.\n");
    let audit = ["pins", "audit", "other", "--rules", RULES];
    let ran = place.bench(audit).exits(2);
    assert!(ran.stderr.contains("`other` has none of the "), "{ran}");
    assert!(ran.stderr.contains("is it the root of the repository that the rules mean?"), "{ran}");
    assert_eq!(ran.stderr.matches("error[pin::audit_file]").count(), 1, "{ran}");
}
