//! Hand-made transcripts and records: what is inserted, lost, moved or changed is found as that, and nothing else is.

use super::align::align;
use super::difference::{Change, Difference};
use super::event::{Identity, Step};
use super::pair::{Pairing, Who};
use super::phrase::event;
use super::records::{differing, tell_the_same};
use super::{Level, Sides, Transcript, words};

/// Returns the lines of a transcript.
fn text(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn admit(request: u64, at: u64, reused: u64) -> String {
    format!(
        r#"{{"at_ns":{at},"computes":8,"event":"admit","rank":0,"request":{request},"reused":{reused}}}"#
    )
}

fn pass(from: u64, to: u64, new: u64) -> String {
    format!(
        r#"{{"decode_context":0,"decode_requests":0,"event":"pass","from_ns":{from},"prefill_new":{new},"prefill_prefix":0,"prefill_requests":1,"rank":0,"rejected":0,"to_ns":{to}}}"#
    )
}

fn decode(from: u64, to: u64, passes: u64, requests: u64) -> String {
    format!(
        r#"{{"event":"decode","from_ns":{from},"passes":{passes},"rank":0,"requests":{requests},"to_ns":{to}}}"#
    )
}

fn end(request: u64, at: u64) -> String {
    format!(
        r#"{{"at_ns":{at},"blocks_held":0,"event":"completed","output":3,"rank":0,"request":{request}}}"#
    )
}

/// Two requests, one after the other.
fn two() -> Vec<String> {
    vec![
        admit(0, 0, 0),
        pass(0, 10, 8),
        decode(10, 30, 2, 1),
        end(0, 30),
        admit(1, 40, 0),
        pass(40, 50, 8),
        decode(50, 70, 2, 1),
        end(1, 70),
    ]
}

fn aligned(left: &[String], right: &[String]) -> Vec<Difference> {
    let (left, right) = (text(left), text(right));
    let known = text(&[record(0, "a", 0), record(1, "b", 0)]);
    let pairing = Pairing::of(&known, &known).expect("records");
    align(Some((&left, &right)), &[], &pairing).expect("transcripts")
}

/// Returns the first difference: what it is about, when, and how.
fn first(left: &[String], right: &[String]) -> (String, u64, Change) {
    let found = aligned(left, right).into_iter().next().expect("they differ");
    (event(found.identity), found.at.get(), found.change)
}

#[test]
fn equal_transcripts_differ_in_nothing() {
    assert_eq!(aligned(&two(), &two()), []);
    assert_eq!(aligned(&[], &[]), []);
}

#[test]
fn a_changed_field_is_named_with_both_values() {
    let mut right = two();
    right[4] = admit(1, 40, 4);
    let found = aligned(&two(), &right);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(only.identity, Identity::Step { who: Who::Left(1), step: Step::Admit, nth: 0 });
    let reused = only.field("reused").expect("it changed");
    assert_eq!((reused.left.as_str(), reused.right.as_str()), ("0", "4"));
}

#[test]
fn an_event_that_one_side_alone_has_moves_no_other_out_of_line() {
    let mut right = two();
    let preempted = r#"{"at_ns":40,"event":"preempt","rank":0,"request":1}"#.to_owned();
    right.insert(4, preempted);
    for (left, right, change) in
        [(two(), right.clone(), Change::OnlyRight), (right, two(), Change::OnlyLeft)]
    {
        let found = aligned(&left, &right);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(first(&left, &right), ("preemption of request 1".to_owned(), 40, change));
    }
}

#[test]
fn the_same_events_in_another_order_are_found_as_that() {
    let left = [admit(0, 0, 0), admit(1, 0, 0), pass(0, 10, 16)];
    let right = [admit(1, 0, 0), admit(0, 0, 0), pass(0, 10, 16)];
    assert_eq!(first(&left, &right), ("admission of request 0".to_owned(), 0, Change::Order));
}

#[test]
fn decodes_that_are_cut_into_other_lines_are_the_same_decodes() {
    let cut = [decode(10, 20, 1, 1), decode(20, 30, 1, 1)];
    let right = [&two()[..2], &cut[..], &two()[3..]].concat();
    let found = aligned(&two(), &right);
    assert!(found.iter().all(|difference| difference.change == Change::Order), "{found:?}");
}

#[test]
fn a_longer_decode_is_seen_where_the_shorter_one_ends() {
    let mut right = two();
    right[2] = decode(10, 35, 2, 1);
    let (name, at, change) = first(&two(), &right);
    assert_eq!((name.as_str(), at), ("pass 1 of rank 0", 30));
    let Change::Fields(changes) = change else { panic!("{change:?}") };
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].name, "to_ns");
}

#[test]
fn a_batch_that_grows_within_decodes_is_seen_where_it_grows() {
    let left = [admit(0, 0, 0), pass(0, 10, 8), decode(10, 50, 4, 1)];
    let right = [
        admit(0, 0, 0),
        pass(0, 10, 8),
        decode(10, 30, 2, 1),
        admit(1, 30, 0),
        pass(30, 40, 8),
        decode(40, 50, 1, 2),
    ];
    let found = aligned(&left, &right);
    let seen: Vec<(String, u64)> =
        found.iter().map(|one| (event(one.identity), one.at.get())).collect();
    let expected = [("admission of request 1", 30), ("pass 3 of rank 0", 30)];
    assert_eq!(seen, expected.map(|(name, at)| (name.to_owned(), at)));
}

