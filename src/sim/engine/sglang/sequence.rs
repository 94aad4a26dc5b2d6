//! One request inside a rank.

use crate::record::Admission;
pub(super) use crate::sim::engine::Seat;
use crate::sim::engine::{End, Served, Visible};
use crate::sim::kv::NodeId;
use crate::sim::ticket::Ticket;
use crate::units::SimTime;
use crate::workload::Content;

/// What a request holds of the KV cache.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lease {
    /// Pages: those of the tree first, its own behind them.
    pub(super) pages: u64,
    /// How many of them are in the tree.
    pub(super) cached: u64,
    /// Where they end in the tree; `None` while the request holds nothing.
    pub(super) node: Option<NodeId>,
}

/// One request inside a rank.
///
/// `generated` and `computed` of a member of the group are as of the group's pass `as_of`, and so are its pages.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) ticket: Ticket,
    pub(super) content: Content,
    pub(super) prompt: u64,
    /// Output tokens it will produce: asked for, and what the context limit leaves.
    pub(super) output: u64,
    /// Output tokens asked for.
    pub(super) requested: u64,
    /// Output tokens that passes so far have produced or will have produced at their end.
    pub(super) generated: u64,
    /// Output tokens that are visible.
    pub(super) emitted: u64,
    /// Tokens whose KV exists, the place of the last token included.
    pub(super) computed: u64,
    pub(super) lease: Lease,
    /// Whether it has ended in a pass whose tokens the scheduler has not seen: it keeps its place until then.
    pub(super) is_ghost: bool,
    /// Whether it is a member of the group.
    pub(super) is_member: bool,
    pub(super) as_of: u64,
    /// The group pass that produces its last token.
    pub(super) last_pass: u64,
    pub(super) admissions: Vec<Admission>,
    /// Its tokens that are visible.
    pub(super) visible: Visible,
}

impl Sequence {
    /// Returns the length of the known sequence: prompt and produced tokens.
    pub(super) fn length(&self) -> u64 {
        self.prompt + self.generated
    }

    /// Returns how many tokens are still to be produced.
    pub(super) fn remaining(&self) -> u64 {
        self.output - self.generated
    }

    /// Records a token that becomes visible at `at`, and returns when the one before it did.
    pub(super) fn emit(&mut self, at: SimTime) -> Option<SimTime> {
        self.emitted += 1;
        self.visible.emit(self.emitted, at)
    }

    /// Returns what is known of the request.
    pub(super) fn into_served(mut self, end: Option<End>) -> Served {
        Served {
            ticket: self.ticket,
            content: self.content,
            requested: self.requested,
            outcome: end.map(End::outcome),
            refusal: end.and_then(End::refusal),
            output: self.emitted,
            admissions: self.admissions,
            first_token: self.visible.first,
            second_token: self.visible.second,
            last_token: self.visible.last,
            gaps: self.visible.take_gaps(),
        }
    }
}
