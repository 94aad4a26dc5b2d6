//! One request on its way from a prefill to a decode rank.

use crate::record::{Admission, Handoff, RequestRecord};
use crate::sim::ticket::Ticket;
use crate::units::{SimTime, Tokens};
use crate::workload::Content;

/// One request on its way from a prefill to a decode rank.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Its place in the order of arrival: what decides between transfers that end at one instant.
    pub(crate) ordinal: u64,
    /// What it is called.
    pub(crate) ticket: Ticket,
    /// Its prompt while no rank has it.
    pub(crate) content: Option<Content>,
    /// Prompt tokens.
    pub(crate) prompt: u64,
    /// Output tokens asked for.
    pub(crate) output: u64,
    /// The prefill rank, once there is one.
    pub(crate) source: Option<usize>,
    /// The decode rank, once it has accepted the request.
    pub(crate) destination: Option<usize>,
    /// Prompt tokens that the decode rank lacked when it made room.
    pub(crate) missing: u64,
    /// Admissions to the prefill rank.
    pub(crate) prefill_admissions: Vec<Admission>,
    /// What is known of the hand-off.
    pub(crate) times: Handoff,
    /// The record, where the request has ended and its prompt is still held.
    pub(crate) ended: Option<RequestRecord>,
}

impl Flow {
    /// Returns a request that has arrived.
    pub(crate) fn new(ordinal: u64, ticket: Ticket, content: Content, output: u64) -> Self {
        let prompt = u64::from(content.prompt_tokens());
        Self {
            ordinal,
            ticket,
            content: Some(content),
            prompt,
            output,
            source: None,
            destination: None,
            missing: 0,
            prefill_admissions: Vec::new(),
            times: Handoff::default(),
            ended: None,
        }
    }

    /// Completes the record of a request by what its hand-off was.
    pub(crate) fn complete(&self, record: &mut RequestRecord) {
        let narrow = |rank: usize| u32::try_from(rank).ok();
        let prefill = self.prefill_admissions.iter().copied();
        let decode = std::mem::take(&mut record.admissions);
        record.admissions = prefill.chain(decode).collect();
        record.rank = self.destination.and_then(narrow);
        record.requested_output = Tokens::new(self.output);
        record.handoff = Some(Box::new(Handoff {
            prefill_rank: self.source.and_then(narrow),
            prefill_admissions: self.prefill_admissions.len(),
            missing: Some(Tokens::new(self.missing)),
            ..self.times
        }));
    }

    /// Returns whether nothing holds the request's prompt any more.
    pub(crate) fn is_released(&self) -> bool {
        self.times.released.is_some()
    }

    /// Notes that the prompt is computed and held.
    pub(crate) fn hold(&mut self, at: SimTime, admissions: Vec<Admission>) {
        self.times.held = Some(at);
        self.prefill_admissions = admissions;
    }
}
