//! When the requests of instances are released.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use crate::plan::Compat;
use crate::record::{InstancesRecord, Outcome, RequestRecord};
use crate::sim::error::SimError;
use crate::sim::traffic::Turn;
use crate::units::{SimDuration, SimTime};
use crate::workload::{EdgeRelation, EdgeTrigger, PlayEdge, Profile};

use super::preparation::Preparation;
use super::profile::Window;
use super::run::Run;
use super::{Beginning, Cuts, Instance, InstanceRequest};

/// How instances are paced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How much faster than recorded.
    pub(crate) speedup: f64,
    /// Whether caches are prepared first.
    pub(crate) prepares: bool,
    /// The measured window, where there is one.
    pub(crate) profile: Option<Profile>,
    /// The reference behaviour.
    pub(crate) compat: Compat,
}

/// What came of directing the lanes at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directed {
    /// Nothing new.
    Nothing,
    /// Something that may release requests.
    Changed,
    /// Preparation is over: what is measured begins now.
    Began,
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for another one.
    Blocked,
    /// It is ready, now or at a known time.
    Ready,
    /// It was released.
    Released,
    /// It has ended, or never will be sent.
    Over,
}

/// A request that waits for another one.
#[derive(Debug, Clone, Copy)]
struct Dependent {
    request: usize,
    delay: SimDuration,
}

/// A request of an instance that is left behind its cut.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) run: usize,
    /// Its number in the job.
    number: u64,
    pub(super) state: State,
    /// How many of those that it waits for have not happened.
    missing: usize,
    /// The latest of what is known to hold it back.
    pub(super) ready: SimTime,
    on_dispatch: Vec<Dependent>,
    on_completion: Vec<Dependent>,
}

/// A request that ended, before that takes effect.
#[derive(Debug, Clone, Copy)]
struct Ended {
    turn: Turn,
    outcome: Outcome,
    /// Tokens of its answer.
    output: u32,
    at: SimTime,
}

/// The release of the requests of instances.
#[derive(Debug)]
pub(crate) struct Instances<'a> {
    pub(super) cuts: Rc<Cuts<'a>>,
    pace: Pace,
    pub(super) requests: Vec<Request>,
    pub(super) runs: Vec<Run>,
    pub(super) ready: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Requests in flight, by number.
    flying: BTreeMap<u64, usize>,
    /// Requests that ended at one instant: they take effect in the order in which instances have them.
    ended: Vec<Ended>,
    /// Requests that are not over.
    left: usize,
    preparation: Option<Preparation>,
    pub(super) window: Option<Window>,
    pub(super) events: u64,
}

impl<'a> Instances<'a> {
    /// Returns the release of the first instance of each lane.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for an instance that cannot be cut and for times that are none.
    pub(crate) fn new(cuts: Rc<Cuts<'a>>, pace: Pace) -> Result<Self, SimError> {
        let lanes = cuts.lanes();
        let mut instances = Self {
            window: pace.profile.map(|asked| Window::new(asked, lanes)),
            cuts,
            pace,
            requests: Vec::new(),
            runs: Vec::new(),
            ready: BinaryHeap::new(),
            flying: BTreeMap::new(),
            ended: Vec::new(),
            left: 0,
            preparation: None,
            events: 0,
        };
        for lane in 0..lanes {
            let instance = instances.cuts.instance((lane, 0), None, Beginning::Drawn)?;
            instances.begin(instance, SimTime::ZERO)?;
        }
        if pace.prepares {
            let first = instances.runs.iter().map(|run| &run.instance);
            instances.preparation = Some(Preparation::new(&instances.cuts, first)?);
        } else if let Some(window) = &mut instances.window {
            window.open(SimTime::ZERO);
        }
        Ok(instances)
    }

    /// Returns when the next request is ready or the lanes have to be directed, or `None` where a request must end first.
    pub(crate) fn next_ready(&self) -> Option<SimTime> {
        if let Some(preparation) = self.preparing() {
            return preparation.next_ready();
        }
        let ready = self.ready.peek().map(|Reverse((at, _))| *at);
        let control = self.next_control();
        [ready, control].into_iter().flatten().min()
    }

    /// Releases the next request that is ready at `now`; returns its turn and when it was ready.
    pub(crate) fn release(&mut self, now: SimTime) -> Option<(Turn, SimTime)> {
        if let Some(preparation) = &mut self.preparation
            && preparation.ended().is_none()
        {
            return preparation.release(&self.cuts, now);
        }
        if self.window.as_ref().is_some_and(|window| window.is_closed(now)) {
            return None;
        }
        let Reverse((at, request)) = *self.ready.peek()?;
        if at > now {
            return None;
        }
        self.ready.pop();
        self.requests[request].state = State::Released;
        let (number, run) = (self.requests[request].number, self.requests[request].run);
        self.flying.insert(number, request);
        self.runs[run].in_flight += 1;
        self.events += 1;
        if let Some(window) = &mut self.window {
            window.sent(run, now);
        }
        let dependents = std::mem::take(&mut self.requests[request].on_dispatch);
        self.let_go(&dependents, now);
        Some((Turn { session: number, number: 0 }, at))
    }

