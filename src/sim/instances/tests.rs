//! Lanes that begin plays in their middle, by hand.

use std::rc::Rc;

use crate::plan::Compat;
use crate::record::{InstanceStatus, InstancesRecord, Outcome};
use crate::sim::error::SimError;
use crate::sim::traffic::Turn;
use crate::units::{BlockSize, SimTime, Tokens};
use crate::workload::{
    Corpus, CorpusRow, EdgeRelation, EdgeTrigger, Play, PlayEdge, PlayNode, Plays, Profile,
    SessionName,
};

use super::{Beginning, Cuts, Directed, Instances, Pace};

/// Two plays, each of one conversation with requests at 0, 100 and 200 ms that take 50 ms; each waits for the one before.
fn corpus(plays: usize, blocks: u64) -> Corpus {
    let mut corpus = Corpus::new(BlockSize::new(4).expect("positive"));
    let (mut nodes, mut all) = (Vec::new(), Vec::new());
    for play in 0..plays {
        let session = corpus.add_session(SessionName::Named(format!("s{play}")));
        let first = nodes.len();
        for (turn, start) in [0.0, 100.0, 200.0].into_iter().enumerate() {
            let row = CorpusRow {
                line: nodes.len() as u64 + 1,
                arrival_ms: Some(start),
                input: Tokens::new(4 * blocks),
                output: Tokens::new(2),
                session,
                delay_ms: 0.0,
                request_id: Some(format!("p{play}r{turn}")),
            };
            corpus.add_row(&row, &(0..blocks).collect::<Vec<_>>());
            let before = nodes.len().checked_sub(1).filter(|_| turn > 0);
            nodes.push(PlayNode {
                play,
                model: "m".to_owned(),
                not_before_ms: start,
                recorded_ms: (start, Some(start + 50.0)),
                waits: before.map(|node| after(node, 50.0)).into_iter().collect(),
            });
        }
        all.push(Play {
            id: format!("p{play}"),
            nodes: (first..nodes.len()).collect(),
            roots: vec![first],
        });
    }
    corpus.with_plays(Plays::new(nodes, all).with_digest(Some("digest".to_owned())))
}

fn after(node: usize, delay_ms: f64) -> PlayEdge {
    let (trigger, relation) = (EdgeTrigger::Completion, EdgeRelation::Sequence);
    PlayEdge { node, trigger, relation, delay_ms }
}

fn cuts(corpus: &Corpus, seed: u64, lanes: u32) -> Cuts<'_> {
    let reader = corpus.reader();
    Cuts::new(&reader, corpus.plays().expect("plays"), (seed, lanes)).expect("a digest")
}

fn at(ms: f64) -> SimTime {
    SimTime::from_ms(ms).expect("a time")
}

/// Instance, node and arrival of each request that was released.
type Sent = Vec<(u64, usize, f64)>;

/// Plays lanes whose requests all take `took` ms.
struct Stage<'a> {
    lanes: Instances<'a>,
    took: f64,
    now: SimTime,
    flying: Vec<(SimTime, Turn)>,
    sent: Sent,
    cuts: Rc<Cuts<'a>>,
}

impl<'a> Stage<'a> {
    fn new(corpus: &'a Corpus, lanes: u32, pace: Pace) -> Self {
        let cuts = Rc::new(cuts(corpus, 7, lanes));
        let lanes = Instances::new(Rc::clone(&cuts), pace).expect("lanes");
        Self { lanes, took: 10.0, now: SimTime::ZERO, flying: Vec::new(), sent: Vec::new(), cuts }
    }

