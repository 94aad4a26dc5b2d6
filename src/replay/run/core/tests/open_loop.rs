//! Open loops: recorded absolute times. Source of the rules: REPLAY.md §8.4.

use super::player::{after, at, behind, chain, play, rules};
use crate::graph::NodeIndex;
use crate::replay::run::core::topology::Step;
use crate::replay::run::core::{Action, Core, Pacing, Rules, Topology};
use crate::units::Nanos;

/// An open loop over traces that start at these instants.
fn open(arrivals: &[u64], lanes: Option<usize>) -> Rules {
    let mut rules = Rules { lanes, ..rules(1, arrivals.len()) };
    rules.supply.arrivals = Some(arrivals.iter().map(|at| Nanos::new(*at)).collect());
    rules
}

#[test]
fn traces_start_at_their_recorded_times_whatever_the_server_does() {
    let traces = (0..3).map(|_| chain(&[0])).collect();
    let seen = play(open(&[0, 100, 200], None), traces, |_| after(10_000));
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 100), (2, 0, 200)]);
    assert_eq!(seen.sent.iter().map(|sent| sent.lane).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_speedup_divides_the_starts_and_what_calls_wait_for() {
    let mut rules = open(&[0, 100, 200], None);
    rules.pacing.speedup = 2.0;
    let seen = play(rules, (0..3).map(|_| chain(&[0, 40])).collect(), |_| after(1));
    let found = [(0, 0, 0), (0, 1, 21), (1, 0, 50), (1, 1, 71), (2, 0, 100), (2, 1, 121)];
    assert_eq!(seen.order(), found);
}

#[test]
fn lanes_hold_traces_back_and_the_schedule_does_not_move() {
    let traces = (0..3).map(|_| chain(&[0, 5])).collect();
    let seen = play(open(&[0, 100, 200], Some(1)), traces, |_| after(300));
    let found: Vec<_> = seen.sent.iter().map(|sent| (sent.intended, sent.at)).collect();
    // Trace 1 was to start at 100 and could at 605: that is lateness, and latency from the intended start shows it.
    assert_eq!(found, [(0, 0), (305, 305), (100, 605), (910, 910), (200, 1210), (1515, 1515)]);
    assert_eq!(seen.peak, 1);
}

#[test]
fn the_order_of_starts_is_that_of_their_times() {
    let seen =
        play(open(&[200, 0, 100], None), (0..3).map(|_| chain(&[0])).collect(), |_| after(1));
    assert_eq!(seen.order(), [(1, 0, 0), (2, 0, 100), (0, 0, 200)]);
}

#[test]
fn a_strict_open_loop_starts_every_call_at_its_recorded_time() {
    let turn = |arrival| Step { arrival: Nanos::new(arrival), ..behind(0, 0) };
    let trace = || Topology::new(vec![at(0), turn(50), turn(90)]);
    let mut rules = open(&[0, 1000], None);
    rules.pacing = Pacing { speedup: 1.0, is_strict: true };
    let seen = play(rules, vec![trace(), trace()], |_| after(400));
    let times: Vec<u64> = seen.sent.iter().map(|sent| sent.at).collect();
    assert_eq!(times, [0, 50, 90, 1000, 1050, 1090]);
}

#[test]
fn a_strict_call_that_holds_an_answer_is_late_and_says_so() {
    let holds = Step { arrival: Nanos::new(50), slots: vec![NodeIndex(0)], ..behind(0, 0) };
    let mut rules = open(&[0], None);
    rules.pacing = Pacing { speedup: 1.0, is_strict: true };
    let seen = play(rules, vec![Topology::new(vec![at(0), holds])], |_| after(400));
    assert_eq!((seen.sent[1].intended, seen.sent[1].at), (50, 400));
}

#[test]
fn what_is_sent_at_once_is_bounded_by_its_number_and_by_its_bytes() {
    let bursts = |count: usize, bytes: &[u64]| {
        let trace = |n: usize| Topology::new(vec![Step { bytes: bytes[n % bytes.len()], ..at(0) }]);
        let mut core =
            Core::new(open(&vec![0; count], None), (0..count).map(trace).collect(), Nanos::ZERO);
        let mut sizes = Vec::new();
        while sizes.iter().sum::<usize>() < count {
            assert_eq!(core.wake(), Some(Nanos::ZERO), "what is left is due");
            let sends = |action: &Action| matches!(action, Action::Send { .. });
            sizes.push(core.due(Nanos::ZERO).iter().filter(|action| sends(action)).count());
        }
        sizes
    };
    assert_eq!(bursts(150, &[1000]), [64, 64, 22]);
    assert_eq!(bursts(10, &[300 << 10]), [4, 4, 2], "a mebibyte is behind the fourth");
    assert_eq!(bursts(3, &[16 << 20]), [1, 1, 1], "one goes, however long it is");
    assert_eq!(bursts(4, &[16 << 20, 10]), [1, 2, 1]);
}

#[test]
fn an_open_loop_sends_no_trace_twice() {
    let mut rules = open(&[0, 10], None);
    rules.limits.duration = Some(Nanos::new(1_000_000));
    let seen = play(rules, (0..2).map(|_| chain(&[0])).collect(), |_| after(1));
    assert_eq!((seen.sent.len(), seen.ended), (2, 11));
}

#[test]
fn sessions_that_had_no_lane_by_the_end_are_missed() {
    let mut rules = open(&[0, 10, 20, 40, 90], Some(1));
    (rules.limits.duration, rules.limits.grace) = (Some(Nanos::new(50)), Nanos::new(0));
    let traces: Vec<Topology> = (0..5).map(|_| chain(&[5, 0])).collect();
    let seen = play(rules.clone(), traces.clone(), |_| after(1000));
    assert_eq!(seen.order(), [(0, 0, 5)]);
    // Their first calls were due at 15, 25 and 45; nobody knows when the second ones were.
    assert_eq!(seen.tally.missed, 3);
    rules.supply.arrivals = Some([0, 10, 20, 45, 90].map(Nanos::new).to_vec());
    let seen = play(rules, traces, |_| after(1000));
    assert_eq!(seen.tally.missed, 2, "what is due at 50 is due at the end");
}

#[test]
fn every_call_of_a_strict_session_that_had_no_lane_is_missed_up_to_the_end() {
    let turn = |arrival| Step { arrival: Nanos::new(arrival), ..behind(0, 0) };
    let trace = || Topology::new(vec![at(0), turn(20), turn(90)]);
    let mut rules = open(&[0, 10], Some(1));
    rules.pacing = Pacing { speedup: 1.0, is_strict: true };
    rules.limits.duration = Some(Nanos::new(50));
    let seen = play(rules, vec![trace(), trace()], |_| after(400));
    assert_eq!(seen.order(), [(0, 0, 0), (0, 1, 20)]);
    assert_eq!(seen.tally.missed, 2, "of the second session those at 10 and 30");
}

#[test]
fn a_limit_of_requests_misses_the_refused_call_and_who_waited_for_a_lane() {
    let mut rules = open(&[0, 10, 20, 400], Some(2));
    rules.limits.requests = Some(2);
    let seen = play(rules, (0..4).map(|_| chain(&[0, 0])).collect(), |_| after(100));
    assert_eq!(seen.sent.len(), 2);
    // At 100 the second call of trace 0 is refused; trace 2 was to start at 20.
    assert_eq!(seen.tally.missed, 2);
}
