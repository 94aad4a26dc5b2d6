//! Each law holds for a good run and is broken by the smallest change that it is there to see.

use super::*;
use crate::measure::sample::{run, time};
use crate::record::{Handoff, LinkUse};
use crate::units::Blocks;
use crate::workload::SessionName;

fn broken_by(change: impl FnOnce(&mut RunRecord)) -> Vec<&'static str> {
    let mut record = run(3);
    change(&mut record);
    let violations = Invariant::violations(&record, &Limits::default());
    violations.iter().map(|violation| violation.invariant.id()).collect()
}

#[test]
fn a_good_run_breaks_no_law() {
    assert!(broken_by(|_| ()).is_empty());
    assert!(Invariant::violations(&run(0), &Limits::default()).is_empty());
}

#[test]
fn numbers_are_in_order_unique_and_documented() {
    for (position, law) in Invariant::ALL.iter().enumerate() {
        assert_eq!(law.id(), format!("INV-{}", position + 1));
        let page = include_str!("../../../docs/metrics.md");
        assert!(page.contains(&format!("| {} |", law.id())), "{}", law.id());
    }
}

/// A change to a run.
type Change = fn(&mut RunRecord);

#[test]
fn each_law_sees_the_change_it_is_there_for() {
    let cases: [(&str, Change); 18] = [
        ("INV-1", |run| run.requests[1].outcome = None),
        ("INV-2", |run| run.requests.in_memory().swap(0, 1)),
        ("INV-3", |run| run.requests[1].admissions[0].at = time(0.0)),
        ("INV-4", |run| run.requests[1].admissions[0].reused = Tokens::new(101)),
        ("INV-5", |run| run.requests[1].requested_output = Tokens::new(2)),
        ("INV-6", |run| run.requests[1].requested_output = Tokens::new(4)),
        ("INV-7", |run| run.requests[1].second_token = None),
        ("INV-8", |run| run.gaps.add(Nanos::ZERO.into(), 1)),
        ("INV-9", |run| run.requests[1].first_token = Some(time(15.000_001))),
        ("INV-10", |run| run.pools[0].blocks_held_at_end = Blocks::new(1)),
        ("INV-11", |run| run.pools[0].blocks_held_peak = Blocks::new(101)),
        ("INV-12", |run| run.duration = time(29.000_001)),
        ("INV-13", |run| run.committed_prefill = Tokens::new(36 * 3 - 1)),
        ("INV-14", |run| run.pools[0].preemptions = 1),
        ("INV-15", |run| run.requests[1].outcome = Some(Outcome::Rejected)),
        ("INV-16", |run| run.pools[0].blocks_free_at_end = Blocks::new(97)),
        ("INV-17", |run| run.requests[1].handoff = Some(Box::default())),
        ("INV-18", |run| {
            for request in run.requests.in_memory() {
                let (sending_ms, receiving_ms) = (1.0, 0.0);
                request.handoff = Some(Box::new(Handoff {
                    prefill_rank: Some(0),
                    link: Some(LinkUse { sending_ms, receiving_ms }),
                    transfer_began: Some(time(1.0)),
                    transfer_ended: Some(time(3.5)),
                    ..Handoff::default()
                }));
            }
        }),
    ];
    for (law, change) in cases {
        assert!(broken_by(change).contains(&law), "{law} did not see its change");
    }
}

/// Returns the laws that a run of so many requests breaks when so many were asked for.
fn broken_among(offered: Offered, change: impl FnOnce(&mut RunRecord)) -> Vec<&'static str> {
    let mut record = run(3);
    change(&mut record);
    let limits = Limits { offered: Some(offered), ..Limits::default() };
    let violations = Invariant::violations(&record, &limits);
    violations.iter().map(|violation| violation.invariant.id()).collect()
}

/// Takes the last request out, with all that it left.
fn lose_the_last(run: &mut RunRecord) {
    *run = crate::measure::sample::run(2);
}

#[test]
fn a_request_that_is_lost_without_a_trace_breaks_the_law_of_their_number() {
    assert!(broken_among(Offered::All(3), |_| ()).is_empty());
    assert_eq!(broken_among(Offered::All(3), lose_the_last), ["INV-1"]);
    assert_eq!(broken_among(Offered::All(2), |_| ()), ["INV-1"], "one too many");
    assert!(broken_among(Offered::AtMost(3), lose_the_last).is_empty(), "the run may be cut");
    assert_eq!(broken_among(Offered::AtMost(2), |_| ()), ["INV-1"]);
}

#[test]
fn a_request_without_an_end_breaks_a_law_unless_the_run_may_be_cut() {
    let cut = |run: &mut RunRecord| {
        let request = &mut run.requests.in_memory()[2];
        (request.outcome, request.terminal) = (None, None);
    };
    assert!(broken_among(Offered::All(3), cut).contains(&"INV-1"));
    assert!(!broken_among(Offered::AtMost(3), cut).contains(&"INV-1"));
}

#[test]
fn requests_of_other_sessions_may_arrive_in_any_order_and_numbers_may_be_left_out() {
    let broken = broken_by(|run| {
        let [a, b, c] = run.requests.in_memory().as_mut_slice() else { panic!("three requests") };
        (a.arrival, a.index, b.index, c.index) = (time(0.5), 1, 4, 9);
    });
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn the_turns_of_a_session_follow_each_other() {
    let as_session = |run: &mut RunRecord, turns: [u32; 3]| {
        for (request, turn) in run.requests.in_memory().iter_mut().zip(turns) {
            (request.session, request.turn) = (SessionName::Synthetic(0), turn);
        }
    };
    assert!(broken_by(|run| as_session(run, [0, 1, 2])).is_empty());
    assert_eq!(broken_by(|run| as_session(run, [0, 2, 1])), ["INV-2"]);
    assert_eq!(broken_by(|run| as_session(run, [1, 2, 3])), ["INV-2"], "the first is lost");
    let overlapping = broken_by(|run| {
        as_session(run, [0, 1, 2]);
        run.requests.in_memory()[1].arrival = time(8.0);
    });
    assert_eq!(overlapping, ["INV-2"], "turn 0 ends at 9 ms");
}

#[test]
fn a_dropped_request_breaks_a_law() {
    let broken = broken_by(|run| drop(run.requests.in_memory().remove(1)));
    assert!(broken.contains(&"INV-8"), "{broken:?}");
}

#[test]
fn output_may_end_at_the_context_limit() {
    let mut record = run(1);
    record.requests.in_memory()[0].requested_output = Tokens::new(10);
    let limits = |tokens| Limits { context_length: Some(Tokens::new(tokens)), ..Limits::default() };
    assert!(Invariant::violations(&record, &limits(103)).is_empty());
    assert_eq!(Invariant::violations(&record, &limits(104)).len(), 1);
}

#[test]
fn blocks_may_be_held_where_the_run_was_cut() {
    let mut record = run(2);
    let request = &mut record.requests.in_memory()[1];
    (request.outcome, request.terminal) = (None, None);
    record.pools[0].blocks_held_at_end = Blocks::new(2);
    record.pools[0].blocks_free_at_end = Blocks::new(96);
    let laws = Invariant::violations(&record, &Limits::default());
    assert!(laws.iter().all(|violation| violation.invariant != Invariant::BlocksReturned));
}
