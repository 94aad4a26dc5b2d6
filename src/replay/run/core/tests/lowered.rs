//! Recordings from file to sending.

use super::player::{Answer, play, rules};
use crate::graph::{IdleGapCap, LowerOptions, lower};
use crate::replay::run::core::{Ending, Pacing, Rules, StepBody, Topology};
use crate::trace::{RecordedOptions, TraceInput, read_weka};

/// A request of a Weka trace: start, duration and first token in seconds.
fn call(start: f64, duration: f64, ttft: f64) -> String {
    format!(
        r#"{{"t":{start},"type":"s","model":"m","in":32,"out":8,"hash_ids":[1,2],"api_time":{duration},"ttft":{ttft}}}"#
    )
}

/// A root of three turns; an agent starts while the first runs, another between the second and the third.
fn recording() -> String {
    let agent = |start: f64, id: &str, entries: &[String]| {
        format!(
            r#"{{"t":{start},"type":"subagent","agent_id":"{id}","subagent_type":"x","status":"completed","models":["m"],"requests":[{}]}}"#,
            entries.join(",")
        )
    };
    let entries = [
        call(0.0, 2.0, 0.5),
        agent(1.0, "early", &[call(1.0, 3.0, 0.25)]),
        call(5.0, 1.0, 0.125),
        agent(6.5, "late", &[call(6.5, 0.5, 0.25), call(8.0, 1.0, 0.5)]),
        call(10.0, 1.0, 0.5),
    ];
    format!(
        r#"{{"id":"r","models":["m"],"block_size":16,"hash_id_scope":"local","requests":[{}]}}"#,
        entries.join(",")
    )
}

#[test]
fn a_server_as_fast_as_recorded_sees_the_recorded_arrivals() {
    let mut trees = Vec::new();
    let input = [TraceInput::bytes("weka.jsonl", recording().as_bytes())];
    read_weka(&input, RecordedOptions::strict(), &mut |tree| trees.push(tree)).expect("a trace");
    let graph = lower(&trees[0], LowerOptions { idle_gap_cap: IdleGapCap::None }).0;
    let topology = Topology::of(&graph, |_| StepBody::default());
    let recorded = |id: &str| match id {
        "r:0" => (500, 2000),
        "r:1" => (125, 1000),
        "early:0" => (250, 3000),
        "late:0" => (250, 500),
        "r:2" | "late:1" => (500, 1000),
        other => panic!("{other} is not of the recording"),
    };
    let millisecond = 1_000_000;
    for is_strict in [false, true] {
        let rules = Rules { pacing: Pacing { speedup: 1.0, is_strict }, ..rules(1, 1) };
        let seen = play(rules, vec![topology.clone()], |call| {
            let (token, end) = recorded(&graph.node(call.node).id);
            let first_token = Some(token * millisecond);
            Answer { first_token, end: end * millisecond, ending: Ending::Answered }
        });
        assert_eq!(seen.sent.len(), 6);
        for sent in &seen.sent {
            let node = graph.node(sent.call.node);
            assert_eq!(sent.at, node.arrival.get(), "{}", node.id);
        }
    }
}
