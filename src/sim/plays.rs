//! When the requests of recorded plays are released: after what they wait for, play by play or in lanes.
//!
//! A request is ready at its recorded start or when all that it waits for has happened and its delays have passed, whichever is
//! later. With lanes, each runs one play at a time and takes the next when its own is over. Source: spec/SIMULATION.md §9.4, §9.8.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::record::Outcome;
use crate::units::{SimDuration, SimTime};
use crate::workload::{EdgeTrigger, Plays, RecordedLoad};

use super::error::SimError;

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It waits for another one, or for its play.
    Blocked,
    /// It is ready, now or at a known time.
    Ready,
    /// It was released.
    Released,
    /// It has ended, or never will begin because its play failed.
    Over,
}

/// A request that waits for another one.
#[derive(Debug, Clone, Copy)]
struct Dependent {
    node: usize,
    delay: SimDuration,
}

/// A play while it runs.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    lane: Option<u32>,
    /// Requests released and not yet ended.
    in_flight: u32,
    /// Requests that are not over.
    left: usize,
    failed: bool,
    over: bool,
}

/// A request.
#[derive(Debug)]
struct Node {
    state: State,
    /// How many of those that it waits for have not happened.
    missing: usize,
    /// Its recorded start.
    not_before: SimTime,
    /// The latest of what is known to hold it back.
    ready: SimTime,
    on_dispatch: Vec<Dependent>,
    on_completion: Vec<Dependent>,
}

/// The release of plays.
#[derive(Debug)]
pub(crate) struct PlaySchedule<'a> {
    plays: &'a Plays,
    nodes: Vec<Node>,
    runs: Vec<Run>,
    /// Whether plays run in lanes; else each starts at its recorded time.
    in_lanes: bool,
    /// The next play that a free lane takes.
    next_play: usize,
    ready: BinaryHeap<Reverse<(SimTime, usize)>>,
    /// Requests that ended at one instant: they take effect in the order of their nodes, whatever order ranks report them in.
    ended: Vec<(usize, Outcome, SimTime)>,
    left: usize,
}

impl<'a> PlaySchedule<'a> {
    /// Returns the release of plays under a load.
    ///
    /// # Errors
    /// [`SimError::BadWorkload`] for times that are none, as after a division by a speedup near zero.
    pub(crate) fn new(plays: &'a Plays, load: &RecordedLoad) -> Result<Self, SimError> {
        let wrong = |_| SimError::bad_workload("a recorded time is no time");
        let starts = plays.nodes().iter().map(|node| node.not_before_ms);
        let origin = starts.min_by(f64::total_cmp).unwrap_or(0.0);
        let mut nodes = Vec::with_capacity(plays.nodes().len());
        for node in plays.nodes() {
            let start = (node.not_before_ms - origin) / load.speedup;
            let not_before = SimTime::from_ms(start).map_err(wrong)?;
            nodes.push(Node {
                state: State::Blocked,
                missing: node.waits.len(),
                not_before,
                ready: not_before,
                on_dispatch: Vec::new(),
                on_completion: Vec::new(),
            });
        }
        for (at, node) in plays.nodes().iter().enumerate() {
            for edge in &node.waits {
                let delay = SimDuration::from_ms(edge.delay_ms / load.speedup).map_err(wrong)?;
                let dependent = Dependent { node: at, delay };
                match edge.trigger {
                    EdgeTrigger::Dispatch => nodes[edge.node].on_dispatch.push(dependent),
                    EdgeTrigger::Completion => nodes[edge.node].on_completion.push(dependent),
                }
            }
        }
        let run = |nodes: usize| Run { left: nodes, ..Run::default() };
        let mut schedule = Self {
            plays,
            left: nodes.len(),
            nodes,
            runs: plays.plays().iter().map(|play| run(play.nodes.len())).collect(),
            in_lanes: load.agentic_lanes.is_some(),
            next_play: 0,
            ready: BinaryHeap::new(),
            ended: Vec::new(),
        };
        match load.agentic_lanes {
            Some(lanes) => {
                for lane in 0..lanes {
                    schedule.start_next(lane, SimTime::ZERO);
                }
            }
            None => {
                for root in plays.plays().iter().flat_map(|play| &play.roots) {
                    schedule.schedule(*root);
                }
            }
        }
        Ok(schedule)
    }

