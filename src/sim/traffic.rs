//! When each request is released, in virtual time.
//!
//! Every request belongs to a session. An open loop releases a session's first turn at its arrival; a closed loop starts the next
//! session when one ends. A later turn is ready a think time after the turn before it ended. Ready turns are released by
//! (time, session, turn). Source: spec/SIMULATION.md §9.2.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use crate::digest::{Purpose, Seed};
use crate::plan::SimulationJob;
use crate::record::{InstancesRecord, Outcome, RequestRecord};
use crate::units::SimTime;
use crate::workload::{Arrivals, Content, Corpus, Load, RecordedLoad, Run, SessionName};

use super::error::SimError;
use super::instances::{Cuts, Directed, Instances, Pace};
use super::plays::PlaySchedule;
use super::sessions::{Pushed, PushedRequest, Sessions};

/// A request that is ready.
#[derive(Debug)]
pub(crate) struct Released {
    /// The turn it is.
    pub(crate) turn: Turn,
    /// When it was ready: its arrival.
    pub(crate) arrival: SimTime,
    /// Its prompt.
    pub(crate) content: Content,
    /// Output tokens asked for.
    pub(crate) output: u64,
}

/// A turn of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn {
    /// The session, in order of first appearance.
    pub(crate) session: u64,
    /// Its position in the session.
    pub(crate) number: u32,
}

/// How sessions start.
#[derive(Debug)]
enum Starts {
    /// At these times, ascending, with session numbers; the next one is `next`.
    Open { arrivals: OpenArrivals, next: Option<(SimTime, u64)> },
    /// When another ends, this many at a time.
    Closed { next_session: u64 },
}

/// The first turns of an open loop.
#[derive(Debug)]
enum OpenArrivals {
    /// Session n at the n-th arrival of a process.
    Process { arrivals: Box<Arrivals>, session: u64 },
    /// Recorded arrivals of a trace whose sessions start in their order, from session `session` on.
    InOrder { session: u64 },
    /// Recorded arrivals, sorted, from place `at` on.
    Recorded { sorted: Vec<(SimTime, u64)>, at: usize },
}

/// The release of requests.
#[derive(Debug)]
pub(crate) struct Traffic<'a> {
    sessions: Sessions<'a>,
    starts: Starts,
    ready: BinaryHeap<Reverse<(SimTime, Turn)>>,
    /// What earlier turns of a growing session have said.
    histories: BTreeMap<u64, Vec<Run>>,
    unfinished_sessions: u64,
    /// What releases the requests of recorded plays, instead of all else here.
    plays: Option<PlaySchedule<'a>>,
    /// The same for instances of recorded plays.
    instances: Option<Box<Instances<'a>>>,
}