#[test]
fn the_earlier_of_two_differences_comes_first_whatever_their_lines() {
    let mut right = two();
    right[1] = pass(0, 11, 8);
    right[7] = end(1, 5);
    let (name, at, _) = first(&two(), &right);
    assert_eq!((name.as_str(), at), ("end of request 1", 5));
    right[7] = end(1, 70);
    assert_eq!(first(&two(), &right).0, "pass 0 of rank 0");
}

#[test]
fn a_line_that_is_no_event_is_named() {
    let right = [two(), vec!["{\"event\":\"pass\",\"rank\":0}".to_owned()]].concat();
    let (left, right) = (text(&two()), text(&right));
    let error = align(Some((&left, &right)), &[], &Pairing::default()).expect_err("no time");
    assert_eq!(error, "events.jsonl, line 9: it has no time");
}

fn record(index: u64, session: &str, end: u64) -> String {
    format!(
        r#"{{"admissions":[{{"at_ns":0,"reused_tokens":0}}],"arrival_ns":0,"end_ns":{end},"first_token_ns":5,"index":{index},"outcome":"completed","session":"{session}","turn":0}}"#
    )
}

#[test]
fn requests_are_paired_by_session_and_turn_and_not_by_number() {
    let left = text(&[record(0, "a", 10), record(1, "b", 10), record(2, "c", 10)]);
    let right = text(&[record(0, "b", 10), record(1, "c", 12)]);
    let pairing = Pairing::of(&left, &right).expect("records");
    assert_eq!(pairing.of_right(0), Who::Left(1));
    let (pairs, counts) = differing(&left, &right, &pairing).expect("records");
    assert_eq!(counts, (3, 2));
    let found = align(None, &pairs, &pairing).expect("records");
    let seen: Vec<(Who, &Change)> = found
        .iter()
        .filter_map(|one| match one.identity {
            Identity::Step { who, step: Step::Arrive | Step::End, .. } => Some((who, &one.change)),
            Identity::Step { .. } | Identity::Pass { .. } => None,
        })
        .collect();
    assert_eq!(seen[0], (Who::Left(0), &Change::OnlyLeft), "request a is gone");
    assert!(seen.iter().all(|(who, _)| *who != Who::Left(1)), "request b only has another number");
    assert_eq!(pairs.iter().map(|pair| pair.who).collect::<Vec<_>>(), [Who::Left(0), Who::Left(2)]);
    let of_c = found.last().expect("request c ended later");
    assert_eq!((event(of_c.identity).as_str(), of_c.at.get()), ("end of request 2", 10));
}

#[test]
fn a_transfer_that_ends_later_is_seen_when_the_earlier_ends_and_before_what_follows_from_it() {
    let record = |ended: u64, first: u64| {
        format!(
            r#"{{"admissions":[],"arrival_ns":0,"first_token_ns":{first},"handoff":{{"activated_ns":{ended},"charged_tokens":8,"prefill_rank":1,"transfer_began_ns":2,"transfer_ended_ns":{ended}}},"index":0,"rank":0,"session":"a","turn":0}}"#
        )
    };
    let (left, right) = (text(&[record(8, 9)]), text(&[record(14, 15)]));
    let pairing = Pairing::of(&left, &right).expect("records");
    let (pairs, _) = differing(&left, &right, &pairing).expect("records");
    let found = align(None, &pairs, &pairing).expect("records");
    let seen: Vec<(String, u64)> =
        found.iter().map(|one| (event(one.identity), one.at.get())).collect();
    let expected = [
        ("transfer of request 0", 8),
        ("activation of request 0", 8),
        ("first token of request 0", 9),
    ];
    assert_eq!(seen, expected.map(|(name, at)| (name.to_owned(), at)));
    assert!(found[0].ends_otherwise());
}

#[test]
fn a_side_without_events_is_named_with_whether_its_engine_or_its_folder_has_none() {
    let sides = Sides { left: "golden".to_owned(), right: "run".to_owned() };
    let level = |left, right| words::level(Level::Requests { left, right }, &sides);
    let text = level(Transcript::NotKept, Transcript::There);
    assert!(text.contains("request: no events are kept of golden; "), "{text}");
    assert!(text.contains("bench run FILE --events"), "{text}");
    let text = level(Transcript::There, Transcript::NotExposed);
    assert!(text.ends_with("request: the engine of run exposes no passes"), "{text}");
    let text = level(Transcript::NotExposed, Transcript::NotKept);
    assert!(text.contains("of golden exposes no passes; no events are kept of run; "), "{text}");
}

#[test]
fn a_refusal_that_one_engine_gives_no_reason_of_is_no_difference_and_another_reason_is() {
    let refused = |reason: &str| {
        let record = record(0, "a", 10).replace("completed", "rejected");
        text(&[record.replacen('{', &format!("{{{reason}"), 1)])
    };
    let told = refused(r#""refusal":{"limit":4,"needed":5,"role":"aggregated","rule":"blocks"},"#);
    let other = refused(r#""refusal":{"limit":3,"needed":5,"role":"aggregated","rule":"blocks"},"#);
    let silent = refused("");
    let served = text(&[record(0, "a", 10)]);
    for (right, are_same) in [(&silent, true), (&told, true), (&other, false), (&served, false)] {
        let pairing = Pairing::of(&told, right).expect("records");
        let (pairs, _) = differing(&told, right, &pairing).expect("records");
        assert_eq!(pairs.is_empty(), are_same);
        assert_eq!(tell_the_same(&told, right), are_same);
        assert_eq!(tell_the_same(right, &told), are_same);
    }
}
