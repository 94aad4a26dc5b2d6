//! `bench pins`: what is listed, what verifies, and what a changed byte does.

use std::fs;

use crate::program::{Place, Ran};

/// Returns the lines of a table, whose columns are as wide as the longest name.
fn lines(ran: &Ran) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    ran.stdout.lines().map(words).collect()
}

#[test]
fn pins_are_listed_as_a_scenario_states_them() {
    let place = Place::with_pins();
    let ran = place.bench(["pins", "list"]).exits(0);
    assert!(lines(&ran).iter().any(|line| line.starts_with("trace conversation sha256=\"")));
    assert!(lines(&ran).iter().any(|line| line == "engine native version=\"1\""));
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
    assert!(lines(&ran).iter().any(|line| line == "trace mooncake-tiny wrong"));
    assert!(lines(&ran).iter().any(|line| line == "trace conversation as pinned"));
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

#[test]
fn another_file_is_accepted_by_the_command_that_the_mismatch_prints() {
    let place = Place::with_pins();
    let pin = "pins/traces/mooncake-tiny.kdl";
    let before = place.read(pin);
    place.bench(["pin", pin]).exits(0);
    fs::copy(
        place.path("pins/traces/mooncake-synthetic.jsonl.gz"),
        place.path("pins/traces/mooncake-tiny.jsonl.gz"),
    )
    .expect("copied");
    let refused = place.bench(["pin", pin]).exits(2);
    assert!(refused.stderr.contains(&format!("`bench pin {pin} --update mooncake-tiny`")));
    assert_eq!(place.read(pin), before, "nothing is accepted unasked");

    let ran = place.bench(["pin", pin, "--update", "mooncake-tiny"]).exits(0);
    assert!(ran.stdout.starts_with("trace mooncake-tiny: sha256:"), "{}", ran.stdout);
    place.bench(["pins", "verify"]).exits(0);
    let after = place.read(pin);
    assert!(after.contains("requests 3993") && after.contains("bytes=294839"), "{after}");
    let kept = |text: &str| {
        let mut lines = text.lines().map(str::to_owned).collect::<Vec<_>>();
        lines.retain(|line| !line.contains("shard") && !line.contains("requests"));
        lines
    };
    assert_eq!(kept(&after), kept(&before));
    let other = place.bench(["pin", pin, "--update", "conversation"]).exits(2);
    assert!(other.stderr.contains("did you mean `--update mooncake-tiny`?"), "{}", other.stderr);
}

#[test]
fn a_pin_of_ones_own_is_filled_in_and_leaves_the_rest_alone() {
    let place = Place::project();
    place.write(
        "pins/traces/mine.jsonl",
        "{\"timestamp\":0,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}\n",
    );
    let pin = "pins/traces/mine.kdl";
    let bare = "// mine\ntrace \"mine\" {\n    format \"mooncake\"\n    block-size 512\n    timestamps unit=\"ms\"\n    shard \"mine.jsonl\"\n}\n";
    place.write(pin, bare);
    let refused = place.bench(["pins", "verify"]).exits(2);
    assert!(refused.stderr.contains("`bench pin pins/traces/mine.kdl` fills it in"));
    let under_ci = Ran::of(place.command(["pin", pin]).env("CI", "true")).exits(3);
    assert!(under_ci.stderr.contains("pin::forbidden"), "{}", under_ci.stderr);
    assert_eq!(place.read(pin), bare);
    place.bench(["pin", pin]).exits(0);
    place.bench(["pins", "verify"]).exits(0);
    let filled = place.read(pin);
    assert!(filled.starts_with("// mine\n") && filled.contains("\n    requests 1\n"), "{filled}");
    let untidy = filled.replace("    requests 1\n", "    requests   1\n");
    place.write(pin, &untidy);
    let under_ci = Ran::of(place.command(["fmt", pin]).env("CI", "true")).exits(3);
    assert!(under_ci.stderr.contains("pin::forbidden"), "{under_ci}");
    assert_eq!(place.read(pin), untidy, "`fmt` writes no pin under `CI`");
    place.bench(["fmt", pin]).exits(0);
    Ran::of(place.command(["pin", pin]).env("CI", "true")).exits(0);
    assert_eq!(place.read(pin), filled, "filling in twice changes nothing");
    place.bench(["fmt", "--check", pin]).exits(0);
}
