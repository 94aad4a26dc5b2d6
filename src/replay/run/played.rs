//! A plan played in virtual time, against a server that answers in virtual time: the same decisions as those of a live run.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::record::{
    Channel, Delivery, Exchange, ExchangeError, LiveRequest, LiveRun, Phase, Reply, StreamEvent,
    Usage,
};
use crate::replay::OutgoingRequest;
use crate::replay::wire::{WireCall, WirePlan};
use crate::units::{Nanos, Tokens};

use super::core::{Action, CallId, Core, Ending, Rules, Topology};
use super::drive::{ending, given_up};
use super::planned::{topologies, traces};
use super::sender::Kept;

/// A server that answers in virtual time. Requests are called by the numbers that they are given here.
pub trait VirtualServer {
    /// Takes a request in at an instant, which is not before any that was asked for.
    fn take(&mut self, at: Nanos, number: usize, request: &OutgoingRequest);

    /// Returns when something happens next; `None` while nothing is in flight, or where what is will never end.
    fn next_at(&mut self) -> Option<Nanos>;

    /// Goes to that instant and says what happens there: tokens before ends.
    ///
    /// # Errors
    /// Why the server can never go on.
    fn go_on(&mut self) -> Result<Vec<Happened>, String>;
}

/// What happens at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// So many further tokens of an answer are there.
    Tokens(usize, u64),
    /// An answer is over.
    Ended(usize, VirtualEnd),
}

/// How an answer in virtual time ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VirtualEnd {
    /// It is whole.
    Answered {
        /// What it says.
        text: String,
        /// What the server counts.
        usage: Usage,
    },
    /// The server refuses the request.
    Refused(String),
}

/// Plays a plan to its end. Nothing takes time but the server: connections stand, and what is due is sent.
///
/// # Errors
/// Why the server could not go on.
pub fn play(plan: &WirePlan, server: &mut dyn VirtualServer) -> Result<LiveRun, String> {
    let topologies = topologies(plan);
    let kept = Kept::new(topologies.iter().map(Topology::slots).collect());
    let core = Core::new(Rules::of(plan), topologies, Nanos::ZERO);
    let played = Played { plan, server, core, kept, now: Nanos::ZERO, run: LiveRun::default() };
    played.until_over()
}

/// A run on its way.
struct Played<'a> {
    plan: &'a WirePlan,
    server: &'a mut dyn VirtualServer,
    core: Core,
    kept: Kept,
    now: Nanos,
    run: LiveRun,
}

/// Calls in flight, by the numbers of their requests.
type Flight = BTreeMap<usize, CallId>;

impl Played<'_> {
    /// Goes on until all is over.
    fn until_over(mut self) -> Result<LiveRun, String> {
        let mut flight = Flight::new();
        loop {
            for action in self.core.due(self.now) {
                if self.act(action, &mut flight) {
                    self.run.ended = self.now;
                    self.run.tally = self.core.tally();
                    self.run.traces = traces(self.plan);
                    return Ok(self.run);
                }
            }
            let served = self.server.next_at();
            let woken = self.core.wake();
            let next = served.into_iter().chain(woken).min();
            let Some(next) = next else {
                // What is in flight never ends, or all would be over: the server says why.
                self.server.go_on()?;
                return Err(
                    "the server never ends what is in flight, and does not say why".to_owned()
                );
            };
            self.now = self.now.max(next);
            if served.is_some_and(|at| at <= self.now) {
                for happened in self.server.go_on()? {
                    self.hear(happened, &mut flight);
                }
            }
        }
    }

    /// Does what is to be done; returns whether all is over.
    fn act(&mut self, action: Action, flight: &mut Flight) -> bool {
        match action {
            Action::Send { call, tree, lane, intended } => {
                let number = self.run.requests.len();
                let replies = self.kept.of(tree, call);
                let warmup = (call.phase != Phase::Profile).then(|| call.phase.name());
                let wire = WireCall { instance: call.instance, node: call.node, warmup };
                let request = self.plan.request(&wire, &|of| replies.get(&of).map(Rc::as_ref));
                self.server.take(self.now, number, &request);
                flight.insert(number, call);
                self.run.requests.push(sent((call, tree, lane), intended, self.now));
            }
            Action::Cancel(call) => {
                let number = flight.iter().find(|(_, of)| **of == call).map(|(number, _)| *number);
                if let Some(number) = number {
                    flight.remove(&number);
                    self.run.requests[number].exchange.end = self.now;
                    self.core.ended(call, self.now, Ending::Canceled);
                }
            }
            Action::Begin(phase, at) => self.run.phases.push((phase, at)),
            Action::Forget(instance) => self.kept.forget(instance),
            Action::Abort(call) => {
                let spoilt = |it: &LiveRequest| {
                    (it.instance, it.call, it.phase) == (call.instance, call.node.0, call.phase)
                };
                self.run.aborted = self.run.requests.iter().rposition(spoilt);
            }
            Action::Finish => return true,
        }
        false
    }

    /// Takes in what happened at the server. What was given up is no one's any more.
    fn hear(&mut self, happened: Happened, flight: &mut Flight) {
        match happened {
            Happened::Tokens(number, count) => {
                let Some(call) = flight.get(&number) else { return };
                let exchange = &mut self.run.requests[number].exchange;
                if exchange.events.is_empty() {
                    self.core.first_token(*call, self.now);
                    (exchange.first_byte, exchange.headers) = (Some(self.now), Some(self.now));
                }
                let tokens = Some(Tokens::new(1));
                let event =
                    StreamEvent { at: self.now, channel: Channel::Content, tokens, bytes: 1 };
                exchange.events.extend((0..count).map(|_| event));
            }
            Happened::Ended(number, end) => {
                let Some(call) = flight.remove(&number) else { return };
                let request = &mut self.run.requests[number];
                request.exchange.end = self.now;
                match end {
                    VirtualEnd::Answered { text, usage } => {
                        request.counted = usage.output;
                        request.exchange.usage = Some(usage);
                        request.exchange.status = Some(200);
                        request.exchange.outcome = Ok(());
                        let reply = Reply { text, ..Reply::default() };
                        self.kept.keep(request.trace, call, &reply);
                    }
                    VirtualEnd::Refused(message) => {
                        let refused =
                            ExchangeError::Status { status: 400, message, retry_after: None };
                        request.exchange.outcome = Err(refused);
                    }
                }
                let ending = ending(request.outcome(), &request.exchange);
                self.core.ended(call, self.now, ending);
            }
        }
    }
}

/// Returns a request that was sent over a connection that stood.
fn sent((call, tree, lane): (CallId, usize, usize), intended: Nanos, now: Nanos) -> LiveRequest {
    let exchange = Exchange { sent: Some(now), delivery: Delivery::Streamed, ..given_up(now, now) };
    LiveRequest {
        instance: call.instance,
        trace: tree,
        call: call.node.0,
        lane,
        phase: call.phase,
        intended,
        scheduled: now,
        exchange,
        counted: None,
    }
}