impl<'a> Traffic<'a> {
    /// Returns the traffic of a job.
    ///
    /// # Errors
    /// [`SimError::Unsupported`] for a load that this build lacks, [`SimError::BadWorkload`] for a trace that is missing or an
    /// arrival that is no time.
    pub(crate) fn new(job: &SimulationJob, corpus: Option<&'a Corpus>) -> Result<Self, SimError> {
        let sessions = Sessions::new(job, corpus)?;
        let count = sessions.count();
        let mut traffic = Self {
            sessions,
            starts: Starts::Closed { next_session: 0 },
            ready: BinaryHeap::new(),
            histories: BTreeMap::new(),
            unfinished_sessions: count,
            plays: None,
            instances: None,
        };
        if let Sessions::Instanced(instanced) = &traffic.sessions {
            let instances = Instances::new(Rc::clone(instanced.cuts()), pace(job)?)?;
            traffic.instances = Some(Box::new(instances));
            return Ok(traffic);
        }
        if let Sessions::Played(played) = &traffic.sessions {
            traffic.plays = Some(PlaySchedule::new(played.plays(), &pacing(&job.workload.load)?)?);
            return Ok(traffic);
        }
        match &job.workload.load {
            Load::Concurrency { concurrency } => {
                for _ in 0..u64::from(*concurrency).min(count) {
                    traffic.start_next(SimTime::ZERO);
                }
            }
            Load::ConstantRate { rate } => {
                traffic.open(OpenArrivals::Process {
                    arrivals: Box::new(Arrivals::constant(*rate)),
                    session: 0,
                })?;
            }
            Load::Poisson { rate, seed } => {
                let stream = &job.workload.stream;
                let seed = seed.map_or_else(
                    || Seed::derive(job.seed, stream, Purpose::Arrivals),
                    Seed::stated,
                );
                let arrivals = Box::new(Arrivals::poisson(*rate, seed.stream()));
                traffic.open(OpenArrivals::Process { arrivals, session: 0 })?;
            }
            Load::TraceTimestamps { .. } => {
                traffic.open(if traffic.sessions.start_one_by_one() {
                    // The last is the latest: where it is a time, all are.
                    traffic.sessions.start_in_order(count.saturating_sub(1))?;
                    OpenArrivals::InOrder { session: 0 }
                } else {
                    OpenArrivals::Recorded { sorted: traffic.sessions.recorded_starts()?, at: 0 }
                })?;
            }
            Load::Recorded(_) => {
                return Err(SimError::bad_workload("the trace records no plays"));
            }
        }
        Ok(traffic)
    }

    /// Returns the traffic of a run in which requests arrive as it goes on; none has.
    pub(crate) fn live() -> Self {
        let arrivals = OpenArrivals::Recorded { sorted: Vec::new(), at: 0 };
        Self {
            sessions: Sessions::Pushed(Box::<Pushed>::default()),
            starts: Starts::Open { arrivals, next: None },
            ready: BinaryHeap::new(),
            histories: BTreeMap::new(),
            unfinished_sessions: 0,
            plays: None,
            instances: None,
        }
    }

    /// Lets a request arrive at `at`, made from its number, and returns the number.
    ///
    /// # Panics
    /// Where this is no live traffic.
    pub(crate) fn push(&mut self, at: SimTime, request: impl FnOnce(u64) -> PushedRequest) -> u64 {
        let session = self.sessions.pushed().expect("live traffic").push(request);
        self.unfinished_sessions += 1;
        self.ready.push(Reverse((at, Turn { session, number: 0 })));
        session
    }

    /// Returns when the next turn is ready, or `None` where one must end first.
    pub(crate) fn next_ready(&self) -> Option<SimTime> {
        if let Some(plays) = &self.plays {
            return plays.next_ready();
        }
        if let Some(instances) = &self.instances {
            return instances.next_ready();
        }
        let follow_up = self.ready.peek().map(|Reverse((at, _))| *at);
        match (self.next_start(), follow_up) {
            (Some((start, _)), Some(follow_up)) => Some(start.min(follow_up)),
            (start, follow_up) => start.map(|(at, _)| at).or(follow_up),
        }
    }

    /// Releases the next turn that is ready at `now`.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for an arrival that is no time.
    pub(crate) fn release(&mut self, now: SimTime) -> Result<Option<Released>, SimError> {
        if let Some(plays) = &mut self.plays {
            let Some((node, arrival)) = plays.release(now) else { return Ok(None) };
            let turn = Turn { session: node as u64, number: 0 };
            let (content, output) = (self.sessions.content(turn, &[]), self.sessions.output(turn));
            return Ok(Some(Released { turn, arrival, content, output }));
        }
        if let Some(instances) = &mut self.instances {
            let Some((turn, arrival)) = instances.release(now) else { return Ok(None) };
            let (content, output) = (self.sessions.content(turn, &[]), self.sessions.output(turn));
            return Ok(Some(Released { turn, arrival, content, output }));
        }
        let start = self.next_start().map(|(at, session)| (at, Turn { session, number: 0 }));
        let follow_up = self.ready.peek().map(|Reverse(key)| *key);
        let key = match (start, follow_up) {
            (Some(start), Some(follow_up)) => start.min(follow_up),
            (Some(key), None) | (None, Some(key)) => key,
            (None, None) => return Ok(None),
        };
        if key.0 > now {
            return Ok(None);
        }
        if start == Some(key) {
            self.take_start()?;
        } else {
            self.ready.pop();
        }
        let (arrival, turn) = key;
        let history = self.histories.get(&turn.session).map_or(&[][..], Vec::as_slice);
        let content = self.sessions.content(turn, history);
        Ok(Some(Released { turn, arrival, content, output: self.sessions.output(turn) }))
    }