    /// Goes on until the run is over.
    fn run(mut self) -> Result<(Sent, InstancesRecord), SimError> {
        loop {
            loop {
                let now = self.now;
                let (ended, left): (Vec<_>, Vec<_>) =
                    self.flying.drain(..).partition(|(end, _)| *end <= now);
                self.flying = left;
                for (end, turn) in &ended {
                    let output = if turn.number > 0 { 1 } else { 2 };
                    self.lanes.end(*turn, Outcome::Completed, (output, *end));
                }
                let directed = self.lanes.direct(self.now, self.flying.is_empty())?;
                let mut changed = !ended.is_empty() || directed != Directed::Nothing;
                if self.lanes.is_expired(self.now) {
                    break;
                }
                while let Some((turn, ready)) = self.lanes.release(self.now) {
                    changed = true;
                    let (slot, node) = self.cuts.request(turn.session);
                    self.sent.push((slot, node, ready.as_ms()));
                    self.flying.push((at(self.now.as_ms() + self.took), turn));
                }
                if !changed {
                    break;
                }
            }
            if self.lanes.is_done(self.now) {
                let canceled: Vec<Turn> = self.flying.iter().map(|(_, turn)| *turn).collect();
                for turn in canceled {
                    self.lanes.end(turn, Outcome::Canceled, (0, self.now));
                }
                return Ok((self.sent, self.lanes.record(self.now)));
            }
            let end = self.flying.iter().map(|(end, _)| *end).min();
            let next = [end, self.lanes.next_ready()].into_iter().flatten().min();
            self.now = next.expect("something happens next");
        }
    }
}

fn pace(profile: Option<Profile>) -> Pace {
    Pace { speedup: 1.0, prepares: false, profile, compat: Compat::V0_13_0 }
}

fn window(duration_ms: f64) -> Profile {
    Profile { duration_ms, ..Profile::default() }
}

#[test]
fn cuts_are_drawn_from_the_middle_half_by_seed_lane_and_ordinal() {
    let corpus = corpus(2, 2);
    let mut seen = Vec::new();
    for seed in 0..50 {
        let cuts = cuts(&corpus, seed, 3);
        for lane in 0..3 {
            let one = cuts.instance((lane, 0), None, Beginning::Drawn).expect("a cut");
            assert!((50.0..=150.0).contains(&one.cut_ms), "{}", one.cut_ms);
            assert_eq!(one.identity.play, lane as usize % 2);
            seen.push(one.cut_ms.to_bits());
        }
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 150);
}

/// A cut at 120: two requests are history, the last is 80 ms away, whatever its wait says; the second is the primer.
#[test]
fn a_cut_leaves_what_is_behind_it_with_what_is_left_of_its_waits() {
    let corpus = corpus(1, 2);
    let cuts = cuts(&corpus, 1, 1);
    let one = cuts.instance((0, 0), None, Beginning::At(120.0)).expect("a cut");
    let left: Vec<(bool, f64, usize)> =
        one.requests.iter().map(|r| (r.is_history, r.remaining_ms, r.pending.len())).collect();
    assert_eq!(left, [(true, 0.0, 0), (true, 0.0, 0), (false, 80.0, 0)]);
    assert_eq!(one.primers, [1]);
    let early = cuts.instance((0, 0), None, Beginning::At(60.0)).expect("a cut");
    let left: Vec<(f64, usize)> =
        early.requests.iter().map(|r| (r.remaining_ms, r.pending.len())).collect();
    assert_eq!(left, [(0.0, 0), (40.0, 0), (140.0, 1)]);
    assert!(cuts.instance((0, 0), None, Beginning::At(201.0)).is_err());
}

/// 2^31 blocks a play leave room for two instances, and each has blocks of its own.
#[test]
fn instances_have_blocks_and_requests_of_their_own_until_names_run_out() {
    let corpus = corpus(2, 3);
    let cuts = cuts(&corpus, 1, 2);
    assert_eq!((cuts.block(0, 2), cuts.block(1, 0)), (2, 3));
    assert_ne!(cuts.number(0, 5), cuts.number(1, 0));
    assert_eq!(cuts.request(cuts.number(3, 4)), (3, 4));
    assert_eq!(cuts.name(3), "agentic-v1:digest:1:1:1");
    assert!(cuts.instance((0, 1 << 31), None, Beginning::First).is_err());
}

#[test]
fn without_a_window_each_lane_runs_what_is_left_of_its_play_once() {
    let corpus = corpus(2, 2);
    let (sent, record) = Stage::new(&corpus, 2, pace(None)).run().expect("runs");
    let left = record.instances.iter().flat_map(|one| &one.requests);
    assert_eq!(sent.len(), left.filter(|part| !part.is_history).count());
    assert!(record.instances.iter().all(|one| one.status == InstanceStatus::Completed));
    // Sent, ended and cleaned up, and each instance is over.
    assert_eq!(record.events, 3 * sent.len() as u64 + 2);
}

