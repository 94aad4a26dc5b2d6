//! When calls are sent: lanes, ramp, recycling, edges, idle gaps, open loops.

use std::collections::BTreeSet;

use super::support::{Call, call, captured, due, ms, of, order, send, server};
use crate::measure::live::InFlight;
use crate::record::LiveOutcome;

/// Three sessions of two turns.
fn three() -> Vec<Call> {
    let turns = |session, at| [call(session, at), call(session, at + 2)];
    [turns("a", 0), turns("b", 1), turns("c", 2)].into_iter().flatten().collect()
}

#[test]
fn each_trace_is_sent_once_and_no_more_sessions_than_lanes_are_in_flight() {
    let run = captured(&three()).with_lanes(2, ms(0)).run("answer { tokens 2; gap \"1ms\"; }");
    let sent: BTreeSet<_> = order(&run).into_iter().collect();
    assert_eq!(sent, (0..3).flat_map(|at| [(at, 0), (at, 1)]).collect());
    assert!(run.requests.iter().all(|request| request.outcome() == LiveOutcome::Completed));
    assert!(run.requests.iter().all(|request| request.lane < 2));
    assert_eq!(InFlight::of(&run).asked, 2);
    assert_eq!((run.tally.completed, run.tally.cut, run.tally.missed), (3, 0, 0));
    for instance in 0..3 {
        let (first, second) = (of(&run, instance, 0), of(&run, instance, 1));
        assert!(second.intended >= first.exchange.end, "a turn follows the one before");
    }
}

#[test]
fn lanes_open_one_after_the_other() {
    let run = captured(&three()).with_lanes(3, ms(20)).run("");
    assert_eq!([0, 1, 2].map(|instance| due(&run, instance, 0)), [ms(0), ms(10), ms(20)]);
}

#[test]
fn sessions_are_drawn_again_under_other_names() {
    let mut job = captured(&three());
    job.settings.stop.sessions = Some(7);
    let (plan, server) = (job.plan(), server(""));
    let run = send(&plan, &server, |_, _| false);
    let traces: Vec<_> =
        run.measured().filter(|it| it.call == 0).map(|it| (it.instance, it.trace)).collect();
    assert_eq!(traces, [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2), (6, 0)]);
    let names: BTreeSet<_> =
        server.take_stamps().answers.into_iter().map(|answer| answer.request_id).collect();
    assert_eq!(names.len(), run.requests.len(), "no two requests have one name");
}

#[test]
fn a_child_that_started_during_its_parents_answer_follows_the_first_token_as_recorded() {
    let parent = Call { lasts: 40, first_token: Some(10), ..call("root", 0) };
    let child = Call { parent: Some("root"), ..call("root-child", 25) };
    let job = captured(&[parent, child, call("root", 60)]);
    let run = job.run("answer { tokens 2; first-token \"20ms\"; gap \"400ms\"; }");
    let first = of(&run, 0, 0).exchange.outputs().next().expect("an output").at;
    assert_eq!(of(&run, 0, 1).intended.since(first), Some(ms(15)));
    assert!(of(&run, 0, 1).scheduled < of(&run, 0, 0).exchange.end, "while the parent goes on");
}

#[test]
fn a_child_of_a_parent_without_a_first_token_follows_its_dispatch() {
    let parent = Call { lasts: 40, first_token: None, ..call("root", 0) };
    let child = Call { parent: Some("root"), ..call("root-child", 25) };
    let run = captured(&[parent, child]).run("answer { tokens 1; first-token \"400ms\"; }");
    let parent = of(&run, 0, 0);
    assert!(due(&run, 0, 1) >= ms(25));
    let latest = parent.scheduled.get() + ms(25).get();
    assert!(
        of(&run, 0, 1).intended.get() <= latest,
        "25 ms after the dispatch, which is noted then"
    );
    assert!(of(&run, 0, 1).scheduled < parent.exchange.end, "while the parent goes on");
}

#[test]
fn idle_gaps_are_cut_in_each_trace_or_in_the_whole_system() {
    let hour = 3_600_000;
    let mut job =
        captured(&[call("a", 0), call("a", hour), call("b", hour / 2)]).with_lanes(2, ms(0));
    job.load.idle_gap_cap_ms = Some(6.0);
    let run = job.run("");
    let after = |run: &crate::record::LiveRun| {
        of(run, 0, 1).intended.since(of(run, 0, 0).exchange.end).expect("after the end")
    };
    assert_eq!((after(&run), run.tally.skipped), (ms(6), ms(0)), "lowered with the cap");
    job.load.idle_gap_scope = "system".to_owned();
    job.load.speedup = 2.0;
    let run = job.run("");
    let last = run.measured().filter(|it| it.call == 0).map(|it| it.exchange.end).max();
    let idle = of(&run, 0, 1).intended.since(last.expect("two calls"));
    assert_eq!(idle, Some(ms(3)), "nothing is in flight for longer than the cap, which is divided");
    assert!(run.tally.skipped > ms(hour / 4));
}

#[test]
fn an_open_loop_starts_traces_at_their_recorded_times_whatever_the_server_does() {
    let mut job = captured(&[call("a", 0), call("b", 20), call("c", 50), call("c", 54)]);
    (job.load.open_loop, job.load.speedup) = (true, 2.0);
    let run = job.run("answer { tokens 1; first-token \"60ms\"; }");
    assert_eq!([0, 1, 2].map(|instance| due(&run, instance, 0)), [ms(0), ms(10), ms(25)]);
    let end = of(&run, 2, 0).exchange.end;
    assert_eq!(
        of(&run, 2, 1).intended.since(end),
        Some(ms(1)),
        "2 ms after the end, at twice the speed"
    );
}

#[test]
fn lanes_hold_an_open_loop_back_and_its_schedule_does_not_move() {
    let mut job = captured(&[call("a", 0), call("b", 5)]).with_lanes(1, ms(0));
    job.load.open_loop = true;
    let run = job.run("answer { tokens 1; first-token \"30ms\"; }");
    assert_eq!(due(&run, 1, 0), ms(5));
    assert!(of(&run, 1, 0).scheduled >= of(&run, 0, 0).exchange.end, "the lane was not free");
}

#[test]
fn a_strict_open_loop_starts_each_call_at_its_recorded_time() {
    let mut job = captured(&[call("a", 0), call("a", 10), call("a", 30), call("b", 5)]);
    (job.load.open_loop, job.load.strict) = (true, true);
    let run = job.run("answer { tokens 1; first-token \"400ms\"; }");
    assert_eq!([0, 1, 2].map(|at| due(&run, 0, at)), [ms(0), ms(10), ms(30)]);
    assert_eq!(due(&run, 1, 0), ms(5));
    assert!(of(&run, 0, 2).scheduled < of(&run, 0, 0).exchange.end, "nothing is waited for");
}
