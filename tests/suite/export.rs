//! `bench pins timing export`: the other side of the protocol played by a shell script, its refusals and its success.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::program::{Place, Ran};

/// An estimator under which every pass takes 3 ms: 1 of attention that no prefix shortens, half of one for the head.
const CONSTANT: &str = r#"read -r subject
case "$subject" in *'"protocol":"touchstone.timing-export/1"'*) ;; *) echo '{"error":"other protocol"}'; exit 1;; esac
echo '{"protocol":"touchstone.timing-export/1","package":"fake","package_version":"1","model":"acme/x","backend_version":"0.24.0","decode_average":null,"quantization":{"weights":"bfloat16","experts":"bfloat16","activations":"bfloat16","kv":"bfloat16"}}'
while read -r line; do
    opened=$(printf %s "$line" | tr -cd '[' | wc -c)
    printf '{"passes":[%s]}\n' "$(yes '[3,1,0.5]' | head -n $((opened - 2)) | paste -sd, -)"
done
"#;

/// A project with models and hardware, whose `fake-python` runs a script.
fn place(script: &str) -> Place {
    let place = Place::with_pins();
    let path = place.write("fake-python", format!("#!/bin/sh\n{script}"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    place
}

fn export(place: &Place, more: &[&str]) -> Ran {
    let asked = ["pins", "timing", "export", "--model", "llama-3.1-8b", "--hardware", "l40s"];
    let fake = place.path("fake-python");
    let fake = ["--python", fake.to_str().expect("UTF-8")];
    let python: &[&str] = if more.contains(&"--python") { &[] } else { &fake };
    place.bench(asked.iter().chain(&["--backend", "vllm"]).chain(python).chain(more))
}

#[test]
fn a_table_is_made_pinned_and_found_by_a_scenario() {
    let place = place(CONSTANT);
    let ran = export(&place, &["--tensor", "4"]).exits(0);
    let name = "llama-3.1-8b.l40s.vllm.tp4";
    assert!(ran.stdout.starts_with(&format!("timing {name}: sha256:")), "{ran}");
    assert!(ran.stdout.contains("prefill off by 0.0000 % at the median"), "{ran}");
    place.bench(["pins", "verify"]).exits(0);
    let pin = place.read(format!("pins/timing/{name}.kdl"));
    for part in ["parallelism tensor=4", "model \"llama-3.1-8b\"", "content-sha256=", "fake 1"] {
        assert!(pin.contains(part), "{pin}");
    }
    place.write("config.yaml", PREDICTION);
    let ran = place.bench(["predict", "-c", "config.yaml", "--format", "json"]).exits(0);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&found["mean_ttft_ms"], &found["mean_tpot_ms"]), (&3.0.into(), &3.0.into()));
    let again = export(&place, &["--tensor", "4"]).exits(2);
    assert!(again.stderr.contains("there is a timing pin"), "{again}");
}

/// A deployment that the exported table timed.
const PREDICTION: &str = "traffic:
  source: {type: synthetic, input_tokens: 100, output_tokens: 4}
  load: {type: concurrency, concurrency: 1}
  stop: {requests: 2}
engine:
  model: meta-llama/Meta-Llama-3.1-8B
  hardware: l40s
  context_length: max
  workers:
    aggregated:
      parallelism: {tensor: 4}
";

#[test]
fn what_stands_in_the_way_of_a_table_is_said_and_nothing_is_written() {
    let refusal =
        "read -r subject; echo '{\"error\":\"the Python package aisimulate is not installed\"}'";
    for (script, code, says) in [
        (refusal, 2, "pip install aisimulate=="),
        ("read -r subject; echo gone >&2; exit 1", 1, "it ended early: gone"),
        ("read -r subject; echo '{\"protocol\":\"other/2\"}'", 1, "broke the protocol"),
        ("read -r subject; echo nonsense", 1, "broke the protocol"),
    ] {
        let place = place(script);
        let ran = export(&place, &[]).exits(code);
        assert!(ran.stderr.contains("pin::export") && ran.stderr.contains(says), "{ran}");
        assert!(!place.path("pins/timing/llama-3.1-8b.l40s.vllm.tp1.kdl").exists(), "{ran}");
    }
    let place = place(CONSTANT);
    let ran = export(&place, &["--python", "/no/such/python"]).exits(2);
    assert!(ran.stderr.contains("cannot start `/no/such/python`"), "{ran}");
    let asked = ["pins", "timing", "export", "--model", "qwen3-30b-a3b", "--hardware", "l40s"];
    let ran = place.bench(asked.iter().chain(&["--backend", "vllm", "--tensor", "2"])).exits(2);
    assert!(ran.stderr.contains("`moe-tensor` times `moe-expert` (1)"), "{ran}");
    let asked = ["pins", "timing", "export", "--model", "llama-3.1-8b", "--hardware", "l40s"];
    let mut command = place.command(asked.iter().chain(&["--backend", "vllm"]));
    let ran = Ran::of(command.env("CI", "true")).exits(3);
    assert!(ran.stderr.contains("pin::forbidden"), "{ran}");
}