/// One primer and ten repeats of it in each lane, one after the other; what is left waits from the barrier on.
#[test]
fn preparation_is_serial_in_each_lane_and_ends_when_the_engines_are_idle() {
    let corpus = corpus(2, 2);
    let prepared = Pace { prepares: true, ..pace(None) };
    let (sent, record) = Stage::new(&corpus, 2, prepared).run().expect("runs");
    let preparation = record.preparation.expect("prepared");
    assert_eq!(preparation.requests.len(), 22);
    assert_eq!(preparation.ended, at(110.0));
    let lane: Vec<f64> =
        preparation.requests[..11].iter().map(|request| request.sent.as_ms()).collect();
    assert_eq!(lane, (0..11).map(|n| f64::from(n) * 10.0).collect::<Vec<_>>());
    assert!(preparation.requests[0].is_primer && !preparation.requests[1].is_primer);
    let (plain, _) = Stage::new(&corpus, 2, pace(None)).run().expect("runs");
    let rebased: Sent =
        plain.into_iter().map(|(slot, node, ready)| (slot, node, ready + 110.0)).collect();
    assert_eq!(sent[22..].len(), rebased.len());
    for (found, expected) in sent[22..].iter().zip(&rebased) {
        assert_eq!((found.0, found.1), (expected.0, expected.1));
        assert!((found.2 - expected.2).abs() < 1e-9);
    }
}

#[test]
fn a_barrier_waits_for_engines_and_a_request_that_fails_ends_the_run() {
    let corpus = corpus(1, 2);
    let prepared = Pace { prepares: true, ..pace(None) };
    let mut lanes = Instances::new(Rc::new(cuts(&corpus, 7, 1)), prepared).expect("lanes");
    for turn in 0..11 {
        let (sent, _) = lanes.release(at(f64::from(turn))).expect("one after the other");
        assert!(lanes.release(at(f64::from(turn))).is_none());
        lanes.end(sent, Outcome::Completed, (1, at(f64::from(turn) + 1.0)));
        let is_idle = turn < 10;
        assert_eq!(lanes.direct(at(f64::from(turn) + 1.0), is_idle), Ok(Directed::Changed));
    }
    assert_eq!(lanes.direct(at(20.0), false), Ok(Directed::Nothing));
    assert_eq!(lanes.direct(at(21.0), true), Ok(Directed::Began));
    let mut lanes = Instances::new(Rc::new(cuts(&corpus, 7, 1)), prepared).expect("lanes");
    let (sent, _) = lanes.release(at(0.0)).expect("the primer");
    lanes.end(sent, Outcome::Rejected, (0, at(1.0)));
    assert!(lanes.direct(at(1.0), true).is_err());
}

/// Lanes draw plays from one line: the cut ones first, then whole ones under new names; at the end of the window nothing is sent.
#[test]
fn a_window_gives_each_lane_fresh_instances_of_the_next_plays() {
    let corpus = corpus(3, 2);
    let (sent, record) = Stage::new(&corpus, 2, pace(Some(window(1000.0)))).run().expect("runs");
    let drawn: Vec<usize> = record.instances.iter().map(|one| one.play).collect();
    let expected: Vec<usize> = (0..drawn.len()).map(|n| n % 3).collect();
    assert_eq!(drawn, expected);
    let whole = record.instances.iter().skip(2);
    assert!(whole.clone().all(|one| one.requests.iter().all(|part| !part.is_history)));
    let mut names: Vec<&str> = record.instances.iter().map(|one| one.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), record.instances.len());
    assert!(sent.iter().all(|(_, _, ready)| *ready < 1000.0));
    let profile = record.profile.expect("a window");
    // What was in flight at the end took less than its 10 ms.
    assert!(profile.finished >= at(1000.0) && profile.finished < at(1010.0));
    assert_eq!(profile.drawn, record.instances.len() as u64);
    let left: usize = record.instances.iter().flat_map(|one| &one.requests).count();
    let history = record.instances.iter().flat_map(|one| &one.requests);
    let history = history.filter(|part| part.is_history).count() as u64;
    assert_eq!(profile.sent + profile.never_sent + history, left as u64);
}

