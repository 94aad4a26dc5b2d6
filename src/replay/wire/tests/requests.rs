//! Requests of plans: headers, bodies, names.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::support::{ALL, capture, fixture, plan_of_capture, planned, sent, settings};
use crate::graph::{NodeIndex, read_dag};
use crate::record::Reply;
use crate::replay::wire::{WireCall, WireDifference, WireDigests, WirePlan};
use crate::units::Nanos;
use crate::workload::live::{Api, Lanes, NvextContract, SessionRouting};
use crate::workload::{CacheBust, Select};

/// Returns a derived value as we name things: `instance` is the number of the trace.
fn named(plan: &WirePlan, trace: &str, text: &str) -> String {
    let instance = plan.graphs().iter().position(|graph| graph.id == trace).expect("a trace");
    let nonce = plan.identity(u64::try_from(instance).expect("small")).nonce().to_owned();
    if let Some(scope) = text.strip_prefix("<corr:").and_then(|rest| rest.strip_suffix('>')) {
        return format!("{scope}::{nonce}");
    }
    text.replace("profiling-<inst>", &nonce).replace("<uuid4hex>", &nonce)
}

/// Returns a body with its texts left out, and its names as we write them.
fn shape(body: &Json, rename: &dyn Fn(&str) -> String) -> Json {
    let mut body = body.clone();
    for message in body["messages"].as_array_mut().expect("messages") {
        assert!(message["content"].is_string());
        message["content"] = Json::Null;
    }
    if let Some(session) = body.pointer_mut("/nvext/session_control/session_id") {
        *session = Json::String(rename(session.as_str().expect("a text")));
    }
    body
}

