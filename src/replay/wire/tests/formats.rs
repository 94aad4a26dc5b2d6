//! One recording in two formats.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::support::{capture, fixture, planned, settings, weka};
use crate::graph::Graph;
use crate::replay::wire::{WireDigests, WirePlan};
use crate::units::Nanos;
use crate::workload::live::{Api, NvextContract, SessionRouting};

/// Returns the hashes of each session's requests in a capture, by their ends.
fn hashes(capture: &str) -> BTreeMap<String, Vec<Vec<Json>>> {
    let mut found: BTreeMap<String, Vec<(u64, Vec<Json>)>> = BTreeMap::new();
    for line in capture.lines() {
        let line: Json = serde_json::from_str(line).expect("JSON");
        let event = line.get("event").unwrap_or(&line);
        let (Some(session), Some(hashes)) = (
            event["agent_context"]["session_id"].as_str(),
            event["request"]["replay"]["input_sequence_hashes"].as_array(),
        ) else {
            continue;
        };
        let at = event["event_time_unix_ms"].as_u64().expect("a time");
        found.entry(session.to_owned()).or_default().push((at, hashes.clone()));
    }
    let in_order = |mut requests: Vec<(u64, Vec<Json>)>| {
        requests.sort_by_key(|(at, _)| *at);
        requests.into_iter().map(|(_, hashes)| hashes).collect()
    };
    found.into_iter().map(|(session, requests)| (session, in_order(requests))).collect()
}

/// Gives the requests of a list the names that blocks have in the capture: those of a Weka trace count from 1.
fn rename(list: &mut Json, session: &str, hashes: &BTreeMap<String, Vec<Vec<Json>>>) {
    let mut turn = 0;
    for entry in list.as_array_mut().expect("requests") {
        if entry["type"] == "subagent" {
            let agent = entry["agent_id"].as_str().expect("a name").to_owned();
            rename(&mut entry["requests"], &agent, hashes);
        } else {
            let count = entry["hash_ids"].as_array().expect("blocks").len();
            entry["hash_ids"] = Json::Array(hashes[session][turn][..count].to_vec());
            turn += 1;
        }
    }
}

/// Returns the Weka traces with the names of blocks that the capture has, which mean the same text everywhere.
fn global(weka: &str, capture: &str) -> String {
    let hashes = hashes(capture);
    let of_line = |line: &str| {
        let mut trace: Json = serde_json::from_str(line).expect("JSON");
        trace["hash_id_scope"] = "global".into();
        let id = trace["id"].as_str().expect("a name").to_owned();
        rename(&mut trace["requests"], &id, &hashes);
        format!("{trace}\n")
    };
    weka.lines().map(of_line).collect()
}

/// Returns the same recording from both formats.
fn both() -> [Vec<Graph>; 2] {
    let text = fixture("graph/capture.jsonl.gz");
    [capture(&text).0, weka(&global(&fixture("graph/weka.jsonl.gz"), &text))]
}

#[test]
fn one_recording_as_weka_and_as_dynamo_is_one_wire_plan() {
    let timeout = Nanos::new(60_000_000_000);
    let nvext = |contract| SessionRouting::DynamoNvext { contract, timeout };
    for routing in [
        SessionRouting::DynamoHeaders,
        nvext(NvextContract::Bind),
        nvext(NvextContract::Open),
        SessionRouting::SmgRoutingKey,
        SessionRouting::SessionIdHeader { header: "x-session-id".to_owned() },
    ] {
        for api in Api::ALL {
            let settings = settings(api, routing.clone());
            let digests = |graphs| planned(graphs, 7, &settings, None).expect("a plan").digests();
            let [dynamo, weka]: [WireDigests; 2] = both().map(digests);
            assert_eq!(dynamo.calls().len(), 28);
            assert_eq!(dynamo.differences(&weka), [], "{routing:?}");
            assert_eq!(dynamo.digest(), weka.digest());
        }
    }
}

#[test]
fn where_no_mode_names_sessions_only_the_headers_that_dynamo_recorded_differ() {
    let settings = settings(Api::Chat, SessionRouting::None);
    let [dynamo, weka] = both().map(|graphs| planned(graphs, 7, &settings, None).expect("a plan"));
    let headers = |plan: &WirePlan, trace, node| -> BTreeMap<String, Json> {
        let described = plan.describe_call(trace, node).to_bytes();
        let described: Json = serde_json::from_slice(&described).expect("JSON");
        let fields = described["headers"].as_object().expect("headers").clone();
        fields.into_iter().filter(|(name, _)| !name.starts_with("x-dynamo-")).collect()
    };
    for trace in 0..3 {
        for node in dynamo.nodes(trace) {
            assert_eq!(dynamo.body(trace, node), weka.body(trace, node));
            assert_eq!(headers(&dynamo, trace, node), headers(&weka, trace, node));
        }
    }
}
