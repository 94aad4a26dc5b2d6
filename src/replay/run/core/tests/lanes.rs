//! Lanes, ramp and recycling. Source of the rules: REPLAY.md §8.2.

use super::player::{after, chain, play, rules};
use crate::replay::run::core::{Ramp, Rules, Topology};
use crate::replay::wire::Draws;
use crate::units::Nanos;
use crate::workload::Sampling;

/// So many traces of one call.
fn singles(count: usize) -> Vec<Topology> {
    (0..count).map(|_| chain(&[0])).collect()
}

#[test]
fn each_trace_is_sent_once_where_nothing_else_ends_the_run() {
    let seen = play(rules(2, 5), singles(5), |_| after(10));
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 0), (2, 0, 10), (3, 0, 10), (4, 0, 20)]);
    assert_eq!((seen.peak, seen.tally.completed), (2, 5));
    assert_eq!(seen.forgotten.len(), 5, "answers of an instance that is over are kept no longer");
}

#[test]
fn more_lanes_than_traces_are_as_many_as_traces() {
    let seen = play(rules(100, 3), singles(3), |_| after(10));
    assert_eq!((seen.sent.len(), seen.peak), (3, 3));
}

#[test]
fn a_recycled_lane_draws_the_next_trace_when_the_last_call_of_its_tree_has_ended() {
    let seen = play(rules(1, 2), vec![chain(&[0, 5]), chain(&[3])], |_| after(10));
    assert_eq!(seen.order(), [(0, 0, 0), (0, 1, 15), (1, 0, 28)]);
    assert_eq!(seen.sent[2].intended, 28, "3 after the lane was free");
}

#[test]
fn lanes_open_linearly_and_are_never_closed_again() {
    // REPLAY.md §10, case 40: limit 1 sends the trace of lane 0 only, limit 3 all.
    let ramp = Ramp { over: Nanos::new(1000) };
    let seen = play(Rules { ramp, ..rules(3, 3) }, singles(3), |_| after(5000));
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 500), (2, 0, 1000)]);
    assert_eq!(ramp.opens(0, 1), Nanos::ZERO, "a single lane does not wait");
    assert_eq!(Ramp::default().opens(6, 7), Nanos::ZERO, "without a ramp all run at once");
}

#[test]
fn a_lane_that_has_not_opened_keeps_the_trace_that_is_its_own() {
    let ramp = Ramp { over: Nanos::new(100) };
    let seen = play(Rules { ramp, ..rules(2, 4) }, singles(4), |_| after(30));
    // Lane 0 draws traces 2 and 3 while lane 1 waits; trace 1 is lane 1's and no trace is sent twice.
    let traces: Vec<_> = seen.sent.iter().map(|sent| (sent.lane, sent.tree, sent.at)).collect();
    assert_eq!(traces, [(0, 0, 0), (0, 2, 30), (0, 3, 60), (1, 1, 100)]);
}

#[test]
fn passes_follow_one_another_in_the_order_of_drawing() {
    let mut rules = rules(1, 5);
    rules.supply.draws = Draws::new(5, Sampling::Shuffle, 7, "w");
    rules.limits.sessions = Some(12);
    let drawn: Vec<usize> = (0..12).map(|number| rules.supply.draws.trace(number)).collect();
    assert_ne!(drawn[..5], drawn[5..10], "each pass is shuffled anew");
    let seen = play(rules, singles(5), |_| after(1));
    assert_eq!(seen.sent.iter().map(|sent| sent.tree).collect::<Vec<_>>(), drawn);
}

#[test]
fn the_run_ends_with_its_last_call() {
    let seen = play(rules(1, 1), singles(1), |_| after(42));
    assert_eq!((seen.ended, seen.tally.cut), (42, 0));
}