/// Compares every request of the capture under a routing with the derived ones, but for headers that ours adds on purpose.
fn assert_derived(routing: SessionRouting, file: &str, ours: &[&str]) {
    let plan = plan_of_capture(routing);
    let sent = sent(&plan);
    let text = fixture(&format!("wire/derived_{file}.jsonl.gz"));
    assert_eq!(text.lines().count(), sent.len());
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| line[key].as_str().expect("a text").to_owned();
        let (trace, node) = (text("trace"), text("node"));
        let (headers, body) = &sent[&(trace.clone(), node.clone())];
        let rename = |text: &str| named(&plan, &trace, text);
        let expected: BTreeMap<String, String> = line["headers"]
            .as_object()
            .expect("headers")
            .iter()
            .map(|(name, value)| (name.to_lowercase(), rename(value.as_str().expect("a text"))))
            .collect();
        let known = |name: &&String| {
            !["accept", "content-type"].contains(&name.as_str()) && !ours.contains(&name.as_str())
        };
        let found: BTreeMap<String, String> = headers
            .iter()
            .filter(|(name, _)| known(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        assert_eq!(found, expected, "{node}");
        let same = |text: &str| text.to_owned();
        assert_eq!(shape(body, &same), shape(&line["body"], &rename), "{node}");
    }
}

const BIND: SessionRouting = SessionRouting::DynamoNvext {
    contract: NvextContract::Bind,
    timeout: Nanos::new(300_000_000_000),
};
const OPEN: SessionRouting = SessionRouting::DynamoNvext {
    contract: NvextContract::Open,
    timeout: Nanos::new(300_000_000_000),
};

#[test]
fn every_header_and_field_is_the_derived_one_in_all_routings() {
    assert_derived(SessionRouting::None, "none", &[]);
    // Defects of the lane that are not copied: it never names the parent and drops the mark of the last turn.
    let ours = ["x-dynamo-parent-session-id", "x-dynamo-session-final"];
    assert_derived(SessionRouting::DynamoHeaders, "dynamo_headers", &ours);
    assert_derived(BIND, "dynamo_nvext_bind", &[]);
    assert_derived(OPEN, "dynamo_nvext_open", &[]);
    assert_derived(SessionRouting::SmgRoutingKey, "smg_routing_key", &[]);
    let header = "X-Session-ID".to_owned();
    assert_derived(SessionRouting::SessionIdHeader { header }, "session_id_header", &[]);
}

#[test]
fn the_parent_and_the_last_turn_are_named_on_the_wire() {
    let plan = plan_of_capture(SessionRouting::DynamoHeaders);
    let sent = sent(&plan);
    let (headers, _) = &sent[&("root-a".to_owned(), "a-sub1:2".to_owned())];
    let root = plan.identity(0).conversation(&plan.graphs()[0], "root-a");
    assert_eq!(headers["x-dynamo-parent-session-id"], root);
    assert_eq!(headers["x-dynamo-session-final"], "true");
}

#[test]
fn fields_stand_in_the_order_of_the_specification() {
    let plan = plan_of_capture(BIND);
    let call = WireCall { instance: 0, node: NodeIndex(0), warmup: None };
    let request = plan.request(&call, &|_| None);
    let body = std::str::from_utf8(&request.body).expect("UTF-8");
    assert!(body.starts_with(r#"{"messages":[{"role":"user","content":""#), "{body}");
    let session = plan.identity(0).conversation(&plan.graphs()[0], "root-a");
    let end = format!(
        r#""}}],"model":"recorded-model","max_completion_tokens":24,"stream":true,"nvext":{{"session_control":{{"session_id":"{session}","action":"bind","timeout":300}}}}}}"#
    );
    assert!(body.ends_with(&end), "{body}");
    assert_eq!(request.path, "/v1/chat/completions");
}

#[test]
fn a_planned_digest_is_that_of_the_bytes_that_are_sent() {
    let plan = plan_of_capture(SessionRouting::DynamoHeaders);
    for instance in 0..plan.first_pass() {
        let trace = plan.trace(instance);
        for node in (0..plan.graphs()[trace].nodes.len()).map(NodeIndex) {
            let request = plan.request(&WireCall { instance, node, warmup: None }, &|_| None);
            assert_eq!(crate::digest::Sha256::of(&request.body), plan.body(trace, node).digest);
        }
    }
}

#[test]
fn one_changed_number_of_a_capture_names_its_request_and_a_seed_changes_all() {
    let text = fixture("graph/capture.jsonl.gz");
    let changed = text.replacen("\"output_tokens\":40", "\"output_tokens\":41", 1);
    assert_ne!(text, changed);
    let digests = |text: &str, seed| {
        let settings = settings(Api::Chat, SessionRouting::None);
        planned(capture(text).0, seed, &settings, None).expect("a plan").digests()
    };
    let (one, other) = (digests(&text, 7), digests(&changed, 7));
    assert_eq!(one, digests(&text, 7));
    assert_ne!(one.digest(), other.digest());
    assert!(
        one.differences(&other).contains(&WireDifference::Changed("root-a/root-a:1".to_owned())),
        "{:?}",
        one.differences(&other)
    );
    let seeded = one.differences(&digests(&text, 8));
    assert!(seeded.contains(&WireDifference::Instances));
    assert!(seeded.len() > one.calls().len(), "every text is another: {seeded:?}");
    assert_eq!(WireDigests::read(&one.canonical()), Some(one));
}

/// Telling case 39, on three traces.
#[test]
fn more_lanes_than_traces_are_refused_unless_clones_are_allowed() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let lanes = |count, sessions, select| {
        let mut settings = settings(Api::Chat, SessionRouting::None);
        settings.lanes = Some(Lanes { count, ramp: Nanos::ZERO });
        settings.stop.sessions = sessions;
        let planned = planned(graphs.clone(), 7, &settings, select);
        planned.map(|plan| plan.lanes()).map_err(|bag| bag.into_sorted()[0].message().to_owned())
    };
    let refused = lanes(100, None, None).expect_err("too many");
    assert!(refused.starts_with("100 lanes exceed 3 distinct traces:"), "{refused}");
    assert_eq!(lanes(1, None, None), Ok(Some(1)));
    assert_eq!(lanes(3, None, None), Ok(Some(3)));
    assert_eq!(lanes(100, Some(3), None), Ok(Some(3)));
    assert!(lanes(100, Some(6), None).is_err());
    assert_eq!(lanes(100, None, Some(Select { wrap: true, ..ALL })), Ok(Some(3)));
    let marked = Select { cache_bust: CacheBust::FirstTurn, ..ALL };
    assert_eq!(lanes(100, Some(6), Some(marked)), Ok(Some(6)));
}

#[test]
fn a_marker_stands_before_the_first_text_of_the_users_and_differs_by_instance() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let mut settings = settings(Api::Chat, SessionRouting::None);
    settings.stop.sessions = Some(4);
    let marked = Select { cache_bust: CacheBust::FirstTurn, ..ALL };
    let plan = planned(graphs, 7, &settings, Some(marked)).expect("a plan");
    let text = |instance| {
        let call = WireCall { instance, node: NodeIndex(1), warmup: None };
        let body: Json =
            serde_json::from_slice(&plan.request(&call, &|_| None).body).expect("JSON");
        body["messages"][0]["content"].as_str().expect("a text").to_owned()
    };
    let (first, again) = (text(0), text(3));
    assert!(first.starts_with("[rid:") && first[17..].starts_with("]\n\n"), "{first}");
    assert_ne!(first[..17], again[..17]);
    assert_eq!(first[17..], again[17..]);
}

#[test]
fn answers_of_ancestors_fill_their_slots_and_failed_ones_are_left_out() {
    let graphs = read_dag("dag.jsonl", &fixture("graph/dag.jsonl.gz")).expect("sessions");
    let mut settings = settings(Api::Chat, SessionRouting::None);
    settings.endpoint.request.model = Some("m".to_owned());
    let plan = planned(graphs, 7, &settings, None).expect("a plan");
    let graph = &plan.graphs()[0];
    let at =
        |id: &str| NodeIndex(graph.nodes.iter().position(|node| node.id == id).expect("a node"));
    let (first, second) = (at("root:0"), at("root:1"));
    assert!(plan.body(0, second).answers().contains(&first));
    let reply = Reply { text: "Planned \"it\".".to_owned(), ..Reply::default() };
    let call = WireCall { instance: 0, node: second, warmup: None };
    let body = |answered: bool| {
        let reply = |of: NodeIndex| (answered && of == first).then_some(&reply);
        String::from_utf8(plan.request(&call, &reply).body.to_vec()).expect("UTF-8")
    };
    let said = r#"{"messages":[{"role": "system", "content": "You are careful."},{"role": "user", "content": "Plan."},"#;
    let rest = r#"{"role": "user", "content": "Join."}],"temperature":0.5,"model":"m","max_completion_tokens":6,"stream":true}"#;
    let answer = r#"{"role":"assistant","content":"Planned \"it\"."},"#;
    assert_eq!(body(true), format!("{said}{answer}{rest}"));
    assert_eq!(body(false), format!("{said}{rest}"));
}

#[test]
fn completions_and_responses_send_the_same_words() {
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    let words = |api: Api| {
        let settings = settings(api, SessionRouting::None);
        let plan = planned(graphs.clone(), 7, &settings, None).expect("a plan");
        let call = WireCall { instance: 0, node: NodeIndex(1), warmup: None };
        let body: Json =
            serde_json::from_slice(&plan.request(&call, &|_| None).body).expect("JSON");
        let cap = body[api.output_cap().name()].as_u64();
        assert_eq!(cap, Some(40));
        let list = |name: &str| {
            let texts = body[name].as_array().expect("a list").iter();
            texts.map(|one| one["content"].as_str().expect("a text")).collect::<String>()
        };
        match api {
            Api::Chat => list("messages"),
            Api::Responses => list("input"),
            Api::Completions => body["prompt"].as_str().expect("a text").to_owned(),
        }
    };
    assert_eq!(words(Api::Chat), words(Api::Completions));
    assert_eq!(words(Api::Chat), words(Api::Responses));
}

#[test]
fn a_warm_up_asks_for_one_token_under_a_name_of_its_own() {
    let plan = plan_of_capture(SessionRouting::DynamoHeaders);
    let node = NodeIndex(1);
    let of = |warmup| plan.request(&WireCall { instance: 0, node, warmup }, &|_| None);
    let (measured, primer) = (of(None), of(Some("primer")));
    let body: Json = serde_json::from_slice(&primer.body).expect("JSON");
    assert_eq!(body["max_completion_tokens"], 1);
    let differ = measured.headers.iter().zip(&primer.headers).filter(|(one, two)| one != two);
    assert_eq!(differ.map(|(one, _)| one.0.as_str()).collect::<Vec<_>>(), ["x-request-id"]);
}