    /// Notes that a request ended, after so many tokens of its answer.
    pub(crate) fn end(&mut self, turn: Turn, outcome: Outcome, (output, at): (u32, SimTime)) {
        self.ended.push(Ended { turn, outcome, output, at });
    }

    /// Lets what ended take effect and directs the lanes; `is_idle` says whether the engines have nothing at all.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where a request that prepares did not complete, and where lanes run through the recording in no time.
    pub(crate) fn direct(&mut self, now: SimTime, is_idle: bool) -> Result<Directed, SimError> {
        let settled = self.settle();
        if let Some(preparation) = &mut self.preparation
            && preparation.ended().is_none()
        {
            if !is_idle || !preparation.finish(now)? {
                return Ok(if settled { Directed::Changed } else { Directed::Nothing });
            }
            self.rebase(now);
            if let Some(window) = &mut self.window {
                window.open(now);
            }
            return Ok(Directed::Began);
        }
        let advanced = self.advance(now)?;
        Ok(if settled || advanced { Directed::Changed } else { Directed::Nothing })
    }

    /// Returns whether the run is over at `now`: nothing is left, or the window is and what is in flight is given up.
    pub(crate) fn is_done(&self, now: SimTime) -> bool {
        if self.preparing().is_some() {
            return false;
        }
        match &self.window {
            None => self.left == 0,
            Some(window) => {
                window.is_closed(now) && (self.flying.is_empty() || window.gives_up(now))
            }
        }
    }

    /// Returns whether a window is over at `now`, so that the run ends whatever the engines do.
    pub(crate) fn is_expired(&self, now: SimTime) -> bool {
        self.window.is_some() && self.is_done(now)
    }

    /// Takes what a request that prepares for others saw of its admission.
    pub(crate) fn prepared(&mut self, at: usize, record: &RequestRecord) {
        if let Some(preparation) = &mut self.preparation {
            preparation.admitted(at, record);
        }
    }

    /// Returns what the lanes ran until `finished`.
    pub(crate) fn record(mut self, finished: SimTime) -> InstancesRecord {
        self.settle();
        let (seed, digest) = self.cuts.named_after();
        let drawn = self.window.as_ref().map_or(0, Window::drawn);
        InstancesRecord {
            digest: digest.to_owned(),
            seed,
            instances: self.runs.iter().map(|run| run.record(&self.cuts)).collect(),
            preparation: self.preparation.map(Preparation::record),
            profile: self.window.map(|window| window.record(drawn, finished)),
            events: self.events,
        }
    }

    /// Returns the preparation while it goes on.
    fn preparing(&self) -> Option<&Preparation> {
        self.preparation.as_ref().filter(|preparation| preparation.ended().is_none())
    }

