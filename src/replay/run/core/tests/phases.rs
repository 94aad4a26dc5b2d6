//! Windows, priming, pressure and its hand-over. Source of the rules: REPLAY.md §8.3.

use super::player::{Answer, Sent, after, at, behind, chain, play, rules};
use crate::record::Phase;
use crate::replay::run::core::topology::Step;
use crate::replay::run::core::{Ending, Rules, Topology};
use crate::replay::wire::WireWindow;
use crate::units::Nanos;

fn ns(value: u64) -> Nanos {
    Nanos::new(value)
}

/// Two conversations: 0, 100, 200, 300 and (from call 4 on) 150, 250; each call waits for the one before of its own.
fn two_sessions() -> Topology {
    let turn =
        |source, arrival, session| Step { arrival: ns(arrival), session, ..behind(source, 10) };
    let other = Step { session: 1, ..at(150) };
    Topology::new(vec![
        at(0),
        turn(0, 100, 0),
        turn(1, 200, 0),
        turn(2, 300, 0),
        other,
        turn(4, 250, 1),
    ])
}

/// The window that begins at a share of the time to a trace's last call.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the times of these traces are small"
)]
fn window(topology: &Topology, share: f64, is_together: bool) -> WireWindow {
    let arrivals = || topology.steps().map(|(_, step)| step.arrival);
    let last = arrivals().max().unwrap_or_default();
    let cut = ns((last.get() as f64 * share) as u64);
    let behind = arrivals().filter(|at| *at >= cut).min();
    WireWindow { cut, origin: behind.filter(|_| is_together).unwrap_or(cut) }
}

/// One lane that begins at a share of its trace.
fn snapshot(share: f64, is_together: bool, traces: &[Topology]) -> Rules {
    let mut rules = rules(1, traces.len());
    rules.supply.windows = vec![window(&traces[0], share, is_together)];
    rules.primes = true;
    rules
}

#[test]
fn a_window_leaves_out_what_was_sent_before_it_and_moves_the_start() {
    let traces = vec![two_sessions()];
    let mut rules = snapshot(0.6, false, &traces);
    rules.primes = false;
    let seen = play(rules, traces, |_| after(20));
    // The cut is at 180: calls 2 (200) and 5 (250) lost all that they waited for and keep their times; 3 follows 2.
    assert_eq!(seen.order(), [(0, 2, 20), (0, 3, 50), (0, 5, 70)]);
}

#[test]
fn together_the_first_call_behind_the_window_is_the_start() {
    let traces = vec![two_sessions()];
    let mut rules = snapshot(0.6, true, &traces);
    rules.primes = false;
    let seen = play(rules, traces, |_| after(20));
    assert_eq!(seen.order(), [(0, 2, 0), (0, 3, 30), (0, 5, 50)]);
}

#[test]
fn each_conversation_that_lives_at_the_window_is_primed_with_its_last_call_before() {
    let traces = vec![two_sessions()];
    let seen = play(snapshot(0.6, false, &traces), traces, |_| after(30));
    assert_eq!(seen.of(Phase::Primer), [(0, 1, 0), (0, 4, 0)]);
    assert_eq!(seen.phases, [(Phase::Primer, 0), (Phase::Profile, 30)]);
    assert_eq!(seen.of(Phase::Profile)[0], (0, 2, 50), "20 after the measured phase began");
}

#[test]
fn a_conversation_that_has_ended_before_the_window_is_not_primed() {
    let turn = |source, arrival| Step { arrival: ns(arrival), session: 1, ..behind(source, 0) };
    let trace = Topology::new(vec![Step { session: 0, ..at(0) }, turn(0, 10), turn(1, 100)]);
    let seen = play(snapshot(0.5, false, std::slice::from_ref(&trace)), vec![trace], |_| after(1));
    assert_eq!(seen.of(Phase::Primer), [(0, 1, 0)]);
}

#[test]
fn only_the_first_instance_of_a_lane_begins_in_its_middle() {
    let traces = vec![chain(&[0, 10]), chain(&[0, 10])];
    let mut rules = snapshot(1.0, false, &traces);
    rules.supply.windows = vec![WireWindow { cut: ns(5), origin: ns(5) }];
    let traces = vec![Topology::new(vec![at(0), Step { arrival: ns(10), ..behind(0, 10) }]); 2];
    let seen = play(rules, traces, |_| after(1));
    let nodes: Vec<_> =
        seen.of(Phase::Profile).iter().map(|(number, node, _)| (*number, *node)).collect();
    assert_eq!(nodes, [(0, 1), (1, 0), (1, 1)]);
}

