//! Live traffic: defaults, and what does not go together.

use super::replay;
use crate::diag::{Bag, SourceFile};
use crate::scenario::cursor;
use crate::scenario::syntax;
use crate::scenario::table;
use crate::units::Nanos;
use crate::workload::live::{
    Api, MockSettings, NvextContract, OutputCap, ReplaySettings, RequestSettings, SessionRouting,
    Target, TokenCounter, Warmup,
};

/// Decodes a replay with this endpoint and whatever else; returns it with what was found.
fn decoded(endpoint: &str, more: &str) -> (Option<ReplaySettings>, Vec<String>) {
    let text = format!(
        "scenario \"x\" {{\n pins\n replay \"wire\" {{\n workload \"w\"\n endpoint {endpoint}\n {more}\n }}\n}}"
    );
    let document = syntax::parse(&SourceFile::new("t.kdl", &text)).expect("KDL");
    let mut bag = Bag::new();
    let view = cursor::check(&document, &table::ROOT, &mut bag);
    let node = view.child("scenario").and_then(|scenario| scenario.child("replay"));
    let found = replay(node.expect("a replay"), &mut bag).map(|replay| replay.settings);
    let problems = bag.into_sorted();
    let said = |problem: &crate::diag::Problem| {
        format!("{}: {}", problem.code().as_str(), problem.message())
    };
    (found, problems.iter().map(said).collect())
}

/// Returns what is found in a replay that must be refused.
fn refused(endpoint: &str, more: &str) -> String {
    let (_, problems) = decoded(endpoint, more);
    assert_eq!(problems.len(), 1, "{endpoint} {more}: {problems:?}");
    problems.into_iter().next().expect("one")
}

#[test]
fn a_bare_replay_has_the_documented_defaults() {
    let (found, problems) = decoded("\"http://host:8000/v1/\"", "");
    assert_eq!(problems, [""; 0]);
    let found = found.expect("settings");
    assert_eq!(found.endpoint.target, Target::Url("http://host:8000/v1".to_owned()));
    assert_eq!(found.endpoint.request, RequestSettings::of(Api::Chat));
    assert_eq!(found.endpoint.timeouts.connect, Some(Nanos::new(10_000_000_000)));
    assert_eq!(found.endpoint.timeouts.total, None);
    assert_eq!((found.lanes, found.snapshot), (None, None));
    assert!(!found.stop.recycles());
    assert_eq!(found.stop.grace, Nanos::new(30_000_000_000));
    assert_eq!(found.routing, SessionRouting::None);
    assert_eq!((found.warmup, found.tokens), (Warmup::None, TokenCounter::Builtin));
}

#[test]
fn a_timeout_node_that_states_one_limit_keeps_the_other_defaults() {
    let bare = decoded("\"mock\"", "").0.expect("settings").endpoint.timeouts;
    let stated = decoded("\"mock\"", "timeout").0.expect("settings").endpoint.timeouts;
    assert_eq!(bare, stated);
    let total = decoded("\"mock\"", "timeout total=\"1m\"").0.expect("settings");
    assert_eq!(total.endpoint.timeouts.total, Some(Nanos::new(60_000_000_000)));
    assert_eq!(total.endpoint.timeouts.idle, bare.idle);
}

#[test]
fn every_setting_arrives_where_it_belongs() {
    let endpoint = "\"mock\" api=\"responses\" model=\"m\" streaming=#false usage=#true ignore-eos=#true min-tokens=#true {\n header \"X-A\" \"b c\"\n extra \"temperature\" \" 0.5 \"\n mock first-token=\"250ms\" gap=\"10ms\"\n }";
    let more = "lanes 8 ramp=\"2s\"\n snapshot from=0.25 to=0.75 burst=#true\n duration \"30s\"\n requests 5\n sessions 2\n grace \"1s\"\n session-routing \"dynamo-nvext\" contract=\"open\" timeout=\"60s\"\n warmup \"pressure\" duration=\"10s\"\n tokenizer \"server\"\n sla e2e-ms=9";
    let (found, problems) = decoded(endpoint, more);
    assert_eq!(problems, [""; 0]);
    let found = found.expect("settings");
    let script = MockSettings {
        deployment: None,
        first_token: Nanos::new(250_000_000),
        gap: Nanos::new(10_000_000),
    };
    assert_eq!(found.endpoint.target, Target::Mock(script));
    assert_eq!(found.endpoint.headers, [("X-A".to_owned(), "b c".to_owned())]);
    let request = &found.endpoint.request;
    assert_eq!(request.output_cap, OutputCap::MaxOutputTokens);
    assert_eq!(request.extra, [("temperature".to_owned(), "0.5".to_owned())]);
    assert_eq!((request.streaming, request.usage), (Some(false), true));
    let timeout = Nanos::new(60_000_000_000);
    let contract = NvextContract::Open;
    assert_eq!(found.routing, SessionRouting::DynamoNvext { contract, timeout });
    assert_eq!(found.warmup, Warmup::Pressure { duration: Nanos::new(10_000_000_000) });
    let described = String::from_utf8(found.canonical().to_bytes()).expect("UTF-8");
    assert!(described.contains("\"lanes\":{\"count\":8,\"ramp_ns\":2000000000}"), "{described}");
    assert!(
        described.contains("\"headers\":[{\"name\":\"X-A\",\"value\":\"b c\"}]"),
        "{described}"
    );
}

