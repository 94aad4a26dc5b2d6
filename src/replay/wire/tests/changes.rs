//! One byte that differs is found, and named.

use super::support::{capture, fixture, planned, settings};
use crate::graph::read_dag;
use crate::replay::wire::{WireDifference, WireDigests};
use crate::units::Nanos;
use crate::workload::live::{Api, Lanes, ReplaySettings, SessionRouting};

/// Returns the digests of authored sessions.
fn authored(text: &str) -> WireDigests {
    let mut settings = settings(Api::Chat, SessionRouting::DynamoHeaders);
    settings.endpoint.request.model = Some("m".to_owned());
    let graphs = read_dag("dag.jsonl", text).expect("sessions");
    planned(graphs, 7, &settings, None).expect("a plan").digests()
}

/// Returns the digests of the capture under these settings.
fn recorded(text: &str, settings: &ReplaySettings) -> WireDigests {
    planned(capture(text).0, 7, settings, None).expect("a plan").digests()
}

/// Returns the names of calls that changed; nothing else did.
fn changed(one: &WireDigests, other: &WireDigests) -> Vec<String> {
    assert_ne!(one.digest(), other.digest());
    let name = |found| {
        let WireDifference::Changed(name) = found else { panic!("{found:?}") };
        name
    };
    one.differences(other).into_iter().map(name).collect()
}

#[test]
fn one_byte_of_a_message_names_every_request_that_sends_it() {
    let text = fixture("graph/dag.jsonl.gz");
    let one = authored(&text);
    assert_eq!(one.differences(&authored(&text)), []);
    let of = |from: &str, to: &str| {
        let other = text.replacen(from, to, 1);
        assert_ne!(text, other);
        changed(&one, &authored(&other))
    };
    assert_eq!(of("\"A2\"", "\"A3\""), ["root/kid-a:1"]);
    assert_eq!(of("\"A1\"", "\"A3\""), ["root/kid-a:0", "root/kid-a:1"]);
    assert_eq!(of("0.5", "0.6"), ["root/root:1"], "a field of one turn");
    assert_eq!(of("\"delay\": 50", "\"delay\": 51"), ["root/kid-a:1"], "when it starts");
    assert_eq!(of("\"F2\"", "\"F9\""), ["root/f2:0"]);
    assert_eq!(of("careful.", "careful!").len(), 5, "the root's three turns and both forks");
}

#[test]
fn one_block_or_number_of_a_capture_names_its_request() {
    let text = fixture("graph/capture.jsonl.gz");
    let settings = settings(Api::Chat, SessionRouting::None);
    let one = recorded(&text, &settings);
    // The last hash of the last turn of a session is of that turn alone.
    let line = text.lines().find(|line| line.contains("\"req-c-par2-2\"")).expect("a request");
    let hash =
        line.rsplit_once("]}}").expect("hashes").0.rsplit([',', '[']).next().expect("one").trim();
    assert_eq!(text.matches(hash).count(), 1);
    let other = text.replacen(hash, "77", 1);
    assert_eq!(changed(&one, &recorded(&other, &settings)), ["root-c/c-par2:2"]);
    let other = text.replacen("recorded-model", "another-model", 1);
    assert_eq!(changed(&one, &recorded(&other, &settings)).len(), 1);
}

#[test]
fn what_an_endpoint_asks_for_changes_every_call_and_lanes_the_run() {
    let text = fixture("graph/capture.jsonl.gz");
    let plain = settings(Api::Chat, SessionRouting::None);
    let one = recorded(&text, &plain);
    let mut with = plain.clone();
    with.endpoint.request.extra = vec![("temperature".to_owned(), "0".to_owned())];
    assert_eq!(changed(&one, &recorded(&text, &with)).len(), 28);
    with.endpoint.request.extra[0].1 = "0.0".to_owned();
    assert_eq!(changed(&one, &recorded(&text, &with)).len(), 28);
    let mut with = plain.clone();
    with.endpoint.headers = vec![("x-tenant".to_owned(), "a".to_owned())];
    assert_eq!(changed(&one, &recorded(&text, &with)).len(), 28);
    let mut with = plain.clone();
    with.endpoint.request.ignore_eos = true;
    assert_eq!(changed(&one, &recorded(&text, &with)).len(), 28);
    let mut with = plain.clone();
    with.lanes = Some(Lanes { count: 2, ramp: Nanos::ZERO });
    let lanes = one.differences(&recorded(&text, &with));
    assert_eq!(lanes, [WireDifference::Run, WireDifference::Instances]);
    let routed = settings(Api::Chat, SessionRouting::SmgRoutingKey);
    assert_eq!(changed(&one, &recorded(&text, &routed)).len(), 28);
}

#[test]
fn a_call_that_is_gone_or_new_is_named() {
    let text = fixture("graph/capture.jsonl.gz");
    let settings = settings(Api::Chat, SessionRouting::SmgRoutingKey);
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"req-a-sub2-1\"")).collect();
    let fewer = kept.join("\n");
    let (one, other) = (recorded(&text, &settings), recorded(&fewer, &settings));
    let gone = WireDifference::Gone("root-a/a-sub2:1".to_owned());
    assert!(one.differences(&other).contains(&gone), "{:?}", one.differences(&other));
    let new = WireDifference::New("root-a/a-sub2:1".to_owned());
    assert!(other.differences(&one).contains(&new));
}