#[test]
fn a_warm_up_that_fails_ends_the_run_before_anything_is_measured() {
    let traces = vec![two_sessions()];
    let server = |call: crate::replay::run::core::CallId| Answer {
        first_token: None,
        end: 30 + u64::try_from(call.node.0).expect("small"),
        ending: if call.node.0 == 1 { Ending::Failed } else { Ending::Answered },
    };
    let seen = play(snapshot(0.6, false, &traces), traces, server);
    assert_eq!(seen.aborted.map(|call| call.node.0), Some(1));
    assert_eq!(seen.of(Phase::Profile), []);
    assert_eq!(seen.canceled.len(), 1, "what else was in flight is given up");
}

#[test]
fn pressure_sends_without_waits_over_and_over_and_then_hands_over() {
    let traces = vec![chain(&[0, 1000, 1000])];
    let mut rules = rules(1, 1);
    rules.pressure = Some(ns(45));
    let seen = play(rules, traces, |_| after(10));
    // 0, 10 and 20 send the trace, 30 and 40 begin it again; the last one ends in the drain, at 50.
    let warm = [(0, 0, 0), (0, 1, 10), (0, 2, 20), (1, 0, 30), (1, 1, 40)];
    assert_eq!(seen.of(Phase::Warmup), warm);
    assert_eq!(seen.phases, [(Phase::Warmup, 0), (Phase::Profile, 50)]);
    // What is left of the wait of call 2: 1000 after the end of call 1, which came at 50.
    assert_eq!(seen.of(Phase::Profile), [(1, 2, 1050)]);
    assert_eq!(seen.tally.completed, 1, "the one of the warm-up counts nowhere");
}

#[test]
fn what_is_left_of_a_wait_is_capped_at_a_minute_and_never_less_than_nothing() {
    let hour = 3_600_000_000_000;
    let mut rules = rules(1, 1);
    rules.pressure = Some(ns(15));
    let seen = play(rules.clone(), vec![chain(&[0, 0, hour])], |_| after(10));
    assert_eq!(seen.of(Phase::Profile), [(0, 2, 20 + 60_000_000_000)]);
    let slow =
        |call: crate::replay::run::core::CallId| after(if call.node.0 == 1 { 400 } else { 10 });
    rules.pressure = Some(ns(300));
    let seen = play(rules, vec![chain(&[0, 3])], slow);
    // Call 1 is in flight when the pressure ends at 300, and comes back at 410, within the grace.
    assert_eq!(seen.phases[1], (Phase::Profile, 410));
}

#[test]
fn calls_that_the_drain_gives_up_are_sent_again_and_measured() {
    let mut rules = rules(1, 1);
    rules.pressure = Some(ns(20));
    let slow = |call: crate::replay::run::core::CallId| {
        after(if call.phase == Phase::Warmup && call.node.0 == 1 { 5000 } else { 10 })
    };
    let seen = play(rules, vec![chain(&[0, 7])], slow);
    assert_eq!(
        seen.canceled.iter().map(|(call, at)| (call.node.0, *at)).collect::<Vec<_>>(),
        [(1, 40)]
    );
    assert_eq!(seen.of(Phase::Profile), [(0, 1, 40)], "7 after 10 is past when it is handed over");
    assert_eq!(seen.aborted, None);
}

#[test]
fn primed_lanes_are_put_under_pressure_from_their_window_on() {
    let traces = vec![two_sessions()];
    let mut rules = snapshot(0.6, false, &traces);
    rules.pressure = Some(ns(15));
    let seen = play(rules, traces, |_| after(10));
    assert_eq!(seen.of(Phase::Primer).len(), 2);
    let nodes = |phase| {
        let of: Vec<&Sent> = seen.sent.iter().filter(|sent| sent.call.phase == phase).collect();
        of.iter().map(|sent| sent.call.node.0).collect::<Vec<_>>()
    };
    assert_eq!(nodes(Phase::Warmup), [2, 5, 3]);
    assert_eq!(nodes(Phase::Profile), [0, 1, 2, 3, 4, 5], "the lane draws the next instance");
}
