//! One byte that differs is found, and named.

use std::collections::BTreeSet;

use super::support::{capture, fixture, planned, settings};
use crate::digest::Sha256;
use crate::graph::{NodeIndex, read_dag};
use crate::replay::wire::{WireCall, WireDifference, WireDigests, WirePlan};
use crate::units::Nanos;
use crate::workload::live::{
    Api, Burst, Lanes, NvextContract, ReplaySettings, SessionRouting, Snapshot, Warmup,
};

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

/// Returns a plan of the capture whose lanes begin in the middle, with this warm-up.
fn windowed(warmup: Warmup, routing: SessionRouting) -> WirePlan {
    let mut settings = settings(Api::Chat, routing);
    settings.lanes = Some(Lanes { count: 3, ramp: Nanos::ZERO });
    settings.snapshot = Some(Snapshot { from: 0.4, to: 0.6, burst: Burst::Spread });
    settings.warmup = warmup;
    let (graphs, _) = capture(&fixture("graph/capture.jsonl.gz"));
    planned(graphs, 7, &settings, None).expect("a plan")
}

const OPEN: SessionRouting =
    SessionRouting::DynamoNvext { contract: NvextContract::Open, timeout: Nanos::new(1) };
const PRESSURE: Warmup = Warmup::Pressure { duration: Nanos::new(1_000_000_000) };

#[test]
fn every_request_that_a_windowed_run_sends_is_in_a_digest() {
    for warmup in [Warmup::None, Warmup::Prime, PRESSURE] {
        let plan = windowed(warmup, OPEN);
        let mut planned: BTreeSet<Sha256> =
            plan.variants().iter().map(|variant| variant.body.digest).collect();
        for trace in 0..plan.graphs().len() {
            planned.extend(plan.nodes(trace).map(|node| plan.body(trace, node).digest));
        }
        let digests = plan.digests();
        assert_eq!(digests.calls().len(), 28 + plan.variants().len());
        let mut primers = 0;
        for (lane, window) in plan.windows().iter().enumerate() {
            let instance = u64::try_from(lane).expect("64 bits");
            let (trace, nonce) = (plan.trace(instance), plan.identity(instance));
            let graph = &plan.graphs()[trace];
            let is_sent = |node: NodeIndex, word: Option<&str>| {
                let request = plan.request(&WireCall { instance, node, warmup: word }, &|_| None);
                let body = String::from_utf8(request.body.to_vec()).expect("UTF-8");
                let body = body.replace(nonce.nonce(), "<instance>");
                let found = planned.contains(&Sha256::of(body.as_bytes()));
                assert!(found, "{:?} {word:?}: {body}", plan.name(trace, node));
            };
            for node in window.primers_of(graph).into_iter().filter(|_| warmup != Warmup::None) {
                is_sent(node, Some("primer"));
                primers += 1;
            }
            for node in plan.nodes(trace).filter(|node| graph.node(*node).arrival >= window.cut) {
                is_sent(node, None);
                if warmup == PRESSURE {
                    is_sent(node, Some("warmup"));
                }
            }
        }
        assert_eq!(primers > 0, warmup != Warmup::None);
    }
}

#[test]
fn primers_pressure_and_openings_are_named_in_the_digests() {
    let named = |warmup| {
        let plan = windowed(warmup, OPEN);
        let names: Vec<String> =
            plan.variants().iter().map(|variant| plan.variant_name(variant)).collect();
        let digests: Vec<String> =
            plan.digests().calls().iter().map(|(name, _)| name.clone()).collect();
        assert!(names.iter().all(|name| digests.contains(name)), "{names:?} {digests:?}");
        names
    };
    let opened = named(Warmup::None);
    assert!(
        !opened.is_empty() && opened.iter().all(|name| name.ends_with(" (first)")),
        "{opened:?}"
    );
    let primed = named(Warmup::Prime);
    assert!(primed.iter().any(|name| name.contains(" (primer")), "{primed:?}");
    let pressed = named(PRESSURE);
    let warm = pressed.iter().filter(|name| name.ends_with(" (warmup)")).count();
    assert_eq!(warm, 28, "{pressed:?}");
    let plan = windowed(Warmup::Prime, OPEN);
    let lanes: BTreeSet<usize> =
        plan.variants().iter().flat_map(|variant| variant.lanes.clone()).collect();
    assert!(lanes.iter().all(|lane| *lane < 3) && !lanes.is_empty());
}

#[test]
fn what_only_a_warm_up_sends_is_found_where_it_changes() {
    let text = fixture("graph/capture.jsonl.gz");
    let plain = settings(Api::Chat, SessionRouting::None);
    assert!(planned(capture(&text).0, 7, &plain, None).expect("a plan").variants().is_empty());
    let mut pressed = plain.clone();
    pressed.warmup = PRESSURE;
    let (one, other) = (recorded(&text, &plain), recorded(&text, &pressed));
    let differences = one.differences(&other);
    assert_eq!(differences.len(), 28, "{differences:?}");
    assert!(differences.contains(&WireDifference::New("root-a/root-a:0 (warmup)".to_owned())));
}