#[test]
fn what_is_no_endpoint_is_refused() {
    for endpoint in [
        "host:8000",
        "http://",
        "http://a b",
        "ftp://x",
        "unix:sock",
        "http://u@h",
        "http://h:99999",
        "http://h/p?q",
        "http://[::x]",
    ] {
        let found = refused(&format!("{endpoint:?}"), "");
        assert!(found.starts_with("replay::endpoint: "), "{endpoint}: {found}");
    }
    for endpoint in ["http://h", "https://localhost:65535/a/b", "http://[::1]:80", "unix:/run/x"] {
        assert_eq!(decoded(&format!("{endpoint:?}"), "").1, [""; 0], "{endpoint}");
    }
}

/// Asserts that each endpoint with whatever else is refused for one reason, which begins as stated.
fn assert_refused(cases: &[(&str, &str, &str)]) {
    for (endpoint, more, expected) in cases {
        let found = refused(endpoint, more);
        assert!(found.starts_with(expected), "{endpoint} {more}: {found}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_at_its_place() {
    assert_refused(&[
        ("\"http://h\" { mock; }", "", "scenario::conflict: `mock` says"),
        ("\"http://h\" ca=\"x.pem\"", "", "scenario::conflict: `ca` needs"),
        (
            "\"https://h\" client-cert=\"x.pem\"",
            "",
            "scenario::conflict: `client-cert` needs `client-key`",
        ),
        (
            "\"https://h\" client-key=\"x.pem\"",
            "",
            "scenario::conflict: `client-key` needs `client-cert`",
        ),
        ("\"mock\" proxy=\"http://p:1\"", "", "scenario::conflict: `proxy` needs"),
        ("\"http://h\" proxy=\"socks5://p:1\"", "", "replay::endpoint: `socks5://p:1` is no proxy"),
        ("\"http://h\" api-key-env=\"sk-123\"", "", "replay::endpoint: `api-key-env` is the name"),
    ]);
}

#[test]
fn headers_and_fields_that_are_not_the_scenarios_to_state_are_refused() {
    assert_refused(&[
        ("\"http://h\" { header \"Authorization\" \"x\"; }", "", "replay::header: a key never"),
        ("\"http://h\" { header \"X-Api-Key\" \"x\"; }", "", "replay::header: a key never"),
        ("\"http://h\" { header \"cookie\" \"x\"; }", "", "replay::header: a key never"),
        ("\"http://h\" { header \"Host\" \"x\"; }", "", "replay::header: `Host` is written"),
        ("\"http://h\" { header \"a b\" \"x\"; }", "", "replay::header: `a b` is no name"),
        ("\"http://h\" { header \"a\" \" x\"; }", "", "replay::header: a header's value"),
        (
            "\"http://h\" { header \"a\" \"x\"; header \"A\" \"x\"; }",
            "",
            "kdl::duplicate_name: the header",
        ),
        (
            "\"http://h\" { header \"x-smg-routing-key\" \"x\"; }",
            "session-routing \"smg-routing-key\"",
            "scenario::conflict: `session-routing",
        ),
        ("\"http://h\" { extra \"a\" \"{\"; }", "", "replay::extra: `{` is no JSON"),
        (
            "\"http://h\" { extra \"stream\" \"true\"; }",
            "",
            "scenario::conflict: `extra` cannot state `stream`",
        ),
        (
            "\"http://h\" { extra \"nvext\" \"1\"; }",
            "session-routing \"dynamo-nvext\"",
            "scenario::conflict: `nvext` is no object",
        ),
    ]);
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    assert_refused(&[
        (
            "\"http://h\" api=\"responses\" output-cap=\"max_tokens\"",
            "",
            "scenario::conflict: the API `responses`",
        ),
        ("\"http://h\"", "warmup \"prime\"", "scenario::conflict: `warmup \"prime\"` needs"),
        ("\"http://h\"", "snapshot from=0.6 to=0.5", "scenario::conflict: `from` is at most"),
        ("\"http://h\"", "tokenizer \"server\"", "scenario::conflict: `tokenizer \"server\"`"),
        ("\"http://h\"", "duration \"0s\"", "kdl::out_of_range: `DURATION` is above 0"),
        (
            "\"http://h\"",
            "session-routing \"dynamo-nvext\" timeout=\"1500ms\"",
            "kdl::not_whole: `timeout`",
        ),
        (
            "\"http://h\"",
            "session-routing \"session-id-header\" header=\"\"",
            "replay::header: `` is no name",
        ),
    ]);
    assert_eq!(
        decoded("\"http://h\" { extra \"nvext\" \"{}\"; }", "session-routing \"dynamo-nvext\"").1,
        [""; 0]
    );
}
