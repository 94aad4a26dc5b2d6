//! One instance of a trace as it runs. Its instants are on the machine's clock, which idle time may be cut from.

use crate::graph::NodeIndex;
use crate::replay::wire::WireWindow;
use crate::units::Nanos;

/// One instance of a trace as it runs.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    /// The index of its trace.
    pub(super) tree: usize,
    /// The lane that holds it.
    pub(super) lane: usize,
    /// The start of the trace.
    pub(super) start: Nanos,
    /// Where in the trace it begins.
    pub(super) window: Option<WireWindow>,
    /// When a warm-up handed it over, where one did: what was due before is due then.
    pub(super) handed_over: Option<Nanos>,
    /// What happened to each call.
    pub(super) marks: Vec<Marks>,
    /// Calls in flight.
    pub(super) in_flight: usize,
    /// Calls that have not ended and are not left out.
    pub(super) open: usize,
    /// Why no more of its calls are sent; absent where they are.
    pub(super) stopped: Option<Stopped>,
}

/// Why an instance sends no more calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The context overflowed.
    Overflow,
    /// A call holds an answer that there never was.
    Unsendable,
    /// The end of the run.
    Cut,
}

/// What happened to a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// When it is to be sent, once that is known.
    pub(super) armed: Option<Nanos>,
    /// When it was sent.
    pub(super) sent: Option<Nanos>,
    /// When its first token came.
    pub(super) first_token: Option<Nanos>,
    /// When it ended.
    pub(super) ended: Option<Nanos>,
    /// Whether it lies before the window and is never sent.
    pub(super) is_left_out: bool,
}

impl Instance {
    /// Returns an instance of which nothing has happened.
    pub(super) fn new(tree: usize, lane: usize, start: Nanos, calls: usize) -> Self {
        Self {
            tree,
            lane,
            start,
            window: None,
            handed_over: None,
            marks: vec![Marks::default(); calls],
            in_flight: 0,
            open: calls,
            stopped: None,
        }
    }

    /// Returns what happened to a call.
    pub(super) fn mark(&self, node: NodeIndex) -> &Marks {
        &self.marks[node.0]
    }

    /// Returns what happened to a call, to be added to.
    pub(super) fn mark_mut(&mut self, node: NodeIndex) -> &mut Marks {
        &mut self.marks[node.0]
    }

    /// Returns whether nothing of it comes any more.
    pub(super) fn is_over(&self) -> bool {
        self.in_flight == 0 && (self.open == 0 || self.stopped.is_some())
    }

    /// Takes back that calls were sent which have not ended: they are sent again.
    pub(super) fn take_back(&mut self) {
        for marks in self.marks.iter_mut().filter(|marks| marks.ended.is_none()) {
            (marks.armed, marks.sent, marks.first_token) = (None, None, None);
        }
        (self.in_flight, self.stopped) = (0, None);
    }
}

impl Marks {
    /// Returns whether the call is neither armed nor sent nor left out.
    pub(super) const fn is_waiting(&self) -> bool {
        self.armed.is_none() && self.sent.is_none() && self.ended.is_none() && !self.is_left_out
    }
}