    /// Lets an instance begin at `at`: what is left of its play, with its remaining waits.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for times that are none.
    pub(super) fn begin(&mut self, instance: Instance, at: SimTime) -> Result<(), SimError> {
        let (run, first) = (self.runs.len(), self.requests.len());
        let kept: Vec<InstanceRequest> =
            instance.requests.iter().filter(|request| !request.is_history).cloned().collect();
        let places: BTreeMap<usize, usize> =
            kept.iter().enumerate().map(|(place, request)| (request.node, first + place)).collect();
        for request in &kept {
            let waits =
                self.span(if self.follows_events(request) { 0.0 } else { request.remaining_ms })?;
            self.requests.push(Request {
                run,
                number: self.cuts.number(instance.identity.slot, request.node),
                state: State::Blocked,
                missing: request.pending.len(),
                ready: at + waits,
                on_dispatch: Vec::new(),
                on_completion: Vec::new(),
            });
        }
        for request in &kept {
            for edge in &request.pending {
                let dependent =
                    Dependent { request: places[&request.node], delay: self.span(edge.delay_ms)? };
                let source = &mut self.requests[places[&edge.node]];
                match edge.trigger {
                    EdgeTrigger::Dispatch => source.on_dispatch.push(dependent),
                    EdgeTrigger::Completion => source.on_completion.push(dependent),
                }
            }
        }
        self.left += kept.len();
        let requests = first..self.requests.len();
        requests
            .clone()
            .filter(|request| self.requests[*request].missing == 0)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|root| self.schedule(root));
        self.runs.push(Run::new(instance, requests, at));
        Ok(())
    }

    /// Returns whether a request keeps no time of the recording: in a profile, the newer reference lets one that waits for another
    /// of its play follow that alone.
    fn follows_events(&self, request: &InstanceRequest) -> bool {
        if self.pace.profile.is_none() || self.pace.compat == Compat::V0_13_0 {
            return false;
        }
        let node = &self.cuts.plays().nodes()[request.node];
        let causes = |edge: &&PlayEdge| match edge.relation {
            EdgeRelation::Sequence | EdgeRelation::Spawn => true,
            EdgeRelation::Join | EdgeRelation::ReplayBarrier => false,
        };
        if node.waits.iter().any(|edge| causes(&edge)) {
            request.pending.iter().any(|edge| causes(&edge))
        } else {
            !request.pending.is_empty()
        }
    }

    /// Returns whether waits of blocked requests are cut short with the others, as the newer reference does.
    pub(super) fn cuts_blocked_waits(&self) -> bool {
        self.pace.compat != Compat::V0_13_0
    }

    /// Returns recorded milliseconds as time here.
    fn span(&self, ms: f64) -> Result<SimDuration, SimError> {
        SimDuration::from_ms(ms / self.pace.speedup)
            .map_err(|_| SimError::bad_workload("a recorded time is no time"))
    }

    /// Lets requests that ended take effect; returns whether there were any.
    fn settle(&mut self) -> bool {
        let mut ended = std::mem::take(&mut self.ended);
        let last = self.requests.len();
        let place = |end: &Ended| match end.turn.number.checked_sub(1) {
            Some(preparing) => last + preparing as usize,
            None => self.flying.get(&end.turn.session).copied().unwrap_or(last),
        };
        ended.sort_by_key(|end| (end.at, place(end)));
        let has_any = !ended.is_empty();
        for end in ended {
            self.settle_one(end);
        }
        has_any
    }

    fn settle_one(&mut self, end: Ended) {
        if let (Some(at), Some(preparation)) =
            (end.turn.number.checked_sub(1), &mut self.preparation)
        {
            return preparation.end(at as usize, end.outcome, (end.output, end.at));
        }
        let request = self.flying.remove(&end.turn.session).expect("it was released");
        let run = self.requests[request].run;
        self.finish(request);
        // It ended, and left nothing to clean up.
        self.events += 2;
        self.runs[run].in_flight -= 1;
        self.runs[run].ended = Some(self.runs[run].ended.map_or(end.at, |seen| seen.max(end.at)));
        if end.outcome == Outcome::Completed {
            self.runs[run].completed += 1;
            if self.runs[run].failure.is_none() {
                let dependents = std::mem::take(&mut self.requests[request].on_completion);
                self.let_go(&dependents, end.at);
            }
        } else {
            self.fail(run, (self.cuts.request(end.turn.session).1, end.at, end.outcome));
        }
        let (is_idle, is_all) = (self.flying.is_empty(), self.runs[run].has_all());
        let mut is_over = is_all || self.runs[run].failure.is_some();
        if let Some(window) = &mut self.window {
            window.ended(end.outcome, end.at);
            if self.runs[run].in_flight == 0 {
                window.rests(Some(run), end.at);
                is_over |= window.has_closed();
            }
            if is_idle {
                window.rests(None, end.at);
            }
        }
        if is_over && self.runs[run].in_flight == 0 {
            self.conclude(run, end.at);
        }
    }

    /// Notes that nothing of an instance is left.
    pub(super) fn conclude(&mut self, run: usize, at: SimTime) {
        if !std::mem::replace(&mut self.runs[run].is_over, true) {
            self.runs[run].settled = Some(at);
            self.events += 1;
        }
    }

    /// Marks a request as over.
    pub(super) fn finish(&mut self, request: usize) {
        self.requests[request].state = State::Over;
        self.left -= 1;
    }

    /// Drops what an instance has not sent: one of its requests did not complete.
    fn fail(&mut self, run: usize, failure: (usize, SimTime, Outcome)) {
        if self.runs[run].failure.is_some() {
            return;
        }
        self.runs[run].failure = Some(failure);
        for request in self.runs[run].requests.clone() {
            if matches!(self.requests[request].state, State::Blocked | State::Ready) {
                self.finish(request);
                self.events += 1;
            }
        }
        let requests = &self.requests;
        self.ready.retain(|Reverse((_, request))| requests[*request].state == State::Ready);
    }

    /// Notes that something happened at `now` for which others wait.
    fn let_go(&mut self, dependents: &[Dependent], now: SimTime) {
        for dependent in dependents {
            let request = &mut self.requests[dependent.request];
            if request.state != State::Blocked {
                continue; // its instance failed or was cut off: it is over
            }
            request.missing -= 1;
            request.ready = request.ready.max(now + dependent.delay);
            if request.missing == 0 {
                self.schedule(dependent.request);
            }
        }
    }

    fn schedule(&mut self, request: usize) {
        self.requests[request].state = State::Ready;
        self.ready.push(Reverse((self.requests[request].ready, request)));
    }

    /// Counts all that waits from the end of the preparation.
    fn rebase(&mut self, now: SimTime) {
        let later =
            |at: SimTime| now + SimDuration::from_ms(at.as_ms()).unwrap_or(SimDuration::ZERO);
        for request in &mut self.requests {
            request.ready = later(request.ready);
        }
        let ready = std::mem::take(&mut self.ready);
        self.ready =
            ready.into_iter().map(|Reverse((at, request))| Reverse((later(at), request))).collect();
        for run in &mut self.runs {
            run.began = now;
        }
    }
}
