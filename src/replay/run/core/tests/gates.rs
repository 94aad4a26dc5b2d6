//! Gates of calls. Source of the rules: REPLAY.md §8.1.

use super::player::{Answer, after, at, behind, chain, play, rules, step};
use crate::graph::{NodeIndex, Wait};
use crate::replay::run::core::topology::{Join, Step};
use crate::replay::run::core::{Ending, Pacing, Rules, Topology};
use crate::units::Nanos;

fn ns(value: u64) -> Nanos {
    Nanos::new(value)
}

/// A call that is sent so long after the dispatch of another, and after its first token where that is said.
fn beside(source: usize, delay: u64, token: Option<u64>) -> Step {
    let wait = Wait::dispatch(ns(delay), token.map(ns));
    Step { edges: vec![(Some(NodeIndex(source)), wait)], ..step() }
}

/// Plays one trace in one lane.
fn order(steps: Vec<Step>, server: impl Fn(usize) -> Answer) -> Vec<(u64, usize, u64)> {
    play(rules(1, 1), vec![Topology::new(steps)], |call| server(call.node.0)).order()
}

#[test]
fn a_turn_waits_for_the_end_of_the_one_before_and_its_delay() {
    let found = order(vec![at(5), behind(0, 10), behind(1, 0)], |_| after(100));
    assert_eq!(found, [(0, 0, 5), (0, 1, 115), (0, 2, 215)]);
}

#[test]
fn a_slow_server_moves_what_waits_for_it_and_nothing_else() {
    let found = order(vec![at(0), behind(0, 10), at(50)], |node| after([500, 1, 1][node]));
    assert_eq!(found, [(0, 0, 0), (0, 2, 50), (0, 1, 510)]);
}

#[test]
fn an_and_join_waits_for_the_last_of_its_inputs() {
    let join = Step {
        edges: vec![
            (Some(NodeIndex(0)), Wait::completion(ns(0))),
            (Some(NodeIndex(1)), Wait::completion(ns(7))),
        ],
        inputs: vec![
            Join { writers: vec![NodeIndex(0)], count: 1 },
            Join { writers: vec![NodeIndex(1)], count: 1 },
        ],
        ..step()
    };
    // The delay stands on the edge from 1, which ends first here: the other end decides.
    let found = order(vec![at(0), at(0), join.clone()], |node| after([90, 30, 1][node]));
    assert_eq!(found[2], (0, 2, 90));
    let found = order(vec![at(0), at(0), join], |node| after([30, 90, 1][node]));
    assert_eq!(found[2], (0, 2, 97));
}

#[test]
fn a_join_of_some_values_of_a_channel_waits_for_that_many() {
    let writers = vec![NodeIndex(0), NodeIndex(1), NodeIndex(2)];
    let join = |count| Step { inputs: vec![Join { writers: writers.clone(), count }], ..step() };
    let steps = vec![at(0), at(0), at(0), join(2)];
    let found = order(steps, |node| after([30, 10, 20, 1][node]));
    assert_eq!(found[3], (0, 3, 20), "two of three have come");
    let steps = vec![at(0), at(0), at(0), join(3)];
    assert_eq!(order(steps, |node| after([30, 10, 20, 1][node]))[3], (0, 3, 30));
}

#[test]
fn a_wait_after_the_inputs_counts_from_the_last_of_them() {
    let ready = Wait { ready: Some(ns(4)), ..Wait::default() };
    let step = Step {
        edges: vec![(Some(NodeIndex(0)), ready)],
        inputs: vec![Join { writers: vec![NodeIndex(0), NodeIndex(1)], count: 2 }],
        ..step()
    };
    let found = order(vec![at(0), at(0), step], |node| after([10, 40, 1][node]));
    assert_eq!(found[2], (0, 2, 44));
}

#[test]
fn a_node_has_its_own_least_time_from_the_start_of_the_trace() {
    let late = Step { min_start: Some(ns(300)), ..behind(0, 10) };
    let found = order(vec![at(0), late.clone()], |_| after(100));
    assert_eq!(found[1], (0, 1, 300));
    assert_eq!(order(vec![at(0), late], |_| after(400))[1], (0, 1, 410));
}

