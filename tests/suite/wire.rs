//! `bench plan --wire`: what live traffic sends, before anything is sent.

use std::fs;

use touchstone::digest::Sha256;

use crate::program::Place;

/// Returns a project with one recording, pinned as `agents` in Dynamo's format and as `weka` in Weka's.
fn place() -> Place {
    let place = Place::project();
    place.copy("tests/fixtures/graph", "pins/traces");
    for (name, format, file) in
        [("agents", "dynamo", "capture.jsonl.gz"), ("weka", "weka", "weka.jsonl.gz")]
    {
        let pin = format!(
            "trace \"{name}\" {{\n    about \"A recording of this project's own.\"\n    format \"{format}\"\n    shard \"{file}\"\n    origin \"written for a test\" license=\"Apache-2.0\"\n}}\n"
        );
        place.write(&format!("pins/traces/{name}.kdl"), pin);
        place.bench(["pin", &format!("pins/traces/{name}.kdl")]).exits(0);
    }
    place
}

/// Writes a scenario `x.kdl` with one replay of a recording, and pins it.
fn scenario(place: &Place, trace: &str, load: &str, replay: &str) {
    let text = format!(
        "scenario \"x\" {{
    seed 7
    pins {{
        trace \"{trace}\"
    }}
    workload \"w\" {{
        trace \"{trace}\"
        load \"recorded\" {load}
    }}
    replay \"wire\" {{
        workload \"w\"
        endpoint \"http://127.0.0.1:1\" usage=#true
        {replay}
    }}
}}
"
    );
    place.write("x.kdl", text);
    place.bench(["pin", "x.kdl"]).exits(0);
}

#[test]
fn a_wire_plan_is_printed_with_every_request_and_what_it_waits_for() {
    let place = place();
    scenario(&place, "agents", "idle-gap-cap=\"60s\"", "lanes 2");
    let ran = place.bench(["plan", "x.kdl", "--wire"]).exits(0);
    let text = &ran.stdout;
    assert!(text.starts_with("job wire/w\nwire sha256:"), "{text}");
    for line in [
        "instance 0 lane=0",
        "path /v1/chat/completions",
        "volatile_headers authorization, content-length, host, user-agent",
        "trace root-a",
        "  0 root-a:0",
        "    starts 0 ms after the start of its instance",
        "    x-dynamo-session-id: root-a::<instance>",
        "    accept: text/event-stream",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let calls = text.lines().filter(|line| line.starts_with("    body bytes=")).count();
    assert_eq!(calls, 28, "{text}");
    assert_eq!(place.bench(["plan", "x.kdl", "--wire"]).exits(0).stdout, *text, "twice the same");
}

#[test]
fn bodies_are_written_whole_and_are_what_the_plan_says() {
    let place = place();
    scenario(&place, "agents", "", "session-routing \"dynamo-nvext\" contract=\"open\"");
    let words = ["plan", "x.kdl", "--wire-dir", "bodies", "--format", "json"];
    let ran = place.bench(words).exits(0);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let wire = &plan["jobs"][0]["wire"];
    let traces = wire["traces"].as_array().expect("traces");
    let mut files = 0;
    for (number, trace) in traces.iter().enumerate() {
        let name = trace["trace"].as_str().expect("a name");
        let folder = place.path(format!("bodies/wire_w/{number:04}-{name}"));
        let mut found: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|file| file.expect("a file").path())
            .collect();
        found.sort();
        let calls = trace["calls"].as_array().expect("calls");
        assert_eq!(found.len(), calls.len());
        for (file, call) in found.iter().zip(calls) {
            let bytes = fs::read(file).expect("a body");
            assert_eq!(call["body"]["sha256"], Sha256::of(&bytes).to_string());
            assert_eq!(call["body"]["bytes"], bytes.len());
            let body: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
            assert_eq!(body["stream_options"].is_null(), body["stream"] == false, "{body}");
            files += 1;
        }
    }
    assert_eq!(files, 28);
    let kept: serde_json::Value =
        serde_json::from_str(&place.read("bodies/wire_w/wire.json")).expect("JSON");
    assert_eq!(kept, *wire);
    let again = place.bench(words).exits(2);
    assert!(again.stderr.contains("replay::wire") && again.stderr.contains("is there already"));
    let nowhere = place.bench(["plan", "x.kdl", "--wire-dir", "not/there"]).exits(2);
    assert!(nowhere.stderr.contains("cannot write"), "{nowhere}");
    assert!(!place.path("not").exists());
}

#[test]
fn a_plan_of_wire_needs_a_replay_of_recorded_sessions() {
    let place = Place::repository();
    let none = place.bench(["plan", "scenarios/smoke.kdl", "--wire"]).exits(2);
    assert!(none.stderr.contains("has no `replay`"), "{none}");
    let nix =
        place.bench(["plan", "scenarios/smoke.kdl", "--wire", "--format", "nix-json"]).exits(2);
    assert!(nix.stderr.contains("replay::wire"), "{nix}");
    scenario(&place, "mooncake-tiny", "", "");
    let rows = place.bench(["plan", "x.kdl", "--wire"]).exits(2);
    assert!(
        rows.stderr.contains("replay::recording") && rows.stderr.contains("`mooncake`"),
        "{rows}"
    );
    let text = place.read("x.kdl").replace("load \"recorded\"", "load \"concurrency\"");
    place.write("x.kdl", text);
    let load = place.bench(["plan", "x.kdl"]).exits(2);
    assert!(load.stderr.contains("has `load \"concurrency\"`"), "{load}");
}

#[test]
fn what_is_wrong_is_told_before_anything_is_planned() {
    let place = place();
    scenario(&place, "weka", "open-loop=#true", "");
    let times = place.bench(["plan", "x.kdl", "--wire"]).exits(2);
    assert!(times.stderr.contains("replay::times") && times.stderr.contains("x.kdl:"), "{times}");
    scenario(&place, "agents", "", "lanes 4");
    let lanes = place.bench(["plan", "x.kdl", "--wire"]).exits(2);
    assert!(lanes.stderr.contains("replay::wrap"), "{lanes}");
    scenario(&place, "agents", "", "lanes 3");
    place.write("pins/traces/capture.jsonl.gz", "changed");
    let changed = place.bench(["plan", "x.kdl", "--wire"]).exits(2);
    assert!(changed.stderr.contains("pin::"), "{changed}");
}
