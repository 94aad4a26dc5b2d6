//! `bench plan --wire`: what live traffic sends, before anything is sent.

use std::fs;
use std::io::Read as _;

use touchstone::digest::Sha256;

use crate::program::{Place, Ran, repository_root};

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
        let folder = place.path(format!("bodies/jobs/wire/w/{number:04}-{name}"));
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
        serde_json::from_str(&place.read("bodies/jobs/wire/w/wire.json")).expect("JSON");
    assert_eq!(kept, *wire);
    let again = place.bench(words).exits(2);
    assert!(again.stderr.contains("replay::wire") && again.stderr.contains("is there already"));
    let nowhere = place.bench(["plan", "x.kdl", "--wire-dir", "not/there"]).exits(2);
    assert!(nowhere.stderr.contains("cannot write"), "{nowhere}");
    assert!(!place.path("not").exists());
}

/// Returns the recording in Dynamo's format, as text.
fn recording() -> String {
    let packed = fs::read(repository_root().join("tests/fixtures/graph/capture.jsonl.gz"));
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packed.expect("a fixture").as_slice())
        .read_to_string(&mut text)
        .expect("gzip");
    text
}

/// Lanes that begin in the middle of their traces, and prime caches for that.
const WINDOWED: &str = "lanes 3\n snapshot from=0.4 to=0.6\n warmup \"prime\"";

#[test]
fn what_a_warm_up_and_a_snapshot_send_otherwise_is_printed_and_written_with_its_digest() {
    let place = place();
    scenario(&place, "agents", "", WINDOWED);
    let ran = place.bench(["plan", "x.kdl", "--wire"]).exits(0);
    let primers = ran.stdout.lines().filter(|line| line.contains(" (primer")).count();
    assert!(primers > 0 && ran.stdout.contains("\n    lanes "), "{ran}");
    let words = ["plan", "x.kdl", "--wire-dir", "bodies", "--format", "json"];
    let ran = place.bench(words).exits(0);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let mut found = 0;
    let traces = plan["jobs"][0]["wire"]["traces"].as_array().expect("traces");
    for (number, trace) in traces.iter().enumerate() {
        let name = trace["trace"].as_str().expect("a name");
        for sent in trace["variants"].as_array().into_iter().flatten() {
            let text = |key: &str| sent[key].as_str().expect("a text").to_owned();
            let call = text("call").replace(':', "_");
            let ordinal = sent["ordinal"].as_u64().expect("a count");
            let file = format!("{ordinal:05}-{call}.{}.json", text("sending"));
            let path = place.path(format!("bodies/jobs/wire/w/{number:04}-{name}/{file}"));
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(sent["body"]["sha256"], Sha256::of(&bytes).to_string(), "{file}");
            found += 1;
        }
    }
    assert!(found >= primers, "{found} {primers}");
}

#[test]
fn one_changed_byte_of_a_primer_turns_the_gate_red_and_names_it() {
    let place = Place::project();
    let pinned = |text: String| {
        place.write("pins/traces/agents.jsonl", text);
        place.write(
            "pins/traces/agents.kdl",
            "trace \"agents\" {\n    about \"x\"\n    format \"dynamo\"\n    shard \"agents.jsonl\"\n    origin \"x\" license=\"Apache-2.0\"\n}\n",
        );
        place.bench(["pin", "pins/traces/agents.kdl"]).exits(0);
    };
    pinned(recording());
    scenario(&place, "agents", "idle-gap-cap=\"1s\" speedup=1000.0", WINDOWED);
    let text = place.read("x.kdl").replace("\"http://127.0.0.1:1\"", "\"mock\"");
    let gate = "    gate {\n        golden \"pins/goldens/x.kdl\"\n    }\n}\n";
    place.write("x.kdl", format!("{}{gate}", text.trim_end().trim_end_matches('}')));
    place.bench(["accept", "x.kdl", "--reason", "a test", "--by", "ada"]).exits(0);
    let golden = place.read("pins/goldens/x.kdl");
    let name = golden
        .lines()
        .find(|line| line.contains(" (primer"))
        .and_then(|line| line.split('"').nth(1))
        .unwrap_or_else(|| panic!("{golden}"));
    let (_, call) = name.split_once('/').expect("of a trace");
    let (session, turn) =
        call.split_once(" (").expect("a sending").0.split_once(':').expect("a turn");
    let asked = format!("\"request_id\":\"req-{session}-{turn}\",\"model\":\"recorded-mode");
    assert!(recording().contains(&asked), "{asked}");
    pinned(recording().replace(&format!("{asked}l\""), &format!("{asked}m\"")));
    place.bench(["pin", "x.kdl", "--update", "agents"]).exits(0);
    let ran = place.bench(["run", "x.kdl"]).exits(3);
    assert!(ran.stderr.contains(&format!("request `{name}` changes on the wire")), "{name}: {ran}");
}

#[test]
fn the_order_of_files_and_the_number_of_threads_move_no_byte_on_the_wire() {
    let place = Place::project();
    let text = recording();
    let lines: Vec<&str> = text.lines().collect();
    let (one, other) = lines.split_at(lines.len() / 2);
    let all = |lines: &[&str]| lines.join("\n") + "\n";
    place.write("pins/traces/one.jsonl", all(one));
    place.write("pins/traces/other.jsonl", all(other));
    let digest = |files: [&str; 2], threads: &str| {
        let shards = files.map(|file| format!("    shard \"{file}.jsonl\"\n")).concat();
        place.write(
            "pins/traces/agents.kdl",
            format!("trace \"agents\" {{\n    about \"x\"\n    format \"dynamo\"\n{shards}    origin \"x\" license=\"Apache-2.0\"\n}}\n"),
        );
        place.bench(["pin", "pins/traces/agents.kdl"]).exits(0);
        scenario(&place, "agents", "idle-gap-cap=\"60s\"", "lanes 2");
        let mut command = place.command(["plan", "x.kdl", "--wire"]);
        let ran = Ran::of(command.env("RAYON_NUM_THREADS", threads)).exits(0);
        ran.stdout
    };
    let plans = [
        digest(["one", "other"], "1"),
        digest(["other", "one"], "1"),
        digest(["one", "other"], "4"),
    ];
    assert!(plans[0].contains("wire sha256:") && plans.iter().all(|plan| *plan == plans[0]));
}

#[test]
fn jobs_whose_names_read_alike_have_folders_of_their_own() {
    let place = place();
    scenario(&place, "agents", "", "");
    let text = place.read("x.kdl");
    let replay = &text
        [text.find("    replay \"wire\"").expect("a replay")..text.rfind('}').expect("an end")];
    let second = replay
        .replace("replay \"wire\"", "replay \"a_b\"")
        .replace("workload \"w\"", "workload \"c\"");
    let first = replay
        .replace("replay \"wire\"", "replay \"a\"")
        .replace("workload \"w\"", "workload \"b_c\"");
    let workload = &text[text.find("    workload \"w\"").expect("a workload")
        ..text.find("    replay \"wire\"").expect("a replay")];
    let declared = ["b_c", "c"]
        .map(|name| workload.replace("workload \"w\"", &format!("workload \"{name}\"")))
        .concat();
    let start = text.find("    workload \"w\"").expect("a workload");
    place.write("x.kdl", format!("{}{declared}{first}{second}}}\n", &text[..start]));
    place.bench(["plan", "x.kdl", "--wire-dir", "bodies"]).exits(0);
    for job in ["a/b_c", "a_b/c"] {
        assert!(place.path(format!("bodies/jobs/{job}/wire.json")).exists(), "{job}");
    }
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