#[test]
fn a_dispatch_lets_its_successor_go_while_it_runs() {
    let found = order(vec![at(10), beside(0, 5, None)], |_| after(1000));
    assert_eq!(found, [(0, 0, 10), (0, 1, 15)]);
}

#[test]
fn a_first_token_is_waited_for_and_the_dispatch_counts_where_none_comes() {
    let token = |first_token, end| Answer { first_token, end, ending: Ending::Answered };
    let steps = || vec![at(0), beside(0, 50, Some(3))];
    assert_eq!(order(steps(), |_| token(Some(200), 900))[1], (0, 1, 203), "a late first token");
    assert_eq!(order(steps(), |_| token(Some(20), 900))[1], (0, 1, 23), "an early one");
    assert_eq!(
        order(steps(), |_| token(None, 400))[1],
        (0, 1, 400),
        "50 after the dispatch is past"
    );
    assert_eq!(order(steps(), |_| token(None, 30))[1], (0, 1, 50), "and is waited for where not");
    for (end, intended) in [(400, 400), (30, 50)] {
        let seen = play(rules(1, 1), vec![Topology::new(steps())], |_| token(None, end));
        assert_eq!(seen.sent[1].intended, intended, "not late: until {end} nobody could know");
    }
}

#[test]
fn an_edge_that_names_no_instant_waits_for_the_end() {
    let step = Step { edges: vec![(Some(NodeIndex(0)), Wait::default())], ..step() };
    assert_eq!(order(vec![at(0), step], |_| after(77))[1], (0, 1, 77));
}

#[test]
fn a_speedup_divides_recorded_spans_and_not_what_the_server_takes() {
    let rules = Rules { pacing: Pacing { speedup: 4.0, is_strict: false }, ..rules(1, 1) };
    let seen = play(rules, vec![chain(&[40, 400])], |_| after(100));
    assert_eq!(seen.order(), [(0, 0, 10), (0, 1, 210)]);
}

#[test]
fn a_failed_request_is_contained_and_the_conversation_goes_on() {
    let server = |node: usize| Answer {
        first_token: None,
        end: 10,
        ending: if node == 1 { Ending::Failed } else { Ending::Answered },
    };
    let found = order(vec![at(0), behind(0, 0), behind(1, 0), behind(2, 0)], server);
    assert_eq!(found.len(), 4, "REPLAY.md §10, case 46");
}

#[test]
fn an_answer_that_a_prompt_holds_is_waited_for_and_one_that_failed_is_left_out() {
    let holds = Step { slots: vec![NodeIndex(0)], ..at(0) };
    for ending in [Ending::Answered, Ending::Failed] {
        let server = |_| Answer { first_token: None, end: 60, ending };
        assert_eq!(order(vec![at(0), holds.clone()], server)[1], (0, 1, 60));
    }
}

#[test]
fn a_context_overflow_ends_the_trajectory_and_what_runs_beside_it_ends_on_its_own() {
    let server = |node: usize| Answer {
        first_token: None,
        end: [10, 10, 500, 1, 1][node],
        ending: if node == 1 { Ending::ContextOverflow } else { Ending::Answered },
    };
    let steps = vec![at(0), behind(0, 0), at(0), behind(1, 0), behind(2, 0)];
    let seen = play(rules(1, 2), vec![Topology::new(steps), chain(&[0])], |call| {
        if call.instance == 0 { server(call.node.0) } else { after(1) }
    });
    assert_eq!(seen.order(), [(0, 0, 0), (0, 2, 0), (0, 1, 10), (1, 0, 500)]);
    assert_eq!((seen.tally.overflowed, seen.tally.completed), (1, 1));
    assert_eq!(seen.canceled, []);
}

#[test]
fn a_call_that_cannot_be_written_ends_its_trajectory() {
    let ending = Ending::Unsendable;
    let seen =
        play(rules(1, 1), vec![chain(&[0, 0])], |_| Answer { first_token: None, end: 0, ending });
    assert_eq!((seen.order().len(), seen.tally.unsendable), (1, 1));
}
