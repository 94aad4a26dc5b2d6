//! The loop between what is decided, the timer and the client.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use crate::record::{
    Delivery, Exchange, ExchangeError, LiveOutcome, LiveRequest, LiveRun, Phase, Reply,
};
use crate::replay::Wall;
use crate::units::Nanos;

use super::core::{Action, CallId, Core, Ending};
use super::health::Watch;
use super::pacer::Pacer;
use super::progress::LiveEvent;
use super::sender::{Kept, Sender};

/// The longest that the loop sleeps: then it looks for a signal, and how late it is itself is measured.
const HEARTBEAT: Nanos = Nanos::new(20_000_000);

/// The loop of a run.
pub(super) struct Loop<'a, S: Sender> {
    pub(super) core: Core,
    pub(super) sender: S,
    pub(super) kept: Kept,
    /// What becomes of the text of whole answers that no later prompt holds.
    pub(super) texts: Texts,
    pub(super) wall: Wall,
    pub(super) stop: &'a AtomicBool,
    pub(super) listener: &'a mut dyn FnMut(LiveEvent),
}

/// What becomes of the text of whole answers that no later prompt holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// It stays in the run, to be counted when nothing is in flight any more.
    Counted,
    /// Nobody asks for it.
    Forgotten,
}

/// What is in flight, and what has come back.
struct Flight {
    tasks: JoinSet<Exchange>,
    calls: BTreeMap<Id, CallId>,
    handles: BTreeMap<CallId, (usize, AbortHandle)>,
    tokens: UnboundedSender<(CallId, Nanos)>,
    arrived: UnboundedReceiver<(CallId, Nanos)>,
    /// Requests in the order of sending; the exchange of one that has not ended says that it was given up.
    requests: Vec<LiveRequest>,
    is_over: bool,
}

/// What came back of a task: what it saw, or that it was given up.
type Ended = Result<(Id, Exchange), JoinError>;

