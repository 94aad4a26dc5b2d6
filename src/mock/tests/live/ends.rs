//! How runs end: caps, grace, signals, servers of which nothing comes.

use super::support::{Job, call, captured, ms, of, order, send, send_to, server};
use crate::measure::Figure;
use crate::measure::live::{CountedBy, LiveErrors, LiveFailure, LiveFamily, LiveMetrics, LiveName};
use crate::record::{LiveOutcome, LiveRun};
use crate::replay::{Happened, LiveEvent, OutgoingRequest, VirtualServer, play};
use crate::units::Nanos;

/// Two sessions of four turns without pauses.
fn two() -> Job {
    let turns = |session| (0..4).map(move |turn| call(session, 2 * turn));
    captured(&turns("a").chain(turns("b")).collect::<Vec<_>>())
}

/// Returns how many requests ended so.
fn count(run: &LiveRun, outcome: LiveOutcome) -> usize {
    run.measured().filter(|request| request.outcome() == outcome).count()
}

#[test]
fn after_so_many_requests_none_starts() {
    let mut job = two().with_lanes(2, ms(0));
    (job.settings.stop.requests, job.settings.stop.grace) = (Some(11), ms(60_000));
    let run = job.run("");
    assert_eq!((run.requests.len(), count(&run, LiveOutcome::Completed)), (11, 11));
    assert!(run.measured().any(|request| request.instance >= 2), "sessions are drawn again");
}

#[test]
fn what_is_in_flight_at_the_end_has_its_grace_and_nothing_else_starts() {
    let mut job = two();
    (job.settings.stop.duration, job.settings.stop.grace) = (Some(ms(300)), ms(60_000));
    let run = job.run("answer { tokens 1; first-token \"600ms\"; }");
    assert_eq!(order(&run), [(0, 0)]);
    assert_eq!(of(&run, 0, 0).outcome(), LiveOutcome::Completed);
    assert_eq!((run.tally.cut, run.is_interrupted), (1, false));
}

#[test]
fn what_has_not_ended_when_its_grace_is_over_is_given_up_with_what_came() {
    let mut job = two().with_lanes(2, ms(0));
    (job.settings.stop.duration, job.settings.stop.grace) = (Some(ms(400)), ms(100));
    let run = job.run("answer { tokens 2; gap \"1h\"; }");
    assert_eq!((run.requests.len(), count(&run, LiveOutcome::Canceled)), (2, 2));
    assert!(run.measured().all(|request| request.exchange.outputs().count() == 1));
    assert!(run.ended >= run.began().expect("it was measured"));
    assert!(matches!(LiveFailure::of(&run)[..], [LiveFailure::NothingCompleted { .. }]));
}

#[test]
fn a_signal_ends_the_run_and_what_was_measured_stays() {
    let plan = two().plan();
    let server = server("answer to=3\nanswer { tokens 2; gap \"1h\"; }");
    let mut completed = 0;
    let run = send(&plan, &server, |event, _| {
        completed += usize::from(matches!(event, LiveEvent::Ended(..)));
        completed == 3
    });
    assert!(run.is_interrupted);
    assert_eq!(count(&run, LiveOutcome::Completed), 3);
    assert_eq!(run.requests.len(), 3 + count(&run, LiveOutcome::Canceled));
    assert_eq!(LiveFailure::of(&run), []);
}

#[test]
fn a_server_that_is_not_there_fails_every_request_and_the_run_ends() {
    let gone = server("").url();
    let run = send_to(&two().with_lanes(2, ms(0)).plan(), gone, |_, _| false);
    assert_eq!((run.requests.len(), count(&run, LiveOutcome::Failed)), (8, 8));
    let kinds: Vec<_> = LiveErrors::of(&run).kinds().map(|(kind, _)| kind.to_owned()).collect();
    assert_eq!(kinds, ["connect"]);
    assert_eq!(run.tally.completed, 2, "failures end calls, not sessions");
}

#[test]
fn a_job_in_which_nothing_succeeded_has_failed_and_has_no_latencies() {
    let run =
        two().run("answer every=2 { status 503 }\nanswer { tokens 4; fault \"cut\" after=2; }");
    let failures = LiveFailure::of(&run);
    assert!(
        matches!(failures[..], [LiveFailure::NothingCompleted { sent: 8, .. }]),
        "{failures:?}"
    );
    let kinds: Vec<_> =
        LiveErrors::of(&run).kinds().map(|(kind, error)| (kind.to_owned(), error.count)).collect();
    assert_eq!(kinds, [("status-503".to_owned(), 4), ("truncated".to_owned(), 4)]);
    let metrics = LiveMetrics::of(&run, None, CountedBy::Server);
    let single = |family| metrics.figure(LiveName::single(family));
    assert_eq!(single(LiveFamily::Sent), Some(Figure::Count(8)));
    assert_eq!(single(LiveFamily::Failed), Some(Figure::Count(8)));
    assert_eq!(single(LiveFamily::Completed), Some(Figure::Count(0)));
    let of_success = [LiveFamily::Ttft, LiveFamily::E2e, LiveFamily::ChunkGap];
    assert!(metrics.figures().all(|(name, _)| !of_success.contains(&name.family())));
}

/// A server in virtual time that never ends what it took.
struct Never;

impl VirtualServer for Never {
    fn take(&mut self, _: Nanos, _: usize, _: &OutgoingRequest) {}

    fn next_at(&mut self) -> Option<Nanos> {
        None
    }

    fn go_on(&mut self) -> Result<Vec<Happened>, String> {
        Err("the request needs 7 KV blocks".to_owned())
    }
}

#[test]
fn a_server_in_virtual_time_that_can_never_go_on_says_why() {
    let ended = play(&captured(&[call("a", 0)]).plan(), &mut Never);
    assert_eq!(ended, Err("the request needs 7 KV blocks".to_owned()));
}
