//! The loop with a sender that answers from a script. Orders, counts and "not before" are judged, never how long something took.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use super::core::{CallId, Core, Limits, Pacing, Ramp, Rules, Supply, Topology};
use super::drive::{Loop, Texts, given_up};
use super::progress::LiveEvent;
use super::sender::{Kept, Replies, Sender, Sending};
use crate::graph::NodeIndex;
use crate::record::{
    Channel, Exchange, ExchangeError, LiveOutcome, LiveRequest, LiveRun, Phase, Reply, StreamEvent,
};
use crate::replay::Wall;
use crate::replay::run::core::step::{after, beside, held, in_order, start};
use crate::units::Nanos;

/// What the script does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scripted {
    /// Answers with its node's number.
    Answers,
    /// Fails.
    Fails,
    /// Says one word and then nothing until it is given up.
    Hangs,
    /// Answers in one piece.
    AnswersAtOnce,
}

/// The calls that were sent, each with the answers that it was given.
type Given = Vec<(CallId, Vec<String>)>;

/// A sender that answers from a script, and remembers which answers it was given.
#[derive(Debug)]
struct Script {
    wall: Wall,
    of: BTreeMap<usize, Scripted>,
    given: RefCell<Given>,
    canceled: Notify,
    is_over: Cell<bool>,
}

impl Sender for Rc<Script> {
    fn send(
        &self,
        call: CallId,
        replies: &Replies,
        first_output: impl FnOnce(Nanos) + 'static,
    ) -> Sending {
        let texts = replies.values().map(|reply| reply.text.clone()).collect();
        self.given.borrow_mut().push((call, texts));
        let script = Self::clone(self);
        Box::pin(async move { script.play(call, first_output).await })
    }

    fn cancel(&self) {
        self.is_over.set(true);
        self.canceled.notify_waiters();
    }
}

impl Script {
    /// Plays the exchange of a call.
    async fn play(&self, call: CallId, first_output: impl FnOnce(Nanos)) -> Exchange {
        let begun = self.wall.now();
        let scripted = self.of.get(&call.node.0).copied().unwrap_or(Scripted::Answers);
        let mut exchange = given_up(begun, begun);
        exchange.sent = Some(begun);
        tokio::task::yield_now().await;
        let at = self.wall.now();
        let event = StreamEvent { at, channel: Channel::Content, tokens: None, bytes: 1 };
        if scripted != Scripted::Fails {
            exchange.events.push(event);
            first_output(at);
        }
        if scripted != Scripted::AnswersAtOnce {
            tokio::task::yield_now().await;
        }
        match scripted {
            Scripted::Answers | Scripted::AnswersAtOnce => {
                exchange.reply = Reply { text: call.node.0.to_string(), ..Reply::default() };
                exchange.outcome = Ok(());
            }
            Scripted::Fails => exchange.outcome = Err(ExchangeError::NoOutput),
            Scripted::Hangs if self.is_over.get() => {}
            Scripted::Hangs => self.canceled.notified().await,
        }
        exchange.end = self.wall.now();
        exchange
    }
}

/// The rules of a closed loop over so many traces, each sent once.
fn rules(lanes: usize, traces: usize) -> Rules {
    let limits = Limits { duration: None, requests: None, sessions: None, grace: Nanos::ZERO };
    Rules {
        lanes: Some(lanes),
        ramp: Ramp::default(),
        supply: Supply { draws: in_order(traces), arrivals: None, windows: Vec::new() },
        pacing: Pacing { speedup: 1.0, is_strict: false },
        idle_gap_cap: None,
        limits,
        pressure: None,
        primes: false,
    }
}

