//! What goes into the machine and what comes out.

use crate::graph::NodeIndex;
use crate::record::Phase;
use crate::units::Nanos;

/// One sending of a call: it is named by its instance, its node and the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallId {
    /// The number of the instance, in the order of drawing.
    pub(crate) instance: u64,
    /// The node.
    pub(crate) node: NodeIndex,
    /// What it is sent for.
    pub(crate) phase: Phase,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A call is to be sent at once.
    Send {
        /// Which.
        call: CallId,
        /// The index of the trace that the instance is of.
        tree: usize,
        /// The lane that holds the instance.
        lane: usize,
        /// When it should have been sent; never later than the instant at which it was asked for.
        intended: Nanos,
    },
    /// A call in flight is to be given up. It still has to be reported as ended.
    Cancel(CallId),
    /// A phase begins.
    Begin(Phase, Nanos),
    /// Nothing of this instance comes any more: its answers may be forgotten.
    Forget(u64),
    /// All is over.
    Finish,
    /// All is over, since a call of a warm-up went wrong: nothing was measured.
    Abort(CallId),
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an answer.
    Answered,
    /// Without one. What waits for it goes on.
    Failed,
    /// The prompt had grown longer than the model takes: the trajectory ends, and that is no error of the server.
    ContextOverflow,
    /// It could not be sent at all: the trajectory ends.
    Unsendable,
    /// The client gave it up.
    Canceled,
}