    /// Notes that a turn ended at `now` after `emitted` tokens of output; its session goes on, or another starts.
    ///
    /// A turn that completed or was rejected has a next one; a failed or cancelled one ends its session. Measured: see
    /// docs/fidelity.md, "where notes and reference disagree".
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for a think time that is no time.
    pub(crate) fn end_turn(&mut self, turn: Turn, ended: Ended<'_>) -> Result<(), SimError> {
        if let Some(plays) = &mut self.plays {
            let node = usize::try_from(turn.session).unwrap_or(usize::MAX);
            plays.end(node, ended.outcome, ended.at);
            return Ok(());
        }
        if let Some(instances) = &mut self.instances {
            instances.end(turn, ended.outcome, (ended.output.length, ended.at));
            return Ok(());
        }
        let next = Turn { number: turn.number + 1, ..turn };
        let may_go_on = match ended.outcome {
            Outcome::Completed | Outcome::Rejected => true,
            Outcome::Canceled | Outcome::Failed => false,
        };
        let goes_on = may_go_on && next.number < self.sessions.turns(turn.session);
        if goes_on {
            if self.sessions.grows() {
                let runs = ended.content.iter().copied().chain([ended.output]);
                self.histories.insert(turn.session, runs.filter(|run| run.length > 0).collect());
            }
            let ready = ended.at + self.sessions.delay(next)?;
            self.ready.push(Reverse((ready, next)));
            return Ok(());
        }
        self.histories.remove(&turn.session);
        self.sessions.forget(turn);
        self.unfinished_sessions -= 1;
        if matches!(self.starts, Starts::Closed { .. }) {
            self.start_next(ended.at);
        }
        Ok(())
    }

    /// Lets what ended take effect on lanes, and directs them; `is_idle` says whether the engines have nothing at all.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] where lanes cannot go on.
    pub(crate) fn direct(&mut self, now: SimTime, is_idle: bool) -> Result<Directed, SimError> {
        let instances = self.instances.as_mut();
        instances.map_or(Ok(Directed::Nothing), |instances| instances.direct(now, is_idle))
    }

    /// Gives up a request that is in flight when a measured window is over.
    pub(crate) fn give_up(&mut self, turn: Turn, now: SimTime) {
        if let Some(instances) = &mut self.instances {
            instances.end(turn, Outcome::Canceled, (0, now));
        }
    }

    /// Returns whether there are lanes to direct.
    pub(crate) fn has_instances(&self) -> bool {
        self.instances.is_some()
    }

    /// Returns whether a measured window is over at `now`: the run ends, whatever is in flight.
    pub(crate) fn is_expired(&self, now: SimTime) -> bool {
        self.instances.as_ref().is_some_and(|instances| instances.is_expired(now))
    }

    /// Takes the record of a request that prepares for others; returns any other.
    pub(crate) fn keep_preparing(&mut self, record: RequestRecord) -> Option<RequestRecord> {
        match (&mut self.instances, Cuts::preparation(record.index)) {
            (Some(instances), Some(at)) => {
                instances.prepared(at, &record);
                None
            }
            (Some(_) | None, _) => Some(record),
        }
    }

    /// Returns what lanes ran until `finished`, where there are any.
    pub(crate) fn take_instances(&mut self, finished: SimTime) -> Option<InstancesRecord> {
        self.instances.take().map(|instances| instances.record(finished))
    }

