//! One request inside a rank.

use crate::record::Admission;
use crate::sim::engine::{End, Served, Visible};
use crate::sim::kv::Copy;
use crate::sim::ticket::Ticket;
use crate::units::SimTime;
use crate::workload::{BlockCursor, BlockIdentity, Content};

use super::host::HostRequest;
use super::state::RequestState;

/// Where a request is in its life on a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waiting, never admitted.
    Fresh,
    /// Waiting with the KV of its whole prompt, which another rank computed.
    HandedOver,
    /// Waiting after a preemption.
    Preempted,
    /// In the running list, with prompt or recomputation left, or just admitted.
    Filling,
    /// In the running list, one token a pass, member of the group.
    Decoding,
    /// Finished or refused in the pass that completes.
    Leaving,
}

/// One request inside a rank.
///
/// `computed` and `generated` of a member of the group are as of the group's pass `as_of`; everything else is current.
#[derive(Debug)]
pub(super) struct Sequence {
    /// The state of its recurrent layers, where the rank keeps such.
    pub(super) state: RequestState,
    /// What the connector of a host tier knows of it, where there is one.
    pub(super) host: Option<Box<HostRequest>>,
    pub(super) ticket: Ticket,
    pub(super) content: Content,
    pub(super) prompt: u64,
    /// Output tokens it will produce: asked for, and what the context limit leaves.
    pub(super) output: u64,
    /// Output tokens asked for.
    pub(super) requested: u64,
    pub(super) phase: Phase,
    pub(super) computed: u64,
    pub(super) generated: u64,
    pub(super) as_of: u64,
    /// Its place in the running order; larger is later.
    pub(super) order: u64,
    /// Its place in the order in which a decode rank accepted requests.
    pub(super) accepted: u64,
    pub(super) blocks: Vec<Copy>,
    /// Bytes it holds where groups of layers share memory.
    pub(super) bytes: u64,
    /// Identities of complete blocks of the known sequence, as far as they were needed.
    pub(super) identities: Vec<BlockIdentity>,
    pub(super) cursor: BlockCursor,
    /// Identities of the complete match units of the prompt, as far as they were needed.
    pub(super) units: Vec<BlockIdentity>,
    pub(super) unit_cursor: BlockCursor,
    pub(super) admissions: Vec<Admission>,
    /// Its tokens that are visible.
    pub(super) visible: Visible,
    /// Drafts that take budget in the pass that was formed last.
    pub(super) drafts: u64,
    /// Whether there are drafts to verify: from the first token on, until a preemption.
    pub(super) drafts_ready: bool,
}

impl Sequence {
    /// Returns the length of the known sequence: prompt and produced tokens.
    pub(super) fn length(&self) -> u64 {
        self.prompt + self.generated
    }

    /// Returns whether the prompt is computed to its end.
    pub(super) fn has_computed_prompt(&self) -> bool {
        self.computed >= self.prompt
    }

    /// Returns whether all output is produced.
    pub(super) fn is_finished(&self) -> bool {
        self.generated >= self.output
    }

    /// Returns the identity of complete block `index`; blocks are identified in order, each once.
    pub(super) fn identity(&mut self, index: usize, block_size: u32) -> BlockIdentity {
        while self.identities.len() <= index {
            let identity = self.content.next_block(&mut self.cursor, block_size);
            self.identities.push(identity);
        }
        self.identities[index]
    }

    /// Returns the identity of the prefix that ends with match unit `index` of the prompt.
    pub(super) fn unit_identity(&mut self, index: usize, unit: u32) -> BlockIdentity {
        while self.units.len() <= index {
            let identity = self.content.next_block(&mut self.unit_cursor, unit);
            self.units.push(identity);
        }
        self.units[index]
    }

    /// Records a token that becomes visible at `at`, and returns when the one before it did.
    pub(super) fn emit(&mut self, at: SimTime) -> Option<SimTime> {
        self.generated += 1;
        self.visible.emit(self.generated, at)
    }

    /// Returns what is known of the request.
    pub(super) fn into_served(mut self, end: Option<End>) -> Served {
        Served {
            ticket: self.ticket,
            content: self.content,
            requested: self.requested,
            outcome: end.map(End::outcome),
            refusal: end.and_then(End::refusal),
            output: self.generated,
            admissions: self.admissions,
            first_token: self.visible.first,
            second_token: self.visible.second,
            last_token: self.visible.last,
            gaps: self.visible.take_gaps(),
        }
    }
}