/// Requests of 400 ms: those in flight at the end of the window have 30 ms, and are given up then.
#[test]
fn what_is_in_flight_at_the_end_has_a_grace_and_is_given_up_then() {
    let corpus = corpus(1, 2);
    let asked = Profile { grace_ms: 30.0, ..window(300.0) };
    let mut stage = Stage::new(&corpus, 1, pace(Some(asked)));
    stage.took = 400.0;
    let (sent, record) = stage.run().expect("runs");
    let profile = record.profile.expect("a window");
    assert_eq!((sent.len(), profile.sent, profile.completed, profile.canceled), (1, 1, 0, 1));
    assert_eq!(profile.finished, at(330.0));
    assert_eq!(record.instances[0].status, InstanceStatus::Incomplete);
}

/// 90 ms between requests of a lane are cut to 20: by the cap of the one tree there is, or by that of all.
#[test]
fn waits_are_cut_short_where_nothing_was_in_flight_for_as_long_as_a_cap() {
    let corpus = corpus(1, 2);
    for (tree, global) in [(20.0, 1000.0), (1000.0, 20.0)] {
        let asked = Profile { tree_idle_cap_ms: tree, global_idle_cap_ms: global, ..window(500.0) };
        let (sent, record) = Stage::new(&corpus, 1, pace(Some(asked))).run().expect("runs");
        let fresh: Vec<f64> =
            sent.iter().filter(|(slot, _, _)| *slot == 1).map(|(_, _, ready)| *ready).collect();
        assert_eq!(fresh.len(), 3);
        // The first takes 10; the next is due 90 later by the recording, and 50 later by its wait.
        assert!((fresh[1] - fresh[0] - 30.0).abs() < 1e-9, "{fresh:?}");
        let shifts = record.profile.expect("a window").shifts;
        assert_eq!(shifts[0].instance.is_some(), tree < global);
    }
}

/// In a window the newer reference lets a request follow the one that it waits for, and not the clock of the recording.
#[test]
fn the_newer_reference_follows_events_where_the_older_keeps_recorded_times() {
    let corpus = corpus(1, 2);
    let gap = |compat| {
        let pace = Pace { compat, ..pace(Some(window(500.0))) };
        let (sent, _) = Stage::new(&corpus, 1, pace).run().expect("runs");
        let fresh: Vec<f64> =
            sent.iter().filter(|(slot, _, _)| *slot == 1).map(|(_, _, ready)| *ready).collect();
        fresh[1] - fresh[0]
    };
    assert!((gap(Compat::V0_13_0) - 100.0).abs() < 1e-9);
    assert!((gap(Compat::Dev87) - 60.0).abs() < 1e-9);
}

#[test]
fn lanes_that_run_through_the_recording_in_no_time_are_refused() {
    let plays = vec![Play { id: "p".to_owned(), nodes: vec![0], roots: vec![0] }];
    let node = PlayNode {
        play: 0,
        model: "m".to_owned(),
        not_before_ms: 0.0,
        recorded_ms: (0.0, None),
        waits: Vec::new(),
    };
    let mut corpus = Corpus::new(BlockSize::new(4).expect("positive"));
    let row = CorpusRow {
        line: 1,
        arrival_ms: None,
        input: Tokens::new(4),
        output: Tokens::new(0),
        session: 0,
        delay_ms: 0.0,
        request_id: Some("r".to_owned()),
    };
    corpus.add_session(SessionName::Named("s".to_owned()));
    corpus.add_row(&row, &[1]);
    let corpus = corpus.with_plays(Plays::new(vec![node], plays).with_digest(Some("d".to_owned())));
    let mut stage = Stage::new(&corpus, 1, pace(Some(window(100.0))));
    stage.took = 0.0;
    let refused = stage.run().expect_err("it never ends");
    assert!(refused.to_string().contains("in no time"), "{refused}");
}