impl<S: Sender> Loop<'_, S> {
    /// Runs to the end on a runtime of one thread, which is this one.
    ///
    /// # Errors
    /// The answer of the system where it has no thread or no file descriptor to give.
    pub(super) fn block_on(self) -> std::io::Result<LiveRun> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        tokio::task::LocalSet::new().block_on(&runtime, self.run())
    }

    /// Runs to the end and returns what was observed; `traces` and counts of tokens are the caller's to add.
    ///
    /// # Errors
    /// The answer of the system where it has no thread for the timer.
    async fn run(mut self) -> std::io::Result<LiveRun> {
        let pacer = Pacer::start(self.wall)?;
        let mut watch = Watch::begin(self.wall);
        let mut flight = Flight::new();
        let mut run = LiveRun::default();
        loop {
            for action in self.core.due(self.wall.now()) {
                // What a warm-up asked of this thread says nothing of what is measured.
                if matches!(action, Action::Begin(Phase::Profile, _)) {
                    watch = Watch::begin(self.wall);
                }
                self.take(action, &mut flight, &mut run);
            }
            if flight.is_over {
                break;
            }
            let beat = Nanos::new(self.wall.now().get() + HEARTBEAT.get());
            pacer.set(self.core.wake().map_or(beat, |at| at.min(beat)));
            tokio::select! {
                sent = pacer.woken() => {
                    watch.lag(self.wall.now().since(sent).unwrap_or_default());
                }
                Some((call, at)) = flight.arrived.recv() => self.core.first_token(call, at),
                Some(ended) = flight.tasks.join_next_with_id() => {
                    // An answer can come whole: its first token is here already, and is before its end.
                    self.first_tokens(&mut flight);
                    self.end(ended, &mut flight);
                }
            }
            self.catch_up(&mut flight);
            if !run.is_interrupted && self.stop.load(Ordering::Relaxed) {
                run.is_interrupted = true;
                self.core.stop(self.wall.now());
            }
        }
        run.client = watch.end();
        run.ended = self.wall.now();
        run.tally = self.core.tally();
        run.requests = flight.requests;
        Ok(run)
    }

    /// Takes in all first tokens that have come by now.
    fn first_tokens(&mut self, flight: &mut Flight) {
        while let Ok((call, at)) = flight.arrived.try_recv() {
            self.core.first_token(call, at);
        }
    }

    /// Takes in all that has come back by now: first tokens before ends.
    fn catch_up(&mut self, flight: &mut Flight) {
        self.first_tokens(flight);
        while let Some(ended) = flight.tasks.try_join_next_with_id() {
            self.end(ended, flight);
        }
    }

    /// Does what is to be done.
    fn take(&mut self, action: Action, flight: &mut Flight, run: &mut LiveRun) {
        match action {
            Action::Send { call, tree, lane, intended } => {
                let scheduled = self.wall.now();
                let replies = self.kept.of(tree, call);
                let tokens = flight.tokens.clone();
                // A loop that is over takes in no more first tokens.
                let first_output = move |at| {
                    let _ = tokens.send((call, at));
                };
                let task = self.sender.send(call, &replies, first_output);
                let handle = flight.tasks.spawn_local(task);
                flight.calls.insert(handle.id(), call);
                flight.handles.insert(call, (flight.requests.len(), handle));
                let request = LiveRequest {
                    instance: call.instance,
                    trace: tree,
                    call: call.node.0,
                    lane,
                    phase: call.phase,
                    intended,
                    scheduled,
                    exchange: given_up(scheduled, scheduled),
                    counted: None,
                };
                flight.requests.push(request);
                (self.listener)(LiveEvent::Sent(call.phase));
            }
            Action::Cancel(call) if call.phase == Phase::Profile => self.sender.cancel(),
            Action::Cancel(call) => {
                if let Some((_, handle)) = flight.handles.get(&call) {
                    handle.abort();
                }
            }
            Action::Begin(phase, at) => {
                run.phases.push((phase, at));
                (self.listener)(LiveEvent::Began(phase));
            }
            Action::Forget(instance) => self.kept.forget(instance),
            Action::Abort(call) => {
                let spoilt = |request: &LiveRequest| {
                    (request.instance, request.call, request.phase)
                        == (call.instance, call.node.0, call.phase)
                };
                run.aborted = flight.requests.iter().rposition(spoilt);
            }
            Action::Finish => flight.is_over = true,
        }
    }

    /// Takes in what came back of a call.
    fn end(&mut self, ended: Ended, flight: &mut Flight) {
        let (id, exchange) = match ended {
            Ok((id, exchange)) => (id, Some(exchange)),
            Err(error) if error.is_cancelled() => (error.id(), None),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let Some(call) = flight.calls.remove(&id) else { return };
        let Some((index, _)) = flight.handles.remove(&call) else { return };
        let request = &mut flight.requests[index];
        request.exchange = exchange.unwrap_or_else(|| given_up(request.scheduled, self.wall.now()));
        let outcome = request.outcome();
        if outcome == LiveOutcome::Completed {
            self.kept.keep(request.trace, call, &request.exchange.reply);
        }
        if outcome != LiveOutcome::Completed || self.texts == Texts::Forgotten {
            request.exchange.reply = Reply::default();
        }
        self.core.ended(call, request.exchange.end, ending(outcome, &request.exchange));
        (self.listener)(LiveEvent::Ended(call.phase, outcome));
    }
}

impl Flight {
    /// Returns nothing in flight.
    fn new() -> Self {
        let (tokens, arrived) = unbounded_channel();
        Self {
            tasks: JoinSet::new(),
            calls: BTreeMap::new(),
            handles: BTreeMap::new(),
            tokens,
            arrived,
            requests: Vec::new(),
            is_over: false,
        }
    }
}

/// Returns what an outcome means for what waits for it.
pub(super) fn ending(outcome: LiveOutcome, exchange: &Exchange) -> Ending {
    match outcome {
        LiveOutcome::Failed if matches!(exchange.outcome, Err(ExchangeError::Unsendable(_))) => {
            Ending::Unsendable
        }
        LiveOutcome::Completed => Ending::Answered,
        LiveOutcome::Overflowed => Ending::ContextOverflow,
        LiveOutcome::Canceled => Ending::Canceled,
        LiveOutcome::Failed => Ending::Failed,
    }
}

/// Returns the exchange of a call of a warm-up that was given up: nothing is kept of it.
pub(super) fn given_up(begun: Nanos, end: Nanos) -> Exchange {
    Exchange {
        begun,
        connection: None,
        sent: None,
        first_byte: None,
        headers: None,
        delivery: Delivery::default(),
        events: Vec::new(),
        end,
        status: None,
        usage: None,
        finish_reason: None,
        reply: Reply::default(),
        outcome: Err(ExchangeError::Cancelled),
        is_retried: false,
        keepalives: 0,
    }
}