    /// Returns when the next request is ready, or `None` where one must end first.
    pub(crate) fn next_ready(&self) -> Option<SimTime> {
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    /// Releases the next request that is ready at `now`; returns its node and when it was ready.
    pub(crate) fn release(&mut self, now: SimTime) -> Option<(usize, SimTime)> {
        self.settle();
        let Reverse((at, node)) = *self.ready.peek()?;
        if at > now {
            return None;
        }
        self.ready.pop();
        self.nodes[node].state = State::Released;
        self.runs[self.plays.nodes()[node].play].in_flight += 1;
        let dependents = std::mem::take(&mut self.nodes[node].on_dispatch);
        self.let_go(&dependents, now);
        Some((node, at))
    }

    /// Notes that a request ended.
    pub(crate) fn end(&mut self, node: usize, outcome: Outcome, at: SimTime) {
        self.ended.push((node, outcome, at));
    }

    /// Returns whether nothing is left to release or to end.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Returns the lane that a node's play runs in, where there are lanes.
    pub(crate) fn lane(&self, node: usize) -> Option<u32> {
        self.runs[self.plays.nodes()[node].play].lane
    }

    /// Lets requests that ended take effect, in the order of their nodes.
    fn settle(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_by_key(|(node, _, at)| (*at, *node));
        for (node, outcome, at) in ended {
            self.settle_one(node, outcome, at);
        }
    }

    fn settle_one(&mut self, node: usize, outcome: Outcome, at: SimTime) {
        let play = self.plays.nodes()[node].play;
        self.finish(node);
        self.runs[play].in_flight -= 1;
        match outcome {
            Outcome::Completed if !self.runs[play].failed => {
                let dependents = std::mem::take(&mut self.nodes[node].on_completion);
                self.let_go(&dependents, at);
            }
            Outcome::Completed => {}
            Outcome::Rejected | Outcome::Canceled | Outcome::Failed => self.fail(play),
        }
        let run = &mut self.runs[play];
        if run.left == 0 && run.in_flight == 0 && !run.over {
            run.over = true;
            if let Some(lane) = run.lane {
                self.start_next(lane, at);
            }
        }
    }

    /// Marks a request as over.
    fn finish(&mut self, node: usize) {
        self.nodes[node].state = State::Over;
        self.left -= 1;
        self.runs[self.plays.nodes()[node].play].left -= 1;
    }

    /// Drops what a play has not released: one of its requests did not complete.
    fn fail(&mut self, play: usize) {
        if std::mem::replace(&mut self.runs[play].failed, true) {
            return;
        }
        for node in &self.plays.plays()[play].nodes {
            if matches!(self.nodes[*node].state, State::Blocked | State::Ready) {
                self.finish(*node);
            }
        }
        let nodes = &self.nodes;
        self.ready.retain(|Reverse((_, node))| nodes[*node].state == State::Ready);
    }

    /// Notes that something happened at `now` for which others wait.
    fn let_go(&mut self, dependents: &[Dependent], now: SimTime) {
        for dependent in dependents {
            let node = &mut self.nodes[dependent.node];
            if node.state != State::Blocked {
                continue; // its play failed: it is over
            }
            node.missing -= 1;
            node.ready = node.ready.max(now + dependent.delay);
            if node.missing == 0 {
                self.schedule(dependent.node);
            }
        }
    }

    fn schedule(&mut self, node: usize) {
        self.nodes[node].state = State::Ready;
        self.ready.push(Reverse((self.nodes[node].ready, node)));
    }

    /// Starts the next play in a lane, where there is one: its recorded starts are counted from `now`.
    fn start_next(&mut self, lane: u32, now: SimTime) {
        debug_assert!(self.in_lanes, "bug: without lanes every play has started");
        let all = self.plays;
        let Some(play) = all.plays().get(self.next_play) else { return };
        self.runs[self.next_play].lane = Some(lane);
        self.next_play += 1;
        let starts = play.roots.iter().map(|root| self.nodes[*root].not_before);
        let first = starts.min().unwrap_or(SimTime::ZERO);
        for node in &play.nodes {
            let node = &mut self.nodes[*node];
            // A difference of two times is one, and not negative once cut at zero.
            let after = node.not_before.ms_since(first).max(0.0);
            let after = SimDuration::from_ms(after).unwrap_or(SimDuration::ZERO);
            node.ready = now + after;
        }
        for root in &play.roots {
            self.schedule(*root);
        }
    }
}