/// Runs and returns the run, which answers each call was given, and what was told.
fn run(
    rules: Rules,
    topologies: Vec<Topology>,
    of: &[(usize, Scripted)],
    stop_after: Option<usize>,
) -> (LiveRun, Given, Vec<LiveEvent>) {
    let wall = Wall::start();
    let slots = topologies.iter().map(Topology::slots).collect();
    let script = Rc::new(Script {
        wall,
        of: of.iter().copied().collect(),
        given: RefCell::default(),
        canceled: Notify::new(),
        is_over: Cell::new(false),
    });
    let stop = AtomicBool::new(false);
    let mut told = Vec::new();
    let mut listener = |event| {
        told.push(event);
        let sent = told.iter().filter(|event| matches!(event, LiveEvent::Sent(_))).count();
        if stop_after.is_some_and(|after| sent >= after) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let driver = Loop {
        core: Core::new(rules, topologies, wall.now()),
        sender: Rc::clone(&script),
        kept: Kept::new(slots),
        texts: Texts::Forgotten,
        wall,
        stop: &stop,
        listener: &mut listener,
    };
    let run = driver.block_on().expect("a thread");
    let given = script.given.borrow().clone();
    (run, given, told)
}

/// Turns of one conversation, each so long after the one before.
fn chain(delays: &[u64]) -> Topology {
    let step = |(index, delay): (usize, &u64)| match index {
        0 => start(*delay),
        _ => after(index - 1, *delay),
    };
    Topology::new(delays.iter().enumerate().map(step).collect())
}

#[test]
fn calls_are_sent_in_order_none_before_it_is_due_and_all_are_recorded() {
    let millisecond = 1_000_000;
    let traces = vec![chain(&[0, millisecond, 0]), chain(&[2 * millisecond, 0])];
    let (run, _, told) = run(rules(2, 2), traces, &[], None);
    assert_eq!(run.requests.len(), 5);
    for request in &run.requests {
        assert!(request.scheduled >= request.intended, "never early");
        assert!(request.exchange.begun >= request.scheduled);
        assert_eq!(request.outcome(), LiveOutcome::Completed);
    }
    let of = |instance| run.requests.iter().filter(move |request| request.instance == instance);
    assert_eq!(of(0).map(|request| request.call).collect::<Vec<_>>(), [0, 1, 2]);
    let first: Vec<_> = of(0).collect();
    let gap = first[1].intended.since(first[0].exchange.end);
    assert_eq!(gap, Some(Nanos::new(millisecond)), "computed from the end that was stamped");
    assert_eq!((told.len(), run.tally.completed), (11, 2));
    assert_eq!(run.phases.len(), 1);
}

#[test]
fn prompts_are_given_the_answers_of_their_ancestors_and_failed_ones_are_left_out() {
    let steps = vec![start(0), after(0, 0), held(after(1, 0), &[0, 1]), held(after(2, 0), &[2])];
    let (run, given, _) =
        run(rules(1, 1), vec![Topology::new(steps)], &[(1, Scripted::Fails)], None);
    let texts: Vec<Vec<String>> = given.into_iter().map(|(_, texts)| texts).collect();
    assert_eq!(texts, [vec![], vec![], vec!["0".to_owned()], vec!["2".to_owned()]]);
    let is_forgotten = |it: &LiveRequest| it.exchange.reply == Reply::default();
    assert!(run.requests.iter().all(is_forgotten), "nobody counts it, and no prompt is left");
    assert_eq!(run.requests[1].outcome(), LiveOutcome::Failed);
}

#[test]
fn a_signal_ends_the_run_and_keeps_what_was_seen() {
    let traces = (0..50).map(|_| chain(&[0, 0])).collect();
    let (run, ..) = run(rules(2, 50), traces, &[(1, Scripted::Hangs)], Some(4));
    assert!(run.is_interrupted);
    let canceled: Vec<_> =
        run.requests.iter().filter(|it| it.outcome() == LiveOutcome::Canceled).collect();
    assert_eq!((run.requests.len(), canceled.len()), (4, 2));
    assert!(canceled.iter().all(|request| request.exchange.events.len() == 1), "and the word said");
    assert_eq!(run.tally.cut, 2);
}

#[test]
fn calls_of_a_warm_up_that_hang_are_given_up_and_the_run_goes_on() {
    let mut rules = rules(1, 1);
    // Each phase lasts longer than a busy machine keeps this thread from its first call, and ends by itself.
    let span = Some(Nanos::new(250_000_000));
    (rules.pressure, rules.limits.duration) = (span, span);
    let (run, ..) = run(rules, vec![chain(&[0])], &[(0, Scripted::Hangs)], None);
    let phases: Vec<Phase> = run.phases.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(phases, [Phase::Warmup, Phase::Profile]);
    let sent: Vec<_> = run.requests.iter().map(|it| (it.phase, it.call)).collect();
    assert_eq!(sent, [(Phase::Warmup, 0), (Phase::Profile, 0)]);
    let measured = run.ended.since(run.began().expect("it was measured")).expect("not before");
    assert!(run.client.observed <= measured, "the warm-up says nothing of the client");
}

#[test]
fn no_end_overtakes_the_first_token_that_came_with_it() {
    let delay = Nanos::new(200_000);
    let count = 40;
    let steps =
        (0..count).map(|at| if at == 0 { start(0) } else { beside(at - 1, delay) }).collect();
    let at_once: Vec<_> = (0..count).map(|at| (at, Scripted::AnswersAtOnce)).collect();
    let (run, ..) = run(rules(1, 1), vec![Topology::new(steps)], &at_once, None);
    for two in run.requests.windows(2) {
        let first = two[0].exchange.events[0].at;
        assert_eq!(two[1].intended.since(first), Some(delay), "after the first token");
    }
}

#[test]
fn a_rate_is_kept_by_absolute_instants_and_a_late_loop_forfeits_nothing() {
    // LOAD L1, L2 and L5: 300 calls, one every 200 µs from one start.
    let count = 300;
    let mut rules = rules(1, count);
    let arrivals = (0..count).map(|at| Nanos::new(u64::try_from(at).expect("small") * 200_000));
    (rules.lanes, rules.supply.arrivals) = (None, Some(arrivals.collect()));
    let (run, ..) = run(rules, (0..count).map(|_| chain(&[0])).collect(), &[], None);
    assert_eq!(run.requests.len(), count);
    let began = run.began().expect("it was measured");
    for (at, request) in run.requests.iter().enumerate() {
        let due = began.get() + u64::try_from(at).expect("small") * 200_000;
        assert_eq!(request.intended.get(), due, "an instant of the schedule, whatever came before");
        assert!(request.scheduled >= request.intended, "never early");
    }
}

#[test]
fn what_was_asked_for_is_in_flight_and_nothing_caps_it() {
    // LOAD L6: 256 lanes, each with a call that hangs.
    let traces = (0..256).map(|_| chain(&[0])).collect();
    let (run, ..) = run(rules(256, 256), traces, &[(0, Scripted::Hangs)], Some(256));
    assert_eq!(run.requests.len(), 256);
    let last_sent = run.requests.iter().map(|request| request.scheduled).max();
    let first_end = run.requests.iter().map(|request| request.exchange.end).min();
    assert!(last_sent <= first_end, "all at once");
    assert_eq!(NodeIndex(run.requests[255].call), NodeIndex(0));
}
