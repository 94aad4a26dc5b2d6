//! What is sent before anything is measured.

use super::support::{Call, Job, call, captured, ms, of, order, phases, rule, send, server};
use crate::measure::live::{LiveErrors, LiveFailure};
use crate::record::{LiveOutcome, LiveRequest, Phase};
use crate::replay::LiveEvent;
use crate::units::Tokens;
use crate::workload::live::{Burst, Snapshot, Warmup};

/// A root of four turns and a child that lives in the middle of it, cut at the share of 0.6 of 30 ms.
fn job(warmup: Warmup) -> Job {
    let child = |at| Call { parent: Some("root"), ..call("root-child", at) };
    let calls = [
        call("root", 0),
        child(5),
        call("root", 10),
        call("root", 20),
        child(25),
        call("root", 30),
    ];
    let mut job = captured(&calls);
    job.settings.snapshot = Some(Snapshot { from: 0.6, to: 0.6, burst: Burst::Spread });
    job.settings.warmup = warmup;
    job.settings.endpoint.request.usage = true;
    job
}

/// Returns how many tokens the server said it made.
fn output(request: &LiveRequest) -> Option<u64> {
    request.exchange.usage.and_then(|usage| usage.output).map(Tokens::get)
}

#[test]
fn each_conversation_that_lives_at_the_window_is_primed_for_one_token_and_not_measured() {
    let run = job(Warmup::Prime).run("");
    assert_eq!(phases(&run), [Phase::Primer, Phase::Profile]);
    let primed: Vec<_> =
        run.requests.iter().filter(|request| request.phase == Phase::Primer).collect();
    assert_eq!(primed.iter().map(|request| request.call).collect::<Vec<_>>(), [1, 2]);
    assert!(primed.iter().all(|request| output(request) == Some(1)));
    let began = run.began().expect("it was measured");
    assert!(primed.iter().all(|request| request.exchange.end <= began));
    let mut measured = order(&run);
    measured.sort_unstable();
    assert_eq!(measured, [(0, 3), (0, 4), (0, 5)]);
    assert!(run.measured().all(|request| output(request) == Some(4)));
    assert_eq!(of(&run, 0, 3).intended.since(began), Some(ms(2)), "2 ms behind the cut");
}

#[test]
fn caches_are_put_under_pressure_and_lanes_are_handed_over_where_they_stand() {
    let run = job(Warmup::Pressure { duration: ms(250) })
        .run("answer { tokens 1; first-token \"5ms\"; }");
    assert_eq!(phases(&run), [Phase::Primer, Phase::Warmup, Phase::Profile]);
    let warm: Vec<_> =
        run.requests.iter().filter(|request| request.phase == Phase::Warmup).collect();
    let ended = |it: &LiveRequest| it.outcome() == LiveOutcome::Completed;
    assert!(warm.iter().any(|request| ended(request)));
    let began = run.began().expect("it was measured");
    assert!(warm.iter().all(|request| request.exchange.end <= began), "it was drained");
    let sent = |request: &LiveRequest| (request.instance, request.call);
    let is_it = |one: &LiveRequest, it: &LiveRequest| ended(one) && sent(one) == sent(it);
    let again = run.measured().filter(|it| warm.iter().any(|one| is_it(one, it)));
    assert_eq!(again.count(), 0, "what the warm-up sent is not sent again");
}

#[test]
fn a_warm_up_that_hangs_is_given_up_and_what_follows_is_sent() {
    let plan = job(Warmup::Pressure { duration: ms(200) }).plan();
    // The primers are answered; what presses hangs until it is given up.
    let script = rule(&plan, (0, "root:2::warmup"), "first-token \"1h\";");
    let run = send(&plan, &server(&script), |_, _| false);
    let given_up: Vec<_> = run
        .requests
        .iter()
        .filter(|request| request.outcome() == LiveOutcome::Canceled)
        .map(|request| (request.phase, request.call))
        .collect();
    assert_eq!(given_up, [(Phase::Warmup, 3)]);
    let mut sent = order(&run);
    sent.sort_unstable();
    assert_eq!(sent, [(0, 3), (0, 4), (0, 5)], "it is sent again, and what follows it is sent");
    assert!(run.measured().all(|request| request.outcome() == LiveOutcome::Completed));
}

#[test]
fn a_signal_ends_a_warm_up_as_well_and_nothing_is_measured() {
    let plan = job(Warmup::Pressure { duration: ms(60_000) }).plan();
    let script = rule(&plan, (0, "root:2::warmup"), "first-token \"1h\";");
    let run = send(&plan, &server(&script), |event, _| event == LiveEvent::Sent(Phase::Warmup));
    assert!(run.is_interrupted);
    assert_eq!((run.measured().count(), run.aborted), (0, None));
    let last = run.requests.last().expect("a request of the warm-up");
    assert_eq!((last.phase, last.outcome()), (Phase::Warmup, LiveOutcome::Canceled));
}

#[test]
fn a_warm_up_that_fails_ends_the_run_before_anything_is_measured() {
    for script in ["answer { status 503 }", "answer to=2\nanswer { status 503 }"] {
        let run = job(Warmup::Pressure { duration: ms(10_000) }).run(script);
        assert_eq!(run.measured().count(), 0);
        assert!(!phases(&run).contains(&Phase::Profile));
        let failures = LiveFailure::of(&run);
        let [LiveFailure::Warmup { call, error }] = &failures[..] else {
            panic!("{failures:?}");
        };
        assert!(call.starts_with("root ") && error.starts_with("status 503"), "{call}: {error}");
        assert_eq!(LiveErrors::of(&run).count(), 0, "no error of what is measured");
    }
}
