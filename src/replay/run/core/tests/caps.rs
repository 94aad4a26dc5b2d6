//! What ends a run: caps, its duration with grace, a signal. Idle time of the whole system.

use super::player::{after, chain, play, play_until, rules};
use crate::replay::run::core::{Action, Core, Ending, Limits, Pacing, Rules, Topology};
use crate::units::Nanos;

fn ns(value: u64) -> Nanos {
    Nanos::new(value)
}

fn singles(count: usize) -> Vec<Topology> {
    (0..count).map(|_| chain(&[0])).collect()
}

#[test]
fn a_limit_of_requests_refuses_the_next_one_and_lets_those_in_flight_end() {
    let mut rules = rules(2, 1);
    rules.limits.requests = Some(3);
    let seen = play(rules, singles(1), |call| after(10 + call.instance));
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 0), (2, 0, 10)]);
    assert_eq!((seen.canceled.len(), seen.tally.cut), (0, 1));
    assert_eq!(seen.ended, 22, "the one in flight ended on its own");
    assert_eq!(seen.tally.missed, 1, "the one that was refused was due");
}

#[test]
fn what_is_in_flight_when_a_call_is_refused_has_its_grace_and_no_more() {
    let mut rules = rules(2, 1);
    rules.limits.requests = Some(3);
    let slow = |call: crate::replay::run::core::CallId| {
        after(if call.instance == 2 { 1_000_000 } else { 10 + call.instance })
    };
    let seen = play(rules.clone(), singles(1), slow);
    let given_up = |seen: &super::player::Seen| {
        seen.canceled.iter().map(|(call, at)| (call.instance, *at)).collect::<Vec<_>>()
    };
    assert_eq!(given_up(&seen), [(2, 11 + 1000)], "refused at 11");
    assert_eq!(seen.tally.cut, 2);
    // Nothing is refused, since the only lane is taken: the duration ends the run.
    (rules.lanes, rules.limits.duration) = (Some(1), Some(ns(500)));
    assert_eq!(given_up(&play(rules, singles(1), slow)), [(2, 500 + 1000)]);
}

#[test]
fn a_limit_of_sessions_lets_those_that_run_go_on_until_the_duration() {
    let mut rules = rules(1, 1);
    (rules.limits.sessions, rules.limits.duration) = (Some(1), Some(ns(500)));
    let seen =
        play(rules, vec![chain(&[0, 0])], |call| after(if call.node.0 == 0 { 10 } else { 9999 }));
    assert_eq!(seen.order(), [(0, 0, 0), (0, 1, 10)]);
    assert_eq!(seen.canceled.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [1500]);
}

#[test]
fn a_limit_of_sessions_counts_instances_and_lanes_do_not_exceed_it() {
    let mut rules = rules(4, 1);
    rules.limits.sessions = Some(2);
    let seen = play(rules, vec![chain(&[0, 0])], |_| after(10));
    assert_eq!((seen.sent.len(), seen.tally.completed), (4, 2));
}

#[test]
fn a_duration_stops_the_starts_and_grace_bounds_what_is_in_flight() {
    let mut rules = rules(1, 1);
    (rules.limits.duration, rules.limits.grace) = (Some(ns(25)), ns(100));
    let seen = play(rules.clone(), singles(1), |_| after(10));
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 10), (2, 0, 20)]);
    assert_eq!((seen.ended, seen.canceled.len()), (30, 0), "within the grace");
    let seen = play(rules, singles(1), |call| after(if call.instance == 2 { 1000 } else { 10 }));
    assert_eq!(seen.canceled.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [125]);
    assert_eq!(seen.ended, 125);
    assert_eq!((seen.tally.completed, seen.tally.cut), (2, 1), "what was given up is not complete");
}

#[test]
fn nothing_is_sent_at_the_end_of_the_duration_or_after_it() {
    let mut rules = rules(1, 1);
    rules.limits.duration = Some(ns(20));
    let seen = play(rules, vec![chain(&[0, 15, 0])], |_| after(5));
    assert_eq!(seen.order(), [(0, 0, 0)], "the second is due at 20, which is the end");
    assert_eq!((seen.tally.cut, seen.tally.missed), (1, 0));
}

#[test]
fn what_was_due_before_the_end_is_missed_however_late_the_driver_comes() {
    let mut late = Core::new(
        Rules { limits: Limits { duration: Some(ns(20)), ..rules(1, 3).limits }, ..rules(1, 3) },
        vec![chain(&[0]), chain(&[15, 0]), chain(&[0])],
        ns(0),
    );
    let Some(Action::Send { call, .. }) = late.due(ns(0)).into_iter().last() else {
        panic!("a call is due at once")
    };
    // The lane is free at 3, and its next trace sends at 18: nobody comes before 30. What is due at 25 is behind the end.
    late.ended(call, ns(3), Ending::Answered);
    let found = late.due(ns(30));
    assert!(!found.iter().any(|action| matches!(action, Action::Send { .. })));
    assert_eq!((late.tally().missed, late.tally().cut), (1, 1));
}

#[test]
fn a_signal_gives_up_what_is_in_flight_and_keeps_what_was_measured() {
    let seen = play_until(rules(2, 9), singles(9), |call| after(10 + call.instance), Some(25));
    assert!(seen.sent.len() > 2 && seen.sent.iter().all(|sent| sent.at < 25));
    assert_eq!(seen.canceled.len(), 2);
    assert_eq!(seen.ended, 25);
    let answered = seen.sent.len() as u64 - 2;
    assert_eq!((seen.tally.completed, seen.tally.cut), (answered, 2));
}

#[test]
fn idle_time_of_the_whole_system_is_cut_to_the_cap_and_all_timers_move() {
    let capped = Rules { idle_gap_cap: Some(ns(50)), ..rules(2, 2) };
    let traces = vec![chain(&[0, 1000]), chain(&[0, 1100])];
    let seen = play(capped, traces.clone(), |_| after(10));
    // Both end at 10; the next call is due at 1010, 50 after the idle time began: at 60. The other one keeps its distance.
    assert_eq!(seen.order(), [(0, 0, 0), (1, 0, 0), (0, 1, 60), (1, 1, 150 - 40 + 10)]);
    assert_eq!(seen.tally.skipped, ns(950 + 40));
    let uncapped = play(rules(2, 2), traces, |_| after(10));
    assert_eq!(uncapped.order()[2..], [(0, 1, 1010), (1, 1, 1110)]);
}

#[test]
fn idle_time_is_not_cut_while_anything_is_in_flight() {
    let capped = Rules { idle_gap_cap: Some(ns(50)), ..rules(2, 2) };
    let traces = vec![chain(&[0, 1000]), chain(&[0])];
    let seen = play(capped, traces, |call| after(if call.instance == 1 { 5000 } else { 10 }));
    assert_eq!(seen.order()[2], (0, 1, 1010), "the other trace runs");
}

#[test]
fn the_cap_on_idle_time_divides_with_the_speedup() {
    let pacing = Pacing { speedup: 10.0, is_strict: false };
    let capped = Rules { idle_gap_cap: Some(ns(500)), pacing, ..rules(1, 1) };
    let seen = play(capped, vec![chain(&[0, 10_000])], |_| after(10));
    assert_eq!(seen.order()[1], (0, 1, 60), "1000 would be left of the gap, and the cap is 50");
}
