//! An instance while it runs, and what became of it.

use std::ops::Range;

use crate::record::{InstancePart, InstanceRecord, InstanceStatus, Outcome};
use crate::units::SimTime;

use super::{Cuts, Instance, InstanceRequest};

/// An instance while it runs.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) instance: Instance,
    pub(super) requests: Range<usize>,
    /// Requests released and not yet ended.
    pub(super) in_flight: u32,
    pub(super) completed: usize,
    pub(super) failure: Option<(usize, SimTime, Outcome)>,
    pub(super) began: SimTime,
    pub(super) ended: Option<SimTime>,
    pub(super) settled: Option<SimTime>,
    /// Whether nothing of it is left to send or to wait for.
    pub(super) is_over: bool,
    /// Whether the end of the window left some of it out.
    pub(super) is_cut_off: bool,
}

impl Run {
    /// Returns an instance of which nothing was sent.
    pub(super) fn new(instance: Instance, requests: Range<usize>, began: SimTime) -> Self {
        Self {
            instance,
            requests,
            in_flight: 0,
            completed: 0,
            failure: None,
            began,
            ended: None,
            settled: None,
            is_over: false,
            is_cut_off: false,
        }
    }

    /// Returns whether all that was left of the play has completed.
    pub(super) fn has_all(&self) -> bool {
        self.completed == self.requests.len()
    }

    /// Returns what became of it.
    pub(super) fn record(&self, cuts: &Cuts<'_>) -> InstanceRecord {
        let Instance { identity, cut_ms, starts_ms, requests, primers } = &self.instance;
        let gave_up = |(_, _, outcome): &(usize, SimTime, Outcome)| *outcome == Outcome::Canceled;
        let status =
            if !self.is_over || self.is_cut_off || self.failure.as_ref().is_some_and(gave_up) {
                InstanceStatus::Incomplete
            } else if self.failure.is_some() {
                InstanceStatus::Failed
            } else {
                InstanceStatus::Completed
            };
        let part = |request: &InstanceRequest| InstancePart {
            node: request.node,
            is_history: request.is_history,
            remaining_ms: request.remaining_ms,
            pending: request.pending.iter().map(|edge| edge.node).collect(),
        };
        InstanceRecord {
            name: cuts.name(identity.slot),
            lane: identity.lane,
            ordinal: identity.ordinal,
            play: identity.play,
            cut_ms: *cut_ms,
            starts_ms: *starts_ms,
            requests: requests.iter().map(part).collect(),
            primers: primers.clone(),
            began: self.began,
            ended: self.ended,
            settled: self.settled,
            status,
            failure: self.failure,
        }
    }
}
