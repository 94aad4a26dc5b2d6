//! When calls start: snapshots, open loops, speedups.

use serde_json::{Value as Json, json};

use super::support::{capture, fixture, plans, settings, workload};
use crate::graph::NodeIndex;
use crate::replay::wire::WirePlan;
use crate::units::Nanos;
use crate::workload::live::{Api, Burst, Lanes, ReplaySettings, SessionRouting, Snapshot};
use crate::workload::{Load, RecordedLoad};

/// Plans the capture under a load.
fn plan(load: RecordedLoad, seed: u64, settings: &ReplaySettings) -> WirePlan {
    let (graphs, began) = capture(&fixture("graph/capture.jsonl.gz"));
    let mut workload = workload(None);
    workload.load = Load::Recorded(load);
    plans(graphs, Some(began), (seed, &workload), settings).expect("a plan")
}

/// Returns a replay of `chat`.
fn chat() -> ReplaySettings {
    settings(Api::Chat, SessionRouting::None)
}

/// Returns the plan as it is printed.
fn printed(plan: &WirePlan) -> Json {
    serde_json::from_slice(&plan.describe().to_bytes()).expect("JSON")
}

#[test]
fn a_strict_open_loop_starts_each_call_at_its_recorded_time_divided_once() {
    let load = RecordedLoad { open_loop: true, strict: true, ..RecordedLoad::at(4.0) };
    let plan = plan(load, 7, &chat());
    let printed = printed(&plan);
    let instances = printed["instances"].as_array().expect("instances");
    for (instance, arrival) in instances.iter().zip(plan.arrivals().expect("an open loop")) {
        assert_eq!(instance["at_ns"], arrival.get() / 4, "recorded times are whole milliseconds");
        assert!(instance.get("lane").is_none());
    }
    let starts: Vec<u64> = plan.arrivals().expect("some").iter().map(|at| at.get()).collect();
    assert_eq!(starts, [0, 500_000_000, 900_000_000]);
    for (trace, graph) in plan.graphs().iter().enumerate() {
        for (node, call) in graph.nodes.iter().enumerate() {
            let start = &printed["traces"][trace]["calls"][node]["start"];
            assert_eq!(*start, json!({"at_ns": call.arrival.get() / 4}), "{}", call.id);
        }
    }
    assert_eq!(printed["run"]["pacing"], json!({"loop": "open-strict", "speedup": 4}));
}

#[test]
fn an_open_loop_keeps_what_calls_wait_for_and_divides_their_delays() {
    let open = |speedup| RecordedLoad { open_loop: true, ..RecordedLoad::at(speedup) };
    let (slow, fast) =
        (printed(&plan(open(1.0), 7, &chat())), printed(&plan(open(2.0), 7, &chat())));
    let start = |plan: &Json| plan["traces"][0]["calls"][1]["start"].clone();
    assert_eq!(start(&slow), json!({"after": [{"completion_ns": 300_000_000, "node": 0}]}));
    assert_eq!(start(&fast), json!({"after": [{"completion_ns": 150_000_000, "node": 0}]}));
    assert!(slow["run"].get("lanes").is_none(), "nothing holds it back");
    let mut held = chat();
    held.lanes = Some(Lanes { count: 2, ramp: Nanos::ZERO });
    assert_eq!(plan(open(1.0), 7, &held).lanes(), Some(2));
}

#[test]
fn the_cap_of_idle_gaps_cuts_traces_or_the_system_and_divides_with_the_speedup() {
    let load = |scope: &str| RecordedLoad {
        idle_gap_cap_ms: Some(1_000.0),
        idle_gap_scope: scope.to_owned(),
        ..RecordedLoad::at(2.0)
    };
    let pacing = |scope| printed(&plan(load(scope), 7, &chat()))["run"]["pacing"].clone();
    assert_eq!(pacing("trace"), json!({"loop": "closed", "speedup": 2}));
    let cut = json!({"loop": "closed", "speedup": 2, "system_idle_cap_ns": 500_000_000});
    assert_eq!(pacing("system"), cut);
}

#[test]
fn a_snapshot_is_a_share_of_each_trace_that_seed_and_lane_draw() {
    let mut with = chat();
    with.lanes = Some(Lanes { count: 3, ramp: Nanos::ZERO });
    let snapshot = |from, to, burst| Some(Snapshot { from, to, burst });
    with.snapshot = snapshot(0.25, 0.25, Burst::Spread);
    let drawn = plan(RecordedLoad::at(1.0), 7, &with);
    for (lane, window) in drawn.windows().iter().enumerate() {
        let last = drawn.graphs()[lane].nodes.iter().map(|node| node.arrival).max();
        assert_eq!(window.cut.get(), last.expect("calls").get() / 4);
        assert_eq!(window.origin, window.cut);
    }
    with.snapshot = snapshot(0.25, 0.25, Burst::Together);
    let together = plan(RecordedLoad::at(1.0), 7, &with);
    for (lane, window) in together.windows().iter().enumerate() {
        let graph = &together.graphs()[lane];
        let behind = graph.nodes.iter().map(|node| node.arrival).filter(|at| *at >= window.cut);
        assert_eq!(Some(window.origin), behind.min(), "the first call behind it starts at once");
    }
    with.snapshot = snapshot(0.0, 1.0, Burst::Spread);
    let cuts = |seed| -> Vec<Nanos> {
        let drawn = plan(RecordedLoad::at(1.0), seed, &with);
        drawn.windows().iter().map(|window| window.cut).collect()
    };
    assert_eq!(cuts(7), cuts(7));
    assert_ne!(cuts(7), cuts(8));
    let printed = printed(&plan(RecordedLoad::at(1.0), 7, &with));
    assert_eq!(printed["instances"][1]["cut_ns"], cuts(7)[1].get());
}

#[test]
fn every_call_of_a_closed_loop_waits_for_what_the_recording_says() {
    let plan = plan(RecordedLoad::at(1.0), 7, &chat());
    let printed = printed(&plan);
    for trace in 0..3 {
        for node in plan.nodes(trace) {
            let NodeIndex(ordinal) = node;
            let call = &printed["traces"][trace]["calls"][ordinal];
            assert_eq!(call["ordinal"], ordinal);
            let after = call["start"]["after"].as_array().expect("edges");
            assert_eq!(after.len(), plan.graphs()[trace].edges_to(node).count());
            assert!(
                after.iter().all(|edge| edge
                    .get("node")
                    .is_none_or(|of| of.as_u64() < Some(ordinal as u64)))
            );
        }
    }
    assert_eq!(printed["instances"][0]["lane"], 0);
    assert!(printed["instances"][1].get("lane").is_none(), "one lane without `lanes`");
}
