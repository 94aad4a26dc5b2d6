//! `nvext` in bodies: both contracts, and what else it holds.

use serde_json::{Value as Json, json};

use super::support::{ALL, capture, fixture, planned, settings};
use crate::graph::{NodeIndex, read_dag};
use crate::replay::wire::{WireCall, WirePlan};
use crate::units::Nanos;
use crate::workload::CacheBust;
use crate::workload::Select;
use crate::workload::live::{Api, Burst, Lanes, NvextContract, SessionRouting, Snapshot, Warmup};

/// Returns the routing of a contract, with a time-out of 90 s.
fn routing(contract: NvextContract) -> SessionRouting {
    SessionRouting::DynamoNvext { contract, timeout: Nanos::new(90_000_000_000) }
}

/// Returns the body of a call of the first instance.
fn body(plan: &WirePlan, node: usize) -> Json {
    let call = WireCall { instance: 0, node: NodeIndex(node), warmup: None };
    serde_json::from_slice(&plan.request(&call, &|_| None).body).expect("JSON")
}

/// Returns what the turns of a session say of it, in their order, the id apart.
fn said(plan: &WirePlan, session: &str) -> Vec<Json> {
    let graph = &plan.graphs()[0];
    let own = plan.identity(0).conversation(graph, session);
    let turns = graph.nodes.iter().enumerate().filter(|(_, node)| node.session.session == session);
    turns
        .map(|(node, _)| {
            let mut control = body(plan, node)["nvext"]["session_control"].take();
            let fields = control.as_object_mut().expect("an object");
            assert_eq!(fields.remove("session_id"), Some(Json::from(own.clone())));
            control
        })
        .collect()
}

/// Telling case 44.
#[test]
fn turns_bind_and_close_or_open_once_and_close() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let plan = |contract| {
        planned(graphs.clone(), 7, &settings(Api::Chat, routing(contract)), None).expect("a plan")
    };
    let (bind, open) = (plan(NvextContract::Bind), plan(NvextContract::Open));
    let timed = |action: &str| json!({"action": action, "timeout": 90});
    let close = json!({"action": "close"});
    assert_eq!(said(&bind, "a-sub1"), [timed("bind"), timed("bind"), close.clone()]);
    assert_eq!(said(&open, "a-sub1"), [timed("open"), json!({}), close.clone()]);
    assert_eq!(said(&bind, "a-sub2"), [timed("bind"), close]);
}

#[test]
fn what_else_nvext_holds_is_kept_as_it_is_written() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let mut with = settings(Api::Chat, routing(NvextContract::Bind));
    let stated = r#"{"agent_hints": {"priority": 1.50}, "session_control": 3}"#;
    with.endpoint.request.extra = vec![("nvext".to_owned(), stated.to_owned())];
    let plan = planned(graphs, 7, &with, None).expect("a plan");
    let call = WireCall { instance: 0, node: NodeIndex(0), warmup: None };
    let bytes = plan.request(&call, &|_| None).body;
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    assert!(
        text.contains(
            r#""nvext":{"agent_hints":{"priority": 1.50},"session_control":{"session_id":"#
        ),
        "{text}"
    );
    assert_eq!(text.matches("session_control").count(), 1, "{text}");
    // Without the mode it is sent as it is.
    with.routing = SessionRouting::SmgRoutingKey;
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let plan = planned(graphs, 7, &with, None).expect("a plan");
    let bytes = plan.request(&call, &|_| None).body;
    assert!(std::str::from_utf8(&bytes).expect("UTF-8").contains(stated));
}

#[test]
fn authored_turns_keep_their_own_nvext_beside_the_session() {
    let session = r#"{"session_id":"s","turns":[{"model":"m","messages":[{"role":"user","content":"x"}],"extra":{"nvext":{"use_raw_prompt":true}}}]}"#;
    let graphs = read_dag("dag.jsonl", session).expect("a session");
    let settings = settings(Api::Chat, routing(NvextContract::Open));
    let plan = planned(graphs, 7, &settings, None).expect("a plan");
    let nvext = body(&plan, 0)["nvext"].clone();
    assert_eq!(nvext["use_raw_prompt"], true);
    assert_eq!(nvext["session_control"]["action"], "close", "its only turn is its last");
}

#[test]
fn a_lane_that_begins_in_the_middle_opens_sessions_with_the_first_turn_that_it_sends() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    for (warmup, primes) in [(Warmup::None, false), (Warmup::Prime, true)] {
        let mut settings = settings(Api::Chat, routing(NvextContract::Open));
        settings.lanes = Some(Lanes { count: 3, ramp: Nanos::ZERO });
        settings.snapshot = Some(Snapshot { from: 0.5, to: 0.5, burst: Burst::Spread });
        settings.warmup = warmup;
        let select = Select { cache_bust: CacheBust::None, ..ALL };
        let plan = planned(graphs.clone(), 7, &settings, Some(select)).expect("a plan");
        for instance in 0..3_u64 {
            let trace = plan.trace(instance);
            let graph = &plan.graphs()[trace];
            let cut = plan.windows()[usize::try_from(instance).expect("small")].cut;
            for (index, node) in graph.nodes.iter().enumerate() {
                let turns = graph
                    .nodes
                    .iter()
                    .filter(|other| other.session.session == node.session.session);
                let (before, behind): (Vec<_>, Vec<_>) =
                    turns.partition(|other| other.arrival < cut);
                let behind = behind.iter().map(|turn| turn.session.turn).min();
                let before = before.iter().map(|turn| turn.session.turn).max();
                let Some(first) = before.filter(|_| primes).or(behind).filter(|_| behind.is_some())
                else {
                    continue; // it is over before the window begins: nothing of it is sent
                };
                let call = WireCall { instance, node: NodeIndex(index), warmup: None };
                let body: Json =
                    serde_json::from_slice(&plan.request(&call, &|_| None).body).expect("JSON");
                let action = &body["nvext"]["session_control"]["action"];
                if node.session.is_final {
                    assert_eq!(action, "close");
                } else {
                    assert_eq!(action == "open", node.session.turn == first, "{}", node.id);
                }
            }
        }
    }
}
