//! Sessions and closed loops, and the transcript's digest.

use std::sync::atomic::AtomicBool;

use crate::digest::Sha256;
use crate::record::Outcome;
use crate::sim::engine::Advance;
use crate::sim::{Options, SimError, run};
use crate::units::{SimTime, Tokens};
use crate::workload::{Load, Rate, SessionShape, Source, Stop, StopCount};

use super::support::Small;

/// Two sessions of three turns that each add 8 tokens and answer 4; the prefix cache holds everything.
fn sessions(load: Load) -> Small {
    let shape = SessionShape {
        new_input_per_turn: Tokens::new(8),
        output_per_turn: Tokens::new(4),
        turns: 3,
        shared_prefix_ratio: 0.0,
        prefix_groups: 0,
        prefix_seed: None,
        inter_turn_delay_ms: 5.0,
    };
    Small::new(10.0, 2.0).blocks(64).job(|job| {
        job.workload.source = Source::SyntheticSession(shape);
        job.workload.load = load;
        job.workload.stop = Stop { count: Some(StopCount::Sessions(2)), virtual_time: None };
        job.trace = None;
    })
}

/// Turn k holds all that was said before it and starts a think time after turn k−1 ended: 8, 20 and 32 tokens, of which the
/// blocks of the turn before are cached up to its last, dangling token.
#[test]
fn a_session_grows_by_what_was_said_and_thinks_between_turns() {
    let ran = sessions(Load::Concurrency { concurrency: 1 }).run();
    let asked: Vec<(u64, u32, u64, f64)> = ran
        .record
        .requests
        .iter()
        .map(|r| (r.index, r.turn, r.input.get(), r.arrival.as_ms()))
        .collect();
    let first = [(0, 0, 8, 0.0), (1, 1, 20, 21.0), (2, 2, 32, 42.0)];
    let second = [(3, 0, 8, 58.0), (4, 1, 20, 79.0), (5, 2, 32, 100.0)];
    assert_eq!(asked, [first, second].concat());
    assert_eq!(ran.request(1).reused_first(), Tokens::new(8));
    assert_eq!(ran.request(2).reused_first(), Tokens::new(20));
}

/// A closed loop of one holds its slot through think time: the second session starts when the first has ended.
#[test]
fn a_closed_loop_finishes_a_session_before_it_starts_another() {
    let ran = sessions(Load::Concurrency { concurrency: 1 }).run();
    assert_eq!(ran.request(2).terminal, Some(ran.request(3).arrival));
    let two = sessions(Load::Concurrency { concurrency: 2 }).run();
    assert_eq!(two.request(3).arrival, SimTime::ZERO);
}

#[test]
fn an_open_loop_starts_sessions_by_the_clock() {
    let rate = Rate::new(50.0).expect("a rate");
    let ran = sessions(Load::ConstantRate { rate }).run();
    assert_eq!(ran.request(3).arrival.as_ms().to_bits(), 20.0_f64.to_bits());
}

/// The reference goes on with a session whose turn was rejected.
#[test]
fn a_rejected_turn_is_followed_by_the_next() {
    let small = Small::new(10.0, 2.0).blocks(4).request(0.0, 20, 1).request(0.0, 4, 1).turn();
    let ran = small.run();
    assert_eq!(ran.request(0).outcome, Some(Outcome::Rejected));
    assert_eq!(ran.request(1).outcome, Some(Outcome::Completed));
    assert_eq!(ran.request(1).turn, 1);
}

/// Later turns wait for the earlier one, whatever the file's timestamps say, and the next session's rows stay in order.
#[test]
fn rows_beyond_the_stop_are_never_asked() {
    let small = Small::new(10.0, 2.0).request(0.0, 4, 1).request(1.0, 4, 1).request(2.0, 4, 1);
    let small = small.job(|job| job.workload.stop.count = Some(StopCount::Requests(2)));
    assert_eq!(small.run().record.requests.len(), 2);
}

#[test]
fn speedup_divides_arrivals_and_the_first_row_is_the_origin() {
    let small = Small::new(10.0, 2.0).request(100.0, 4, 1).request(140.0, 4, 1);
    let small = small.job(|job| job.workload.load = Load::TraceTimestamps { speedup: 4.0 });
    let ran = small.run();
    assert_eq!(ran.request(0).arrival, SimTime::ZERO);
    assert_eq!(ran.request(1).arrival.as_ms().to_bits(), 10.0_f64.to_bits());
}

