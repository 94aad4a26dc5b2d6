//! `bench pins`: what is listed, what verifies, and what a changed byte does.

use std::fs;

use crate::program::Place;

#[test]
fn pins_are_listed_as_a_scenario_states_them() {
    let place = Place::with_pins();
    let ran = place.bench(["pins", "list"]).exits(0);
    assert!(
        ran.stdout.lines().any(|line| line.starts_with("trace     conversation        sha256=\""))
    );
    assert!(ran.stdout.lines().any(|line| line == "engine    native              version=\"1\""));
    let json = place.bench(["pins", "list", "--format", "json"]).exits(0);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let pins = value["pins"].as_array().expect("a list");
    assert_eq!(pins.len(), ran.stdout.lines().count());
}

#[test]
fn a_changed_byte_in_a_pinned_file_is_found_and_the_rest_is_still_verified() {
    let place = Place::with_pins();
    place.bench(["pins", "verify"]).exits(0);
    let path = place.path("pins/traces/mooncake-tiny.jsonl.gz");
    let mut bytes = fs::read(&path).expect("pinned");
    bytes[100] ^= 1;
    fs::write(&path, bytes).expect("written");
    let ran = place.bench(["pins", "verify"]).exits(2);
    assert!(ran.stdout.lines().any(|line| line == "trace     mooncake-tiny       wrong"));
    assert!(ran.stdout.lines().any(|line| line == "trace     conversation        as pinned"));
    for part in [
        "pin::digest",
        "pinned sha256:",
        "found  sha256:",
        "bench pin pins/traces/mooncake-tiny.kdl",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let json = place.bench(["pins", "verify", "--format", "json"]).exits(2);
    assert!(json.stdout.contains("\"name\":\"mooncake-tiny\",\"verdict\":\"wrong\""));
}

#[test]
fn a_folder_without_pins_has_no_root() {
    let ran = Place::empty().bench(["pins", "list"]).exits(2);
    assert!(ran.stderr.contains("--root DIR"), "{}", ran.stderr);
}
