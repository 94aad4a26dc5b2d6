//! A replay beside a simulation: what is said of live traffic that was planned and not sent, and of what stands beside it.

use serde_json::Value;

use crate::program::Place;
use crate::replay::{SIMULATED, accept, pin, three_trees};

/// A simulation beside a replay that is held to bounds.
const HALF_LIVE: &str = "scenario \"x\" {
    pins {
        trace \"agents\"
        hardware \"h200_sxm\"
        model \"llama-3.1-8b\"
        engine \"native\" version=\"1\"
    }
    workload \"w\" {
        trace \"agents\"
        load \"recorded\" speedup=1000.0
    }
    deployment \"agg\" {
        mode \"aggregated\"
        model \"llama-3.1-8b\"
        hardware \"h200_sxm\"
        backend \"vllm\"
        worker \"aggregated\" {
            kv-cache block-size=16 {
                capacity \"fixed\" blocks=4096
            }
            timing \"fixed\" prefill-ms=4.0 decode-ms=1.0
        }
        router \"round-robin\"
    }
    simulate \"sim\" {
        workload \"w\"
        deployment \"agg\"
        engine \"native\"
    }
    replay \"wire\" {
        workload \"w\"
        endpoint \"mock\" model=\"m\"
        lanes 3
    }
    gate {
        golden \"pins/goldens/x.kdl\"
        live \"wire\" { errors max=0; }
    }
}
";

/// Returns a project with this scenario.
fn place(scenario: &str) -> Place {
    let place = Place::with_pins();
    place.write("pins/traces/agents.jsonl", three_trees());
    pin(&place, "agents");
    place.write("x.kdl", scenario);
    place.bench(["pin", "x.kdl"]).exits(0);
    place
}

#[test]
fn traffic_that_was_planned_and_not_sent_is_unjudged_unless_its_plan_is_all_that_is_asked_for() {
    let place = place(HALF_LIVE);
    accept(&place).exits(0);
    let plan = place.bench(["plan", "x.kdl", "--format", "nix-json"]).exits(0);
    let plan: Value = serde_json::from_str(&plan.stdout).expect("JSON");
    place.write("batch.json", plan["batches"][0].to_string());
    place.bench(["exec-batch", "batch.json", "--root", ".", "--out", "part"]).exits(0);
    let note = "wire/w: planned and not sent: nothing was measured, and its bounds are not judged";
    let merge = ["merge", "--scenario", "x.kdl", "part"];

    let ran = place.bench(merge).exits(4);
    assert!(ran.stdout.contains("UNJUDGED") && ran.stdout.contains(note), "{ran}");
    assert!(ran.stderr.contains("gate::live") && ran.stderr.contains("--planned"), "{ran}");
    let kept = |file: &str| place.read(format!("runs/x/latest/{file}"));
    assert!(kept("summary.md").contains("**wire/w**: planned and not sent"));
    assert!(kept("junit.xml").contains("<system-out>planned and not sent: nothing was measured"));
    assert!(kept("junit.xml").contains("failures=\"1\""), "{}", kept("junit.xml"));

    let planned = [&merge[..], &["--planned"]].concat();
    let ran = place.bench(planned.clone()).exits(0);
    assert!(!ran.stdout.contains("UNJUDGED") && ran.stdout.contains(note), "{ran}");
    assert!(kept("summary.md").contains("**wire/w**: planned and not sent"));
    assert!(kept("junit.xml").contains("failures=\"0\""), "{}", kept("junit.xml"));

    place.write("pins/traces/agents.jsonl", three_trees().replacen("req-root-c-0", "x", 1));
    let ran = place.bench(planned).exits(1);
    assert!(ran.stderr.contains("job `wire/w` failed"), "{ran}");
    assert!(ran.stderr.contains("x.kdl:30:") && ran.stderr.contains("help:"), "{ran}");
}

#[test]
fn perf_counts_what_it_simulates_apart_from_what_is_planned() {
    let place = place(HALF_LIVE);
    let ran = place.bench(["perf", "x.kdl", "--rounds", "1", "--format", "json"]).exits(0);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let told = &told["scenarios"][0];
    assert_eq!((&told["jobs"], &told["simulated"]), (&2.into(), &1.into()), "{ran}");
}

#[test]
fn a_deployment_behind_the_mock_that_is_not_there_is_shown_where_it_is_named() {
    let place = place(SIMULATED);
    place.write("x.kdl", place.read("x.kdl").replace("deployment=\"agg\"", "deployment=\"aggr\""));
    let ran = place.bench(["lint", "x.kdl"]).exits(2);
    assert!(ran.stderr.contains("there is no deployment `aggr`"), "{ran}");
    let line = place.read("x.kdl").lines().position(|line| line.contains("aggr\"")).expect("there");
    assert!(ran.stderr.contains(&format!("x.kdl:{}:29", line + 1)), "{ran}");
    assert!(ran.stderr.contains("did you mean `agg`?"), "{ran}");
    assert!(!ran.stderr.contains("not used") && !ran.stderr.contains("warning"), "{ran}");
}