#[test]
fn the_transcript_digest_is_that_of_its_lines_kept_or_not() {
    let small = Small::new(10.0, 2.0).request(0.0, 4, 9).request(5.0, 8, 3);
    let kept = small.try_run(Advance::Grouped).expect("runs").record.transcript;
    let lines = kept.lines.expect("asked for");
    let lines = lines.to_vec().expect("memory");
    assert_eq!(kept.digest, Sha256::of(&lines));
    assert_eq!(kept.count, String::from_utf8(lines).expect("JSON").lines().count() as u64);
    let sessions = sessions(Load::Concurrency { concurrency: 2 });
    let digest = |options| run(&sessions.job, None, &options).expect("runs").transcript.digest;
    let kept = digest(Options { keep_events: true, ..Options::default() });
    assert_eq!(kept, digest(Options::default()));
    assert_ne!(kept, digest(Options { no_transcript: true, ..Options::default() }));
}

/// The requests of a job are those of its workload: another seed moves Poisson arrivals, another stream name too.
#[test]
fn poisson_arrivals_follow_seed_and_stream_and_nothing_else() {
    let rate = Rate::new(50.0).expect("a rate");
    let arrivals = |seed: Option<u64>, scenario: u64, stream: &str| {
        let small = sessions(Load::Poisson { rate, seed }).job(|job| {
            job.seed = scenario;
            stream.clone_into(&mut job.workload.stream);
            job.workload.stop.count = Some(StopCount::Sessions(20));
        });
        let ran = small.run();
        ran.record.requests.iter().map(|r| r.arrival.as_ms().to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(Some(7), 1, "a"), arrivals(Some(7), 2, "b"));
    assert_eq!(arrivals(None, 1, "a"), arrivals(None, 1, "a"));
    assert_ne!(arrivals(None, 1, "a"), arrivals(None, 2, "a"));
    assert_ne!(arrivals(None, 1, "a"), arrivals(None, 1, "b"));
}

/// Nanoseconds read as milliseconds reach beyond what a report can hold: an error, not a saturated clock.
#[test]
fn a_clock_beyond_584_years_is_an_error() {
    let small = Small::new(10.0, 2.0).request(0.0, 4, 1).request(3e13, 4, 1);
    assert!(matches!(small.try_run(Advance::Grouped), Err(SimError::ClockOverflow { .. })));
    let slow = Small::new(1e15, 2.0).request(0.0, 4, 1);
    assert!(matches!(slow.try_run(Advance::Grouped), Err(SimError::ClockOverflow { .. })));
}

#[test]
fn a_think_time_that_is_no_time_is_an_error() {
    let small = Small::new(10.0, 2.0).request(0.0, 4, 1).request(0.0, 4, 1).turn();
    let small = small.job(|job| job.workload.load = Load::TraceTimestamps { speedup: 1e-308 });
    let small = small.thinking(100_000.0);
    assert!(matches!(small.try_run(Advance::Grouped), Err(SimError::BadWorkload { .. })));
}

/// A run whose passes take no time never leaves its first instant; it stops all the same when someone asks.
#[test]
fn a_run_that_takes_no_virtual_time_can_be_interrupted() {
    let stop = AtomicBool::new(true);
    let small = Small::new(0.0, 0.0).request(0.0, 4, 10_000);
    let small = small.blocks(4_000);
    let asked = Options { stop: Some(&stop), ..Options::default() };
    assert_eq!(small.run_with(&asked).err(), Some(SimError::Interrupted));
}

/// At the cut the decode pass in flight is not an event, and each rank's line says what that rank holds.
#[test]
fn the_transcript_of_a_cut_ends_with_what_had_happened() {
    let cut = SimTime::from_ms(15.0).expect("a time");
    let small = Small::new(10.0, 2.0).worker(|worker| worker.parallelism.replicas = 2);
    let small = small.job(|job| job.workload.stop.virtual_time = Some(cut));
    let ran = small.request(0.0, 4, 9).request(0.0, 12, 9).run();
    let lines = ran.record.transcript.lines.expect("kept").to_vec().expect("memory");
    let lines = String::from_utf8(lines).expect("JSON");
    assert!(
        lines.contains(r#""event":"decode","from_ns":10000000,"passes":2,"rank":0"#),
        "{lines}"
    );
    assert!(lines.contains(r#""blocks_held":2,"event":"cut","output":3,"rank":0"#), "{lines}");
    assert!(lines.contains(r#""blocks_held":4,"event":"cut","output":3,"rank":1"#), "{lines}");
}
