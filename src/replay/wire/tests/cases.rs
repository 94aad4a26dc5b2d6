//! Cases of spec/REPLAY.md §10 about requests, by their numbers; docs/graph.md lists where each is tested.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::support::{capture, fixture, planned, settings};
use crate::graph::{NodeIndex, read_dag, read_native};
use crate::replay::wire::{WireCall, WirePlan};
use crate::workload::live::{Api, SessionRouting};

/// Returns the body of each call of the first trace, without answers.
fn bodies(plan: &WirePlan) -> Vec<Json> {
    (0..plan.graphs()[0].nodes.len())
        .map(|at| {
            let call = WireCall { instance: 0, node: NodeIndex(at), warmup: None };
            serde_json::from_slice(&plan.request(&call, &|_| None).body).expect("JSON")
        })
        .collect()
}

/// Fields of a run come first, and those of a turn win.
#[test]
fn case_42_what_a_turn_states_wins_over_what_the_run_states() {
    let text = r#"{"session_id":"r","turns":[{"messages":[{"role":"user","content":"x"}],"extra":{"temperature":0.5}},{"messages":[{"role":"user","content":"y"}]}]}"#;
    let graphs = read_dag("dag.jsonl", text).expect("a session");
    let mut settings = settings(Api::Chat, SessionRouting::None);
    settings.endpoint.request.model = Some("m".to_owned());
    let extra = [("temperature", "0.9"), ("min_p", "0.05")];
    settings.endpoint.request.extra =
        extra.map(|(name, json)| (name.to_owned(), json.to_owned())).to_vec();
    let plan = planned(graphs, 7, &settings, None).expect("a plan");
    let found = bodies(&plan);
    let of = |body: &Json| (body["temperature"].as_f64(), body["min_p"].as_f64());
    assert_eq!(
        found.iter().map(of).collect::<Vec<_>>(),
        [(Some(0.5), Some(0.05)), (Some(0.9), Some(0.05))]
    );
}

#[test]
fn case_45_the_recorded_model_is_asked_unless_the_run_states_another() {
    let models = |model: Option<&str>, extra: Option<&str>| {
        let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
        let mut settings = settings(Api::Chat, SessionRouting::None);
        settings.endpoint.request.model = model.map(str::to_owned);
        settings.endpoint.request.extra =
            extra.iter().map(|json| ("model".to_owned(), (*json).to_owned())).collect();
        let plan = planned(graphs, 7, &settings, None).expect("a plan");
        let mut models: Vec<String> =
            bodies(&plan).iter().map(|body| body["model"].to_string()).collect();
        models.dedup();
        models
    };
    assert_eq!(models(None, None), ["\"recorded-model\""]);
    assert_eq!(models(None, Some("\"x\"")), ["\"x\""]);
    assert_eq!(models(Some("y"), None), ["\"y\""]);
}

#[test]
fn headers_of_a_call_are_sent_and_those_of_the_run_win() {
    let text = "graph:
  version: '2.0'
  nodes:
    a: {model: m, prompt: [{role: user, content: x}], extra_headers: {X-One: call, X-Two: call}}
traces: [{id: t}]
";
    let (graphs, _) = read_native("g.yaml", text).expect("a graph");
    let mut settings = settings(Api::Chat, SessionRouting::None);
    settings.endpoint.headers = vec![("X-Two".to_owned(), "run".to_owned())];
    let plan = planned(graphs, 7, &settings, None).expect("a plan");
    let call = WireCall { instance: 0, node: NodeIndex(0), warmup: None };
    let headers = plan.request(&call, &|_| None).headers;
    let of = |name: &str| {
        let found: Vec<&str> = headers
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .collect();
        found.join(",")
    };
    assert_eq!((of("x-one"), of("x-two")), ("call".to_owned(), "run".to_owned()));
}

#[test]
fn headers_that_name_a_session_are_a_modes_or_the_instances_own() {
    let text = "graph:
  version: '2.0'
  nodes:
    a:
      model: m
      prompt: [{role: user, content: x}]
      extra_body: {max_tokens: 9}
      extra_headers: {X-Session-ID: s, X-Mine: s, X-Dynamo-Session-Final: 'true', X-Correlation-ID: c}
traces: [{id: t}]
";
    let headers = |routing: SessionRouting| {
        let (graphs, _) = read_native("g.yaml", text).expect("a graph");
        let plan = planned(graphs, 7, &settings(Api::Chat, routing), None).expect("a plan");
        let call = WireCall { instance: 0, node: NodeIndex(0), warmup: None };
        let nonce = plan.identity(0).nonce().to_owned();
        let headers: BTreeMap<String, String> =
            plan.request(&call, &|_| None).headers.into_iter().collect();
        let of = |name: &str| headers.get(name).map(|value| value.replace(&nonce, "<own>"));
        ["x-session-id", "x-mine", "x-dynamo-session-final", "x-correlation-id"].map(of)
    };
    let some = |value: &str| Some(value.to_owned());
    assert_eq!(
        headers(SessionRouting::None),
        [some("s::<own>"), some("s"), some("true"), some("c::<own>")]
    );
    assert_eq!(headers(SessionRouting::SmgRoutingKey), [None, some("s"), None, some("t::<own>")]);
    let own = SessionRouting::SessionIdHeader { header: "X-Mine".to_owned() };
    assert_eq!(headers(own), [None, some("t::<own>"), None, some("t::<own>")]);
    let (graphs, _) = read_native("g.yaml", text).expect("a graph");
    let plan = planned(graphs, 7, &settings(Api::Chat, SessionRouting::None), None);
    let call = WireCall { instance: 0, node: NodeIndex(0), warmup: Some("warmup") };
    let body = plan.expect("a plan").request(&call, &|_| None).body;
    let body: Json = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(
        (&body["max_tokens"], &body["max_completion_tokens"]),
        (&Json::from(1), &Json::from(1))
    );
}
