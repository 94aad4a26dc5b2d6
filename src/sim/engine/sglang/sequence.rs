//! One request inside a rank.

use crate::record::{Admission, Gap};
use crate::sim::engine::{End, Served};
use crate::sim::kv::NodeId;
use crate::sim::ticket::Ticket;
use crate::units::SimTime;
use crate::workload::Content;

/// A place in a rank's table of sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat(pub(super) u32);

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
    pub(super) first_token: Option<SimTime>,
    pub(super) second_token: Option<SimTime>,
    pub(super) last_token: Option<SimTime>,
    /// Its gaps, where they are kept by request because the run may be cut.
    pub(super) gaps: Option<Vec<(Gap, u64)>>,
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
        match self.emitted {
            1 => self.first_token = Some(at),
            2 => self.second_token = Some(at),
            _ => {}
        }
        self.last_token.replace(at)
    }

    /// Returns what is known of the request.
    pub(super) fn into_served(self, end: Option<End>) -> Served {
        Served {
            ticket: self.ticket,
            content: self.content,
            requested: self.requested,
            outcome: end.map(End::outcome),
            refusal: end.and_then(End::refusal),
            output: self.emitted,
            admissions: self.admissions,
            first_token: self.first_token,
            second_token: self.second_token,
            last_token: self.last_token,
            gaps: self.gaps.unwrap_or_default(),
        }
    }
}