    /// Returns whether every session has ended.
    pub(crate) fn is_done(&self, now: SimTime) -> bool {
        if let Some(instances) = &self.instances {
            return instances.is_done(now);
        }
        self.plays.as_ref().map_or(self.unfinished_sessions == 0, PlaySchedule::is_done)
    }

    /// Returns what a turn's session is called, and the line of the trace that the turn comes from.
    pub(crate) fn name(&self, turn: Turn) -> (SessionName, Option<u64>) {
        let (mut name, line) = self.sessions.name(turn);
        if let (SessionName::Played(name), Some(plays)) = (&mut name, &self.plays) {
            name.lane = plays.lane(usize::try_from(turn.session).unwrap_or(usize::MAX));
        }
        (name, line)
    }

    /// Returns the sessions.
    pub(crate) fn sessions(&self) -> &Sessions<'a> {
        &self.sessions
    }

    /// Returns the sessions, to draw what they ask for.
    pub(crate) fn sessions_mut(&mut self) -> &mut Sessions<'a> {
        &mut self.sessions
    }

    /// Makes this an open loop.
    fn open(&mut self, arrivals: OpenArrivals) -> Result<(), SimError> {
        self.starts = Starts::Open { arrivals, next: None };
        self.take_start()
    }

    /// Returns the next session of an open loop to start.
    fn next_start(&self) -> Option<(SimTime, u64)> {
        match &self.starts {
            Starts::Open { next, .. } => *next,
            Starts::Closed { .. } => None,
        }
    }

    /// Moves an open loop on to its next session.
    fn take_start(&mut self) -> Result<(), SimError> {
        let count = self.sessions.count();
        let Starts::Open { arrivals, next } = &mut self.starts else { return Ok(()) };
        *next = match arrivals {
            OpenArrivals::Process { arrivals, session } if *session < count => {
                let ms = arrivals.next().unwrap_or(f64::INFINITY);
                let at = SimTime::from_ms(ms)
                    .map_err(|_| SimError::bad_workload("the arrivals leave the range of time"))?;
                *session += 1;
                Some((at, *session - 1))
            }
            OpenArrivals::Process { .. } => None,
            OpenArrivals::InOrder { session } => {
                *session += 1;
                let start = self.sessions.start_in_order(*session - 1)?;
                start.map(|at| (at, *session - 1))
            }
            OpenArrivals::Recorded { sorted, at } => {
                *at += 1;
                sorted.get(*at - 1).copied()
            }
        };
        Ok(())
    }

    /// Starts the next session of a closed loop, where there is one.
    fn start_next(&mut self, now: SimTime) {
        let Starts::Closed { next_session } = &mut self.starts else { return };
        if *next_session < self.sessions.count() {
            self.ready.push(Reverse((now, Turn { session: *next_session, number: 0 })));
            *next_session += 1;
        }
    }
}

/// Returns how a load paces recorded plays.
///
/// # Errors
/// [`SimError::BadWorkload`] for a load that has times of its own.
fn pacing(load: &Load) -> Result<RecordedLoad, SimError> {
    match load {
        Load::Recorded(load) => Ok(load.clone()),
        Load::TraceTimestamps { speedup } => Ok(RecordedLoad::at(*speedup)),
        Load::Concurrency { .. } | Load::ConstantRate { .. } | Load::Poisson { .. } => {
            Err(SimError::bad_workload("requests that wait for one another keep recorded times"))
        }
    }
}

/// Returns how a job paces instances of recorded plays.
///
/// # Errors
/// As [`pacing`].
fn pace(job: &SimulationJob) -> Result<Pace, SimError> {
    let load = pacing(&job.workload.load)?;
    Ok(Pace {
        speedup: load.speedup,
        prepares: load.warmup,
        profile: load.profile,
        compat: job.engine.compat,
    })
}

/// How a turn ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended<'a> {
    /// When.
    pub(crate) at: SimTime,
    /// How.
    pub(crate) outcome: Outcome,
    /// Its prompt.
    pub(crate) content: &'a [Run],
    /// The output that it produced.
    pub(crate) output: Run,
}
